"""`liewise study …`: the papers' figures and tables, listed and run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from liewise.errors import LiewiseError
from liewise.studies import STUDIES, study_named

__all__ = ["Study"]


@dataclass(frozen=True)
class List:
    """List the studies: the papers' figures and tables, and our own."""

    def run(self) -> None:
        """Print two lines for each."""
        from rich.console import Console
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        for study in STUDIES.values():
            table.add_row(f"[bold]{study.name}[/bold]", f"[bold]{study.title}[/bold]")
            table.add_row("", f"[dim]{study.shows}[/dim]")
        Console().print(table)


@dataclass(frozen=True, kw_only=True)
class Run:
    """Run a study: fit what it needs, or take what is fitted already, draw, measure, write."""

    # one of `liewise study list`
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
    # small: minutes on two cores; paper: the paper's own networks and trainings, for a GPU
    scale: Literal["small", "paper"] = "small"
    # where models and results go; a run that was cut off goes on from there
    out: Path = Path("studies")
    # of data and models
    seed: int = 0
    # where data sets lie; also LIEWISE_DATA_DIR
    data_dir: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None
    # images of yours instead of the study's, where it takes any: a name, a folder, an .npz
    data: Annotated[str | None, tyro.conf.arg(metavar="DATA", help_behavior_hint="")] = None
    # also write a page of the documentation into this folder
    page: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None

    def run(self) -> None:
        """Run it."""
        study = study_named(self.name)
        if self.seed < 0:
            raise LiewiseError(f"--seed is 0 or more; got {self.seed}")
        from liewise.studies.context import Context
        from liewise.studies.running import run_study

        context = Context(self.scale, self.seed, self.out, self.data_dir, self.data)
        run_study(study, context, page=self.page)


@dataclass(frozen=True)
class Study:
    """Studies: the papers' figures and tables, from a command each."""

    command: Annotated[List | Run, tyro.conf.arg(name="")]

    def run(self) -> None:
        """Run the command."""
        self.command.run()
