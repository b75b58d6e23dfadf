"""`make bench`: measure, print a table, write JSON. Run it on a quiet machine."""

import argparse
import importlib.util
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import augment, inference, loop, warp
from liewise.report import Machine

_PARTS = {"warp": warp.measure, "loop": loop.measure, "inference": inference.measure, "augment": augment.measure}


def main() -> None:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *_PARTS], help="all if none is named")
    parser.add_argument("--out", type=Path, default=Path("runs/bench.json"))
    parser.add_argument("--page", type=Path, help="also write the table as a page of the documentation")
    arguments = parser.parse_args()
    rows = [row for name in arguments.parts or _PARTS for row in _PARTS[name]()]
    _print(rows)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({"machine": _machine(), "rows": rows}, indent=1) + "\n")
    print(f"wrote {arguments.out}")
    if arguments.page:
        arguments.page.write_text(_page(rows))


def _print(rows: list[dict[str, Any]]) -> None:
    table = Table("what", "measured", "target", "", box=None, header_style="bold")
    for row in rows:
        value, target = _words(row)
        met = row["target"] is None or row["value"] <= row["target"]
        table.add_row(row["name"], value if met else f"[red]{value}[/red]", target, row["note"])
    Console().print(table)


def _words(row: dict[str, Any]) -> tuple[str, str]:
    return f"{row['value']:.2f} {row['unit']}", "" if row["target"] is None else f"≤ {row['target']:g}"


def _page(rows: list[dict[str, Any]]) -> str:
    machine = _machine()
    lines = ["| what | measured | target | |", "|---|---|---|---|"]
    lines += [f"| {row['name']} | {' | '.join(_words(row))} | {row['note']} |" for row in rows]
    torch = f", PyTorch {machine['torch']}" if machine["torch"] else ""
    return (
        "# Benchmarks\n\n`make bench` on a quiet machine prints this table and writes `runs/bench.json`. Everything\n"
        "is a ratio of two things timed in turns in one process: absolute times do not carry over between machines.\n\n"
        f"The latest: {machine['cpu']}, {machine['cores']} cores, Python {machine['python']}, JAX {machine['jax']}"
        f"{torch}.\n\n" + "\n".join(lines) + "\n"
    )


def _machine() -> dict[str, Any]:
    return Machine.here().as_dict() | {"torch": version("torch") if importlib.util.find_spec("torch") else None}


if __name__ == "__main__":
    main()
