"""Measurements that need a process of their own, because they read its memory or its CPU time.

``python benchmarks/child.py TASK ARGUMENT…`` prints one JSON object.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from measure import memory_mb, milliseconds
from second_brain.indexing.chunks import layout_for
from second_brain.indexing.indexer import Indexer
from second_brain.indexing.preparing import Rules
from second_brain.vault.changes import Batch
from stage import opened

if TYPE_CHECKING:
    from second_brain.indexing.indexer import Progress


def embed(vault: str, db: str, passages: str) -> dict[str, Any]:
    """The peak of a first sync that goes on until the builtin model has embedded so many passages."""
    done, words_peak = 0, 0.0

    def report(progress: Progress) -> None:
        nonlocal done, words_peak
        if progress.phase == "meaning":
            done = progress.done
        else:
            words_peak = memory_mb(os.getpid(), "VmHWM")

    brain = opened(Path(vault), Path(db), embedder="builtin")
    outcome = brain.sync(report=report, should_stop=lambda: done >= int(passages))
    return {
        "peak_mb": memory_mb(os.getpid(), "VmHWM"),
        "words_peak_mb": words_peak,
        "embedded": outcome.vectors.embedded if outcome.vectors else 0,
        "seconds": outcome.vectors.seconds if outcome.vectors else 0.0,
    }


def answer(vault: str, db: str, queries: str) -> dict[str, Any]:
    """What is held after all queries of a file were answered by words."""
    brain = opened(Path(vault), Path(db))
    for query in Path(queries).read_text("utf-8").splitlines():
        brain.search(brain.request(query=query, ranking="words", top_k=10))
    return {"pss_mb": memory_mb(os.getpid(), "Pss"), "peak_mb": memory_mb(os.getpid(), "VmHWM")}


def mentions(script: str, vault: str, hubs: str) -> dict[str, Any]:
    """What the plain scan of ``../shared/bench/mentions.py`` takes for the links to some notes (a JSON list), warm.

    Its own command line wants programs that need not be here.
    """
    spec = importlib.util.spec_from_file_location("plain_scan", script)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    index = module.Index(vault)
    index.scan()
    index.table()
    times = {}
    for hub in json.loads(hubs):
        ask = partial(index.mentions, str(Path(vault) / hub))
        times[hub] = min(milliseconds(ask) for _ in range(5))
    return {
        "stat_pass_ms": min(milliseconds(index.scan) for _ in range(5)),
        "warm_ms": times,
    }


def reconcile(vault: str, db: str, times: str) -> dict[str, Any]:
    """CPU and wall time of a look at the whole unchanged vault, as the watcher asks for it."""
    brain = opened(Path(vault), Path(db))
    rules = Rules(brain.redaction, layout_for(brain.config.chunk_size, brain.config.chunk_overlap, 178))
    cpu, wall = [], []
    with brain.writer() as writer:
        for _ in range(int(times) + 1):
            indexer = Indexer(brain.fresh_vault(), writer, rules)
            before, started = time.process_time(), time.perf_counter()
            indexer.look_at(Batch(overflow=True))
            cpu.append(1000 * (time.process_time() - before))
            wall.append(1000 * (time.perf_counter() - started))
    return {"cpu_ms": median(cpu[1:]), "wall_ms": median(wall[1:])}


if __name__ == "__main__":
    TASKS = {"embed": embed, "answer": answer, "mentions": mentions, "reconcile": reconcile}
    sys.stdout.write(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])) + "\n")
