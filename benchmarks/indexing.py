"""How long it takes to index, to look again, and to follow one change; whole processes beside the floor's."""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import suppress
from statistics import median
from typing import TYPE_CHECKING

import yardsticks
from measure import Cost, Row, Skipped, finish, spread
from second_brain.errors import SecondBrainError
from stage import LARGE, MEDIUM, Stage, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLOOR = "floor.py index"


def cold(stage: Stage) -> Iterator[Row]:
    """The first index of a vault, by words."""
    for name in stage.sizes():
        vault = stage.vault(name)
        ours, floor = [], []
        for _ in range(stage.times(3, 1)):
            ours.append(_sync(stage, vault, stage.fresh_db("cold")))
            floor.append(yardsticks.floor("index", vault, stage.fresh_db("floor-cold"), peak=True))
        target = 6.0 if name == MEDIUM else None
        yield Row(
            f"index.{name}",
            f"Words index of {name}, whole process",
            "s",
            median(cost.wall_s for cost in ours),
            target,
            yardstick=median(cost.wall_s for cost in floor),
            yardstick_name=FLOOR,
            spread={"cpu_s": median(cost.cpu_s for cost in ours), "floor_cpu_s": median(cost.cpu_s for cost in floor)},
        )
        yield Row(
            f"index.{name}.memory",
            f"Peak memory of that index of {name}",
            "MB",
            max(cost.peak_mb for cost in ours),
            300.0 if name == MEDIUM else None,
            yardstick=max(cost.peak_mb for cost in floor),
            yardstick_name=FLOOR,
            spread={"database_mb": _megabytes(stage.databases / "cold.db")},
        )


def first_answer(stage: Stage) -> Iterator[Row]:
    """From the start of the first sync to the first search that finds anything."""
    vault = stage.vault(MEDIUM)
    waits = [_first_answer(stage, vault) for _ in range(stage.times(5, 1))]
    yield Row("index.first_answer", "First search answered while indexing", "s", median(waits), spread=spread(waits))


def _first_answer(stage: Stage, vault: Path) -> float:
    db = stage.fresh_db("first")
    command = stage.program("sync", "--words-only", vault=vault, db=db)
    started = time.perf_counter()
    process = subprocess.Popen(command, env=stage.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    brain = opened(vault, db)
    try:
        while process.poll() is None:
            with suppress(SecondBrainError):
                if brain.search(brain.request(query="the", ranking="words", top_k=1)).hits:
                    return time.perf_counter() - started
            time.sleep(0.01)
    finally:
        process.terminate()
        process.wait()
        brain.close()
    raise Skipped("The sync ended before anything could be found.")


def again(stage: Stage) -> Iterator[Row]:
    """A sync of a vault that is as it was, and one of a vault with one changed note."""
    vault = stage.copy(MEDIUM, "changing")
    note = max(vault.rglob("*.md"), key=lambda path: (path.stat().st_size < 5_000, path.as_posix()))
    db, floor_db = stage.fresh_db("again"), stage.fresh_db("floor-again")
    _sync(stage, vault, db)
    yardsticks.floor("index", vault, floor_db)
    unchanged, changed, floor_unchanged, floor_changed = [], [], [], []
    for number in range(stage.times(7, 2)):
        unchanged.append(_sync(stage, vault, db))
        floor_unchanged.append(yardsticks.floor("index", vault, floor_db))
        with note.open("a", encoding="utf-8") as out:
            out.write(f"\nLine number {number} of a change.\n")
        changed.append(_sync(stage, vault, db))
        floor_changed.append(yardsticks.floor("index", vault, floor_db))
    shutil.rmtree(vault)
    yield _compared("sync.unchanged", f"Unchanged sync, {MEDIUM}, whole process", 0.5, unchanged, floor_unchanged)
    yield _compared(
        "sync.one_change", f"Sync of one changed note, {MEDIUM}, whole process", 0.6, changed, floor_changed
    )


def scan(stage: Stage) -> Iterator[Row]:
    """The look at a large vault when a process starts."""
    name = stage.sizes()[-1]
    vault, db = stage.vault(name), stage.words_db(name)
    floor_db = stage.fresh_db("floor-scan")
    yardsticks.floor("index", vault, floor_db)
    ours, floor = [], []
    for _ in range(stage.times(7, 2)):
        ours.append(_sync(stage, vault, db))
        floor.append(yardsticks.floor("index", vault, floor_db))
    target = 1.0 if name == LARGE else None
    yield _compared("sync.scan", f"Start-up scan of unchanged {name}, whole process", target, ours, floor)


def _compared(name: str, what: str, target: float | None, ours: list[Cost], floor: list[Cost]) -> Row:
    walls = [cost.wall_s for cost in ours]
    return Row(
        name,
        what,
        "s",
        median(walls),
        target,
        yardstick=median(cost.wall_s for cost in floor),
        yardstick_name=FLOOR,
        spread={"cpu_s": median(cost.cpu_s for cost in ours), **spread(walls)},
    )


def _sync(stage: Stage, vault: Path, db: Path) -> Cost:
    return finish(
        stage.program("sync", "--words-only", "--json", vault=vault, db=db), env=stage.environment(), peak=True
    )


def _megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6
