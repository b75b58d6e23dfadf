"""`liewise data …`: which data sets there are, fetching them, looking at them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from liewise.cli.source import DataDir, Force, Source, Transforms, group_for, may_write
from liewise.errors import LiewiseError

__all__ = ["Data"]


@dataclass(frozen=True)
class List:
    """List the data sets that liewise knows by name, and where they are."""

    # where data sets lie; also LIEWISE_DATA_DIR
    data_dir: DataDir = None

    def run(self) -> None:
        """Print two lines for each."""
        from rich.console import Console
        from rich.table import Table

        from liewise.datasets import catalogue

        table = Table.grid(padding=(0, 2))
        for entry in catalogue(data_dir=self.data_dir):
            size = f", {entry.download_size / 1e6:,.0f} MB" if entry.place == "to fetch" else ""
            table.add_row(f"[bold]{entry.name}[/bold]", f"{entry.summary} [dim]({entry.place}{size})[/dim]")
            table.add_row("", f"[dim]{entry.sizes}; licence: {entry.licence}[/dim]")
        Console().print(table)


@dataclass(frozen=True)
class Fetch:
    """Fetch a data set into the cache, so that it is there later without a network."""

    # one of `liewise data list`
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
    # looked at first; also LIEWISE_DATA_DIR
    data_dir: DataDir = None
    # no progress bar
    quiet: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False

    def run(self) -> None:
        """Fetch, and say where the files are."""
        from liewise.datasets import fetch

        files = fetch(self.name, data_dir=self.data_dir, progress=not self.quiet)
        print("\n".join(map(str, files)) or f"{self.name} is built in: there is nothing to fetch")


@dataclass(frozen=True, kw_only=True)
class Show(Source):
    """Draw a contact sheet: examples of a data set, and one of them under each transformation."""

    # the PNG to write
    out: Path
    # such as "affine,colour" or "rotation=45deg,scale=1.3x"; what fits the images if left out
    transforms: Transforms = None
    # the first if left out
    split: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = None
    # of examples
    rows: int = 3
    # which examples
    seed: int = 0
    # replace a file that is there
    force: Force = False

    def run(self) -> None:
        """Load, draw, write."""
        if self.rows < 1 or self.seed < 0:
            raise LiewiseError(f"--rows is 1 or more and --seed 0 or more; got {self.rows} and {self.seed}")
        may_write(self.out, self.force)
        from liewise.report import contact_sheet

        data = self.load()
        shown = data[self.split or next(iter(data.splits))]
        group = group_for(shown, self.transforms)
        sheet = contact_sheet(data, group, split=self.split, rows=self.rows, seed=self.seed)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        sheet.savefig(self.out, format="png")
        print(f"wrote {self.out}")


@dataclass(frozen=True)
class Data:
    """Data sets: what there is, fetching, and looking at them."""

    command: Annotated[List | Fetch | Show, tyro.conf.arg(name="")]

    def run(self) -> None:
        """Run the command."""
        self.command.run()
