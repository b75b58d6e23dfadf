"""Running a study from start to end: the run itself, its files, what is printed, and its page."""

import time
from pathlib import Path

from rich.console import Console

from liewise.errors import LiewiseError
from liewise.report import Machine
from liewise.studies.context import Context
from liewise.studies.outcome import Outcome
from liewise.studies.registry import Study
from liewise.studies.writing import print_tables, write_outcome, write_page

__all__ = ["run_study"]


def run_study(study: Study, context: Context, *, page: Path | None = None, console: Console | None = None) -> Outcome:
    """Run a study, print its tables, and write everything into `<folder>/<name>-<scale>-seed<seed>`.

    Args:
        study: which one.
        context: where, at which scale, from which seed.
        page: a folder of the documentation, where a page about it goes with its pictures.
        console: where to print.
    """
    if context.data is not None and not study.takes_data:
        raise LiewiseError(f"{study.name} has its own data: --data is for studies that can take yours")
    began = time.monotonic()
    outcome = study.load()(context)
    seconds = time.monotonic() - began
    command = f"liewise study run {study.name} --scale {context.scale} --seed {context.seed}"
    fits = {fit.setting.name: {"seconds": fit.seconds, "reused": fit.reused} for fit in context.fits.values()}
    about = {
        "study": study.name,
        "title": study.title,
        "command": command,
        "scale": context.scale,
        "seed": context.seed,
        "seconds": seconds,
        "fits": fits,
        "machine": Machine.here().as_dict(),
    }
    console = console or Console()
    print_tables(outcome, console)
    folder = context.folder / f"{study.name}-{context.scale}-seed{context.seed}"
    for path in write_outcome(outcome, folder, about=about):
        console.print(f"wrote {path}", soft_wrap=True)
    if page is not None:
        reused = sum(fit.seconds for fit in context.fits.values() if fit.reused)
        path = write_page(
            outcome,
            study,
            page,
            command=command,
            scale=context.scale,
            seed=context.seed,
            seconds=seconds + reused,
            fits=f" (fitting {', '.join(fits)} included)" if fits else "",
        )
        console.print(f"wrote {path}", soft_wrap=True)
    return outcome
