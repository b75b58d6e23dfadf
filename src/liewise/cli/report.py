"""`liewise report …`: a page about a run that a person would enjoy reading."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from liewise.cli.source import Force, may_write

__all__ = ["Report"]


@dataclass(frozen=True, kw_only=True)
class Report:
    """Write what a run found as one HTML page that needs no network."""

    # the folder of a run; of one that is not finished, the page shows how far it came
    run_dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(name="run", metavar="RUN")]
    # the file to write; report.html in the run's folder if left out
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    # replace a file that is there
    force: Force = False

    def run(self) -> None:
        """Read the run, and write the page."""
        out = self.run_dir / "report.html" if self.out is None else self.out
        may_write(out, self.force)
        from liewise.report import write_report
        from liewise.train import RunFolder

        write_report(self.run_dir, out)
        unfinished = "" if RunFolder(self.run_dir).finished else "; the run is not finished: it shows training alone"
        print(f"wrote {out}{unfinished}")
