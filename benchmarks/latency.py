"""How long an answer takes: from a fresh process, and from a warm one by words, quoted pieces, and meaning.

Warm means that the reader has answered other queries before.  The figure of a row is the *first* asking of each query; asking
it again, which finds its postings in memory, stands beside it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import datetime
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import yardsticks
from measure import Row, finish, milliseconds, percentile, spread, timed
from second_brain.embedding.ollama import OllamaEmbedder
from second_brain.errors import InvalidParameter
from second_brain.search import engine, narrowing
from stage import LARGE, MEDIUM, Stage, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from second_brain.service import SecondBrain

TOP_K = 10


class StoredQueries:
    """The embedder that made an index, with the vectors of the queries made beforehand."""

    def __init__(self, source: OllamaEmbedder, queries: Sequence[str]) -> None:
        self.fingerprint = source.fingerprint
        self.name = source.name
        self.dimension = source.dimension
        self.max_tokens = source.max_tokens
        self.max_words = source.max_words
        self.languages = source.languages
        self._vectors = {query: source.embed_query(query) for query in queries}

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """A vector of the store."""
        return self._vectors[text]

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Nothing is indexed with it."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""


def fresh(stage: Stage) -> Iterator[Row]:
    """One search as a new process, beside the floor's, a Python that does nothing, and a scan of the files."""
    vault, db = stage.vault(MEDIUM), stage.words_db(MEDIUM)
    floor_db = stage.fresh_db("floor-fresh")
    yardsticks.floor("index", vault, floor_db)
    ours, floor, bare, grep = [], [], [], []
    for query in stage.queries(MEDIUM).plain[: stage.times(30, 5)]:
        command = stage.program("search", "--ranking", "words", "--", query, vault=vault, db=db)
        ours.append(finish(command, env=stage.environment()))
        floor.append(yardsticks.floor("query", vault, floor_db, query))
        bare.append(finish([sys.executable, "-c", "pass"]))
        grep.append(yardsticks.grep(vault, query))
    walls = [1000 * cost.wall_s for cost in ours]
    yield Row(
        "fresh.words",
        "`search … --ranking words` as a fresh process",
        "ms",
        median(walls),
        200.0,
        yardstick=median(1000 * cost.wall_s for cost in floor),
        yardstick_name="floor.py query",
        spread={
            **spread(walls),
            "cpu_ms": median(1000 * cost.cpu_s for cost in ours),
            "python -c pass": median(1000 * cost.wall_s for cost in bare),
            yardsticks.grep_name(): median(grep),
        },
    )


def words(stage: Stage) -> Iterator[Row]:
    """Warm searches by words, with and without the passages that are shown."""
    targets = {MEDIUM: (4.0, 12.0), LARGE: (10.0, 30.0)}
    for name in stage.sizes():
        vault, db, queries = stage.vault(name), stage.words_db(name), stage.queries(name)
        with yardsticks.FloorServer(vault, stage.fresh_db("floor-warm")) as server:
            floor = [server.ask(query) for query in (*queries.warm_up, *queries.plain)][len(queries.warm_up) :]
        shown = _asked(opened(vault, db), _search, queries.warm_up, queries.plain, stage)
        bare = _asked(opened(vault, db), _rank, queries.warm_up, queries.plain, stage)
        further = {**shown, **{f"without passages {key}": value for key, value in bare.items()}}
        for figure, share, target in (("p50", 0.5, targets[name][0]), ("p95", 0.95, targets[name][1])):
            yield Row(
                f"words.{name}.{figure}",
                f"Words warm, {name}, {figure}",
                "ms",
                shown[figure],
                target,
                yardstick=percentile(floor, share),
                yardstick_name="floor.py serve",
                spread=further if figure == "p95" else {},
            )


def quoted(stage: Stage) -> Iterator[Row]:
    """Warm searches for pieces of lines in quotes, which must find all that a scan finds."""
    for name, target in ((MEDIUM, 30.0), (LARGE, 150.0)):
        if name not in stage.sizes():
            continue
        vault, queries = stage.vault(name), stage.queries(name)
        figures = _asked(opened(vault, stage.words_db(name)), _search, queries.warm_up, queries.quoted, stage)
        scans = [yardsticks.grep(vault, query.strip('"'), fixed=True) for query in queries.quoted[:10]]
        yield Row(
            f"quoted.{name}",
            f"Quoted pieces warm, {name}, p95",
            "ms",
            figures["p95"],
            target,
            yardstick=median(scans),
            yardstick_name=yardsticks.grep_name(),
            spread=figures,
        )


def best(stage: Stage) -> Iterator[Row]:
    """Warm searches by words and meaning inside filters; the vectors of the queries are there already."""
    with yardsticks.FakeOllama(stage.work) as server:
        for name, target in ((MEDIUM, 30.0), (LARGE, 80.0)):
            if name in stage.sizes():
                yield from _best(stage, name, target, server)


