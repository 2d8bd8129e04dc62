"""Progress on standard error: a bar on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from second_brain.indexing.indexer import Progress

_TITLES = {"words": ("reading notes", "notes/s"), "meaning": ("computing meaning", "passages/s")}


@contextmanager
def shown_progress(*, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """A function to report progress to, with a bar per phase for as long as the block runs."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - 60 ms, only for a bar
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415

    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    tasks = {}
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:

        def report(progress: Progress) -> None:
            title, unit = _TITLES[progress.phase]
            if progress.phase not in tasks:
                tasks[progress.phase] = bars.add_task(title, total=progress.total, speed="")
            task = bars.tasks[[*tasks].index(progress.phase)]
            speed = f"{task.speed:,.0f} {unit}" if task.speed else ""
            bars.update(tasks[progress.phase], completed=progress.done, total=progress.total, speed=speed)

        yield report
