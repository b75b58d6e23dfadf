"""`liewise …`: the command line. What is slow to import is imported by the command that needs it."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from liewise._version import __version__
from liewise.errors import LiewiseError

if TYPE_CHECKING:
    from liewise.datasets import Dataset

__all__ = ["main"]

_PURPOSE = "Learn, without labels, which symmetries a data set has and to what extent."
DataDir = Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")]


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
class Source:
    """Where examples come from, and how files of one's own are read."""

    # a name of `liewise data list`, a folder of images, an .npz or an .npy file
    data: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]
    # where data sets lie; also LIEWISE_DATA_DIR
    data_dir: DataDir = None
    # of sprites, or what a folder's images are brought to
    size: Annotated[int | None, tyro.conf.arg(metavar="PIXELS", help_behavior_hint="")] = None
    # how a folder's images are brought to that size
    resize: Annotated[
        Literal["crop", "pad", "stretch"] | None, tyro.conf.arg(metavar="crop|pad|stretch", help_behavior_hint="")
    ] = None
    # grey level under a folder's transparent pixels and beside padded images
    background: Annotated[int | None, tyro.conf.arg(metavar="0-255", help_behavior_hint="")] = None
    # leave a folder's broken images out, and say how many
    skip_unreadable: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    # what to do with images of one colour
    constant: Annotated[
        Literal["refuse", "skip", "keep"] | None, tyro.conf.arg(metavar="refuse|skip|keep", help_behavior_hint="")
    ] = None
    # the array of an .npz file that holds the images
    key: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = None
    # whether channels come last or first in an array
    layout: Annotated[Literal["HWC", "CHW"] | None, tyro.conf.arg(metavar="HWC|CHW", help_behavior_hint="")] = None

    def load(self) -> "Dataset":
        """Load the data, and say what had to be converted or left out."""
        from liewise.datasets import load

        names = ("size", "resize", "background", "skip_unreadable", "constant", "key", "layout")
        given = {name: value for name in names if (value := getattr(self, name)) is not None and value is not False}
        data = load(self.data, data_dir=self.data_dir, **given)
        for note in data.notes:
            print(f"note: {note}", file=sys.stderr)
        return data


@dataclass(frozen=True, kw_only=True)
class Show(Source):
    """Draw a contact sheet: examples of a data set, and one of them under each transformation."""

    # the PNG to write
    out: Path
    # such as "affine,colour" or "rotation=45deg,scale=1.3x"; what fits the images if left out
    transforms: Annotated[str | None, tyro.conf.arg(metavar="LIST", help_behavior_hint="")] = None
    # the first if left out
    split: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = None
    # of examples
    rows: int = 3
    # which examples
    seed: int = 0
    # replace a file that is there
    force: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False

    def run(self) -> None:
        """Load, draw, write."""
        if self.rows < 1 or self.seed < 0:
            raise LiewiseError(f"--rows is 1 or more and --seed 0 or more; got {self.rows} and {self.seed}")
        _may_write(self.out, self.force)
        from liewise.report import contact_sheet
        from liewise.transforms import parse

        data = self.load()
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
        description=f"{_PURPOSE} This is version {__version__} (liewise --version).",
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