def _best(stage: Stage, name: str, target: float, server: yardsticks.FakeOllama) -> Iterator[Row]:
    vault, db, queries = stage.vault(name), stage.meaning_db(name, server), stage.queries(name)
    source = OllamaEmbedder(server.url, yardsticks.OLLAMA_MODEL)
    stored = StoredQueries(source, [*queries.warm_up, *queries.plain])
    floor_db = stage.fresh_db("floor-best")
    with yardsticks.FloorServer(vault, floor_db) as floor:
        for label, filters in _filters(opened(vault, db), vault).items():
            brain = opened(vault, db, ranking="best", **server.settings())
            brain = type(brain)(brain.config, embedder=stored)
            passing = _passing(brain, filters)
            figures = _asked(brain, _search, queries.warm_up, queries.plain, stage, ranking="best", **filters)
            beside = [floor.ask(query, filters) for query in queries.plain]
            yield Row(
                f"best.{name}.{label}",
                f"`best` warm without embedding the query, {name}, filter: {label}, p95",
                "ms",
                figures["p95"],
                target,
                yardstick=percentile(beside, 0.95),
                yardstick_name="floor.py serve (words alone)",
                spread=figures,
                facts={"filters": filters, "notes": passing, "dimension": stored.dimension},
            )


def _filters(brain: SecondBrain, vault: Path) -> dict[str, dict[str, Any]]:
    """The commonest folder and tag that take less than half of the vault, the newer half, and all three around the tag."""
    facets = brain.facets()
    moments = sorted(path.stat().st_mtime for path in vault.rglob("*.md"))
    folder = max((count, name) for name, count in facets.folders.items() if count < len(moments) / 2)[1]
    tag = next(name for name, count in facets.tags.items() if count < len(moments) / 2)
    after = datetime.fromtimestamp(moments[len(moments) // 2]).astimezone().date().isoformat()
    tagged = brain.search(brain.request(tags=[tag], top_k=50)).hits
    around = Counter(hit.folder.split("/")[0] for hit in tagged).most_common(1)[0][0]
    brain.close()
    return {
        "none": {},
        "folder": {"folder": folder},
        "tag": {"tags": [tag]},
        "date": {"modified_after": after},
        "all": {"folder": around, "tags": [tag], "modified_after": after},
    }


def _passing(brain: SecondBrain, filters: Mapping[str, Any]) -> int:
    """How many notes the filters let through."""
    with brain.reader.snapshot():
        mask = narrowing.allowed(brain.reader, brain.request(query="any", **filters).query)
        return len(brain.reader.columns) if mask is None else int(mask.sum())


def schema(stage: Stage) -> Iterator[Row]:
    """The map of the vault that agents get, from a reader that has done nothing before."""
    brain = opened(stage.vault(MEDIUM), stage.words_db(MEDIUM))
    times = []
    for _ in range(stage.times(15, 3)):
        with brain.reader.snapshot():
            pass
        times.append(milliseconds(brain.schema_block))
        brain.close()
    yield Row("schema", f"Schema block, {MEDIUM}", "ms", median(times), 20.0, spread=spread(times))


def memory(stage: Stage) -> Iterator[Row]:
    """What a process that has answered all queries holds."""
    for name in stage.sizes():
        vault, db, queries = stage.vault(name), stage.words_db(name), stage.queries(name)
        file = stage.work / "queries.txt"
        file.write_text("\n".join(queries.plain), encoding="utf-8")
        found = json.loads(finish(stage.child("answer", vault, db, file)).out)
        what = f"PSS of a process that answered {len(queries.plain)} queries by words, {name}"
        yield Row(f"memory.{name}", what, "MB", found["pss_mb"], 120.0, spread={"peak_mb": found["peak_mb"]})


def _asked(
    brain: SecondBrain,
    ask: Callable[[SecondBrain, str, Mapping[str, Any]], object],
    warm_up: Sequence[str],
    queries: Sequence[str],
    stage: Stage,
    **arguments: Any,
) -> dict[str, float]:
    """Milliseconds: the first asking of each query, and the later ones ("again …")."""
    arguments = {"ranking": "words", "top_k": TOP_K, **arguments}
    for query in warm_up:
        ask(brain, query, arguments)
    passes = [[timed(partial(ask, brain, query, arguments)) for query in queries] for _ in range(stage.times(4, 2))]
    brain.close()
    first, later = passes[0], [times for times_of_pass in passes[1:] for times in times_of_pass]
    slowest = max(range(len(queries)), key=first.__getitem__)
    sys.stderr.write(f"  slowest: {queries[slowest]!r}, {first[slowest][0]:.0f} ms\n")
    return {
        **spread([wall for wall, _ in first]),
        **spread([cpu for _, cpu in first], "CPU "),
        **spread([wall for wall, _ in later], "again "),
    }


def _search(brain: SecondBrain, query: str, arguments: Mapping[str, Any]) -> object:
    return brain.search(brain.request(query=query, **arguments))


def _rank(brain: SecondBrain, query: str, arguments: Mapping[str, Any]) -> object:
    """The search without what is shown."""
    request = brain.request(query=query, **arguments)
    reader = brain.reader
    with reader.snapshot():
        try:
            allowed = narrowing.allowed(reader, request.query)
            return engine.rank(reader, request, brain.tools, allowed, engine.embed(reader, request, brain.tools))
        except InvalidParameter:
            return None
