"""Start `job.py` in processes of its own."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

import liewise

_HERE = Path(__file__).parent


def start(folder: Path, *, devices: int = 1, name: str = "job", **options) -> subprocess.Popen[str]:
    """Start a job; its result will be `folder/name.npz`."""
    request = folder / f"{name}.json"
    request.write_text(json.dumps({"out": str(folder / f"{name}.npz"), **options}))
    path = [str(_HERE), str(Path(liewise.__file__).parents[1])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "JAX_PLATFORMS": "cpu",
    }
    command = [sys.executable, "-W", "error", str(_HERE / "job.py"), str(request)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for a job that must succeed; what it printed."""
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return output


def outcome(folder: Path, name: str = "job") -> dict[str, np.ndarray]:
    """What a finished job left."""
    with np.load(folder / f"{name}.npz") as saved:
        return dict(saved)


def free_address() -> str:
    """An address on this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return f"localhost:{probe.getsockname()[1]}"
