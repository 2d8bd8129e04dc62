"""The watcher: from a saved note to a search that finds it, and what the process takes while nothing happens."""

from __future__ import annotations

import json
import random
import shutil
import time
from typing import TYPE_CHECKING

from measure import Row, Running, Skipped, cpu_seconds, finish, memory_mb, percentile, spread
from stage import MEDIUM, Stage, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from second_brain.service import SecondBrain

_LOOK_S = 0.01
_PATIENCE_S = 15.0


def saved_found(stage: Stage) -> Iterator[Row]:
    """Seconds from the end of a write to the first search by words that finds the note."""
    vault = stage.copy(MEDIUM, "watched")
    db = stage.fresh_db("watched")
    finish(stage.program("sync", "--words-only", vault=vault, db=db), env=stage.environment())
    command = stage.program("watch", "--words-only", "--json", vault=vault, db=db)
    choose = random.Random(11)
    with Running(command, stage.work / "watch.log", env=stage.environment()) as process:
        process.wait_for("started", 60)
        process.settle()
        brain = opened(vault, db)
        waits = [_wait(brain, vault, number, choose) for number in range(stage.times(20, 4))]
        brain.close()
    shutil.rmtree(vault)
    yield Row(
        "watch.saved_found", "Saved -> found by words, p95", "s", percentile(waits, 0.95), 1.0, spread=spread(waits)
    )


def _wait(brain: SecondBrain, vault: Path, number: int, choose: random.Random) -> float:
    """Even numbers write a new note, odd ones add to it."""
    word = "zq" + "".join(choose.choices("bcdfghjklmnpqrstvwxz", k=10))
    note = vault / "Saved" / f"note {number // 2}.md"
    note.parent.mkdir(exist_ok=True)
    with note.open("a", encoding="utf-8") as out:
        out.write(f"\nA line with the word {word} in it.\n")
    started = time.perf_counter()
    wanted = note.relative_to(vault).as_posix()
    while time.perf_counter() - started < _PATIENCE_S:
        hits = brain.search(brain.request(query=word, ranking="words", top_k=1)).hits
        if hits and hits[0].path == wanted and word in hits[0].snippet.text:
            time_taken = time.perf_counter() - started
            time.sleep(choose.uniform(0.3, 0.9))
            return time_taken
        time.sleep(_LOOK_S)
    raise Skipped(f"A saved note was not found within {_PATIENCE_S:.0f} s.")


def idle(stage: Stage) -> Iterator[Row]:
    """CPU time and memory of a watcher of an unchanged vault, and what a look at all of it costs."""
    vault, db = stage.vault(MEDIUM), stage.words_db(MEDIUM)
    command = stage.program("watch", "--words-only", "--json", vault=vault, db=db)
    seconds = stage.times(60, 6)
    with Running(command, stage.work / "idle.log", env=stage.environment()) as process:
        process.wait_for("started", 60)
        process.settle()
        before = cpu_seconds(process.pid)
        time.sleep(seconds)
        spent = 1000 * (cpu_seconds(process.pid) - before)
        pss = memory_mb(process.pid, "Pss")
        peak = memory_mb(process.pid, "VmHWM")
    yield Row(
        "idle.cpu",
        f"CPU of an idle `watch`, {MEDIUM}, a minute",
        "ms",
        spent * 60 / seconds,
        50.0,
        facts={"measured for": f"{seconds} s"},
    )
    yield Row("idle.memory", f"PSS of an idle `watch`, {MEDIUM}", "MB", pss, 120.0, spread={"peak_mb": peak})
    found = json.loads(finish(stage.child("reconcile", vault, db, stage.times(7, 2))).out)
    yield Row(
        "idle.reconcile",
        f"CPU of one reconcile, {MEDIUM} (every seven minutes)",
        "ms",
        found["cpu_ms"],
        spread={"wall_ms": found["wall_ms"]},
    )


def embedded_idle(stage: Stage) -> Iterator[Row]:
    """What a watcher holds when its builtin model has embedded everything there is."""
    vault = stage.work / "copies" / "small"
    shutil.rmtree(vault, ignore_errors=True)
    vault.mkdir(parents=True)
    for number, note in enumerate(sorted(stage.vault(MEDIUM).rglob("*.md"))[:30]):
        shutil.copy2(note, vault / f"{number} {note.name}")
    db = stage.fresh_db("small")
    command = stage.program("watch", "--json", vault=vault, db=db)
    with Running(command, stage.work / "embedded.log", env=stage.environment()) as process:
        process.wait_for('"embedded"', 120)
        process.settle()
        pss = memory_mb(process.pid, "Pss")
        peak = memory_mb(process.pid, "VmHWM")
    what = "PSS of an idle `watch` after builtin has embedded 30 notes"
    yield Row("idle.memory_embedded", what, "MB", pss, 120.0, spread={"peak_mb": peak})
