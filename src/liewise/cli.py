"""`liewise …`: the command line. What is slow to import is imported by the command that needs it."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from liewise._version import __version__
from liewise.errors import LiewiseError

__all__ = ["main"]

_PURPOSE = "Learn, without labels, which symmetries a data set has and to what extent."
DataDir = Annotated[Path | None, tyro.conf.arg(metavar="DIR")]


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
    quiet: bool = False

    def run(self) -> None:
        """Fetch, and say where the files are."""
        from liewise.datasets import fetch

        files = fetch(self.name, data_dir=self.data_dir, progress=not self.quiet)
        print("\n".join(map(str, files)) or f"{self.name} is built in: there is nothing to fetch")


@dataclass(frozen=True)
class Show:
    """Draw a contact sheet: examples of a data set, and one of them under each transformation."""

    # a name of `liewise data list`, a folder of images, an .npz or an .npy file
    data: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]
    # the PNG to write
    out: Path
    # such as "affine,colour" or "rotation=45deg,scale=1.3x"; what fits the images if left out
    transforms: Annotated[str | None, tyro.conf.arg(metavar="LIST")] = None
    # the first if left out
    split: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    # of sprites, or what a folder's images are resized to
    size: Annotated[int | None, tyro.conf.arg(metavar="PIXELS")] = None
    # of examples
    rows: int = 3
    # which examples
    seed: int = 0
    # where data sets lie; also LIEWISE_DATA_DIR
    data_dir: DataDir = None
    # replace a file that is there
    force: bool = False

    def run(self) -> None:
        """Load, draw, write."""
        if self.rows < 1 or self.seed < 0:
            raise LiewiseError(f"--rows is 1 or more and --seed 0 or more; got {self.rows} and {self.seed}")
        _may_write(self.out, self.force)
        from liewise.datasets import load
        from liewise.report import contact_sheet
        from liewise.transforms import parse

        options: dict[str, Any] = {} if self.size is None else {"size": self.size}
        data = load(self.data, data_dir=self.data_dir, **options)
        for note in data.notes:
            print(f"note: {note}", file=sys.stderr)
        shown = data[self.split or next(iter(data.splits))]
        height, width, channels = shown.image_shape
        text = ("affine,colour" if channels == 3 else "affine") if self.transforms is None else self.transforms
        sheet = contact_sheet(data, parse(text, (height, width)), split=self.split, rows=self.rows, seed=self.seed)
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


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a wrong call is one line on standard error and the exit code 2."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:
        print(f"liewise {__version__}")
        return
    chosen = tyro.extras.subcommand_cli_from_dict(
        {"data": Data},
        prog="liewise",
        description=f"{_PURPOSE} Version {__version__}.",
        args=arguments or ["--help"],
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    try:
        chosen.run()
    except (LiewiseError, OSError) as error:
        print(f"liewise: {_one_line(error)}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _may_write(path: Path, force: bool) -> None:
    """Refuse before the work is done rather than after it."""
    if path.is_dir():
        raise LiewiseError(f"{path} is a folder; name the file to write")
    if path.exists() and not force:
        raise LiewiseError(f"{path} is there already; --force replaces it")


def _one_line(error: Exception) -> str:
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    return " ".join(text.split())
