"""How long the note graph takes: from nothing, after one changed note, and to be asked."""

from __future__ import annotations

import json
import shutil
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import yardsticks
from measure import Row, finish, milliseconds, percentile, spread
from second_brain.graph import queries
from stage import LARGE, MEDIUM, Stage, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from second_brain.service import SecondBrain

HUBS = 10


def kept(stage: Stage) -> Iterator[Row]:
    """The graph from nothing once vectors exist, and one changed note after the other; in a process of its own."""
    with yardsticks.FakeOllama(stage.work) as server:
        for name, target in ((MEDIUM, 15.0), (LARGE, None)):
            if name in stage.sizes():
                yield from _kept(stage, name, target, server)


def _kept(stage: Stage, name: str, target: float | None, server: yardsticks.FakeOllama) -> Iterator[Row]:
    vault, db = stage.copy(name, "graph"), stage.fresh_db("graph")
    shutil.copy(stage.meaning_db(name, server), db)
    times = stage.times(200, 10)
    done = finish(stage.child("graph", vault, db, json.dumps(server.settings()), times, HUBS), env=stage.environment())
    found: dict[str, Any] = json.loads(done.out)
    facts = {"notes": found["notes"], "pairs": found["pairs"], "peak_mb": round(found["peak_mb"])}
    yield Row(
        f"graph.{name}.build",
        f"graph of {name} from nothing, vectors there",
        "s",
        found["build_s"],
        target,
        facts=facts,
    )
    for kind in ("random", "hubs"):
        values = found[kind]
        yield Row(
            f"graph.{name}.update.{kind}",
            f"one changed note in the graph of {name}, {'random notes' if kind == 'random' else 'the biggest hubs'}, p95",
            "ms",
            percentile(values, 0.95),
            200.0 if name == MEDIUM else None,
            spread={**spread(values), **spread(found[f"{kind}_asked"], "then related ")},
            facts=facts,
        )


def asked(stage: Stage) -> Iterator[Row]:
    """The map of all notes, and the notes related to one."""
    with yardsticks.FakeOllama(stage.work) as server:
        for name in stage.sizes():
            vault, db = stage.vault(name), stage.meaning_db(name, server)
            yield from _asked(stage, name, vault, db, server)


def _asked(stage: Stage, name: str, vault: Path, db: Path, server: yardsticks.FakeOllama) -> Iterator[Row]:
    brain = opened(vault, db, **server.settings())
    figures = brain.link_figures()
    maps = [milliseconds(lambda: _new_map(brain)) / 1000 for _ in range(stage.times(5, 1))]
    memory = json.loads(finish(stage.child("map", vault, db), env=stage.environment()).out)
    yield Row(
        f"graph.{name}.map",
        f"map of {name}, nothing kept from before",
        "s",
        median(maps),
        3.0 if name == MEDIUM else None,
        spread=spread(maps),
        facts={"edges": brain.map().overview.edge_count, "peak_mb": round(memory["peak_mb"])},
    )
    reader, settings = brain.reader, brain.graph_settings
    paths = [hit.path for query in stage.queries(name).plain[:50] for hit in _hits(brain, query)]
    related = [milliseconds(partial(queries.related_notes, reader, settings, path)) for path in paths]
    hubs = [milliseconds(partial(queries.related_notes, reader, settings, path)) for path, _ in figures.hubs]
    yield Row(
        f"graph.{name}.related",
        f"notes related to one, {name}, warm, p95",
        "ms",
        percentile(related, 0.95),
        spread={**spread(related), **spread(hubs, "hubs ")},
    )


def _new_map(brain: SecondBrain) -> None:
    reader = brain.reader
    with reader.snapshot():
        reader._derived.clear()
        queries.vault_map(reader, brain.graph_settings)


def _hits(brain: SecondBrain, query: str) -> list[Any]:
    return list(brain.search(brain.request(query=query, ranking="words", top_k=2)).hits)
