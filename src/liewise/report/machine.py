"""On what numbers were made, since those that tell of time mean nothing without it."""

import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax

from liewise._version import __version__

__all__ = ["Machine"]


@dataclass(frozen=True)
class Machine:
    """A processor, its devices, and the versions of what ran."""

    cpu: str
    cores: int
    devices: tuple[str, ...]
    python: str
    jax: str
    liewise: str

    @classmethod
    def here(cls) -> "Machine":
        """Describe this one."""
        named = (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name"))
        return cls(
            cpu=next(named, platform.processor() or platform.machine()),
            cores=os.cpu_count() or 1,
            devices=tuple(str(device) for device in jax.devices()),
            python=platform.python_version(),
            jax=jax.__version__,
            liewise=__version__,
        )

    @property
    def words(self) -> str:
        """The machine in a line."""
        kinds = sorted({device.split(":")[0] for device in self.devices if "cpu" not in device.lower()})
        devices = f", {len(self.devices)} × {', '.join(kinds)}" if kinds else ""
        return f"{self.cpu}, {self.cores} cores{devices}, Python {self.python}, JAX {self.jax}, liewise {self.liewise}"

    def as_dict(self) -> dict[str, Any]:
        """Return the same for JSON."""
        return asdict(self)


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []
