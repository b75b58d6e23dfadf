"""`liewise …`: the command line. What is slow to import is imported by the command that needs it."""

import sys

import tyro

from liewise._version import __version__
from liewise.cli.check import Check
from liewise.cli.data import Data
from liewise.cli.fit import Fit
from liewise.cli.report import Report
from liewise.cli.resample import Resample
from liewise.cli.study import Study
from liewise.errors import LiewiseError

__all__ = ["main"]

_PURPOSE = "Learn, without labels, which symmetries a data set has and to what extent."


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a wrong call is one line on standard error and the exit code 2."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:
        print(f"liewise {__version__}")
        return
    chosen = tyro.extras.subcommand_cli_from_dict(
        {"check": Check, "data": Data, "fit": Fit, "report": Report, "resample": Resample, "study": Study},
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


def _one_line(error: Exception) -> str:
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    return " ".join(text.split())
