"""Measurements that need a process of their own, because they read its memory or its CPU time.

``python benchmarks/child.py TASK ARGUMENT…`` prints one JSON object.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from measure import memory_mb, milliseconds
from second_brain.graph.queries import related_notes
from second_brain.index import catalog
from second_brain.index.schema import GRAPH_TABLES
from second_brain.indexing.chunks import layout_for
from second_brain.indexing.graph import bring_up_to_date
from second_brain.indexing.indexer import Indexer
from second_brain.indexing.preparing import Rules
from second_brain.vault.changes import Batch
from stage import opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from second_brain.embedding import Embedder
    from second_brain.index.writer import Writer
    from second_brain.indexing.indexer import Progress
    from second_brain.service import SecondBrain


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


def graph(vault: str, db: str, flags: str, times: str, hubs: str) -> dict[str, Any]:
    """A graph from nothing, then after a change of each of some random notes and of the most linked ones."""
    brain = opened(Path(vault), Path(db), **json.loads(flags))
    figures = brain.link_figures()
    settings = brain.graph_settings
    with brain.embedders.lent() as embedder, brain.writer() as writer:
        with writer.transaction() as connection:
            for table in GRAPH_TABLES:
                connection.execute(f"DELETE FROM {table}")
            connection.execute("DELETE FROM meta WHERE key = 'graph_form'")
        built = bring_up_to_date(writer, settings)
        peak = memory_mb(os.getpid(), "VmHWM")
        change = _Change(brain, writer, embedder)
        with brain.reader.snapshot():
            paths = sorted(catalog.paths(brain.reader))
        random_ones = [change.of(path) for path in random.Random(1).sample(paths, int(times))]
        hub_ones = [change.of(path) for path, _ in figures.hubs[: int(hubs)]]
        pairs = writer.connection.execute("SELECT count(*) FROM neighbours").get
    return {
        "build_s": built.seconds,
        "notes": built.notes,
        "pairs": pairs,
        "peak_mb": peak,
        "random": [update for update, _ in random_ones],
        "random_asked": [related for _, related in random_ones],
        "hubs": [update for update, _ in hub_ones],
        "hubs_asked": [related for _, related in hub_ones],
    }


class _Change:
    """Changes notes as a person does, and times what follows for the graph."""

    def __init__(self, brain: SecondBrain, writer: Writer, embedder: Embedder) -> None:
        self._brain = brain
        self._writer = writer
        self._indexer = brain.keeper.indexer(brain.vault, writer, embedder, lambda _: None)
        self._embedding = brain.keeper.embedding(writer, embedder, lambda _: None)

    def of(self, path: str) -> tuple[float, float]:
        """Milliseconds of the update, and of the first question about the note after it."""
        file = self._brain.vault.absolute(path)
        file.write_text(
            f"{file.read_text('utf-8', 'replace')}\nA line about boats and stoves [[{path[:-3]}]]\n", "utf-8"
        )
        self._indexer.sync_file(path)
        self._embedding.run()
        update = milliseconds(lambda: bring_up_to_date(self._writer, self._brain.graph_settings))
        reader, settings = self._brain.reader, self._brain.graph_settings
        return update, milliseconds(lambda: related_notes(reader, settings, path))


def map_(vault: str, db: str) -> dict[str, Any]:
    """The peak of a process that makes the map."""
    opened(Path(vault), Path(db)).map()
    return {"peak_mb": memory_mb(os.getpid(), "VmHWM")}


if __name__ == "__main__":
    TASKS: dict[str, Callable[..., dict[str, Any]]] = {
        "embed": embed,
        "answer": answer,
        "mentions": mentions,
        "reconcile": reconcile,
        "graph": graph,
        "map": map_,
    }
    sys.stdout.write(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])) + "\n")
