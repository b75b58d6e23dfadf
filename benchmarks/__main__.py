"""`make bench`: measure, print a table, write JSON. Run it on a quiet machine."""

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

import liewise
from benchmarks import loop, warp

_PARTS = {"warp": warp.measure, "loop": loop.measure}


def main() -> None:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *_PARTS], help="all if none is named")
    parser.add_argument("--out", type=Path, default=Path("runs/bench.json"))
    arguments = parser.parse_args()
    rows = [row for name in arguments.parts or _PARTS for row in _PARTS[name]()]
    _print(rows)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({"machine": _machine(), "rows": rows}, indent=1) + "\n")
    print(f"wrote {arguments.out}")


def _print(rows: list[dict[str, Any]]) -> None:
    table = Table("what", "measured", "target", "", box=None, header_style="bold")
    for row in rows:
        target = row.get("target")
        met = target is None or row["value"] <= target
        value = f"{row['value']:.3g} {row['unit']}"
        table.add_row(
            row["name"],
            value if met else f"[red]{value}[/red]",
            f"≤ {target:g}" if target else "",
            row.get("note") or "",
        )
    Console().print(table)


def _machine() -> dict[str, Any]:
    model = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.processor()
    )
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "devices": [str(device) for device in jax.devices()],
        "python": platform.python_version(),
        "jax": jax.__version__,
        "liewise": liewise.__version__,
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


if __name__ == "__main__":
    main()
