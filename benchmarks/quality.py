"""What is found: judged queries, known items, and the collections of `retrieval.py`, each beside a plain floor."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import random
import re
import shutil
import sqlite3
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import retrieval
import yardsticks
from measure import Row, Skipped
from second_brain.errors import InvalidParameter
from second_brain.index.text import STOP_WORDS
from second_brain.model import stem_of
from stage import MEDIUM, Stage, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from second_brain.service import SecondBrain

SHARED = yardsticks.SHARED
BEST = {"cranfield": 0.425, "cisi": 0.375, "xquad-en": 0.95, "xquad-de": 0.91, "xquad-es": 0.94, "xquad-zh": 0.94}
_ENGLISH = frozenset({"cranfield", "cisi", "xquad-en"})
_RANKED_KINDS = ("identifier", "alias", "typo", "filter")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def collections(stage: Stage) -> Iterator[Row]:
    """nDCG@10 on the odd half of each collection."""
    if not (SHARED / "ir").is_dir():
        raise Skipped(f"The collections are not here ({SHARED / 'ir'}).")
    for name in ("xquad-en",) if stage.quick else retrieval.SETS:
        found = retrieval.measure(name, stage.databases / "retrieval", "odd")
        floor = _collection_floor(name)
        facts = {"queries": int(found["queries"]), "half": "odd"}
        for ranking, target in (("words", floor - 0.005), ("best", BEST[name])):
            yield Row(
                f"quality.{name}.{ranking}",
                f"nDCG@10 of {name}, {ranking}",
                "",
                found[ranking],
                target,
                "higher",
                yardstick=floor,
                yardstick_name="FTS5 floor, same half",
                spread={"meaning": found["meaning"]},
                facts=facts,
            )


def _collection_floor(name: str) -> float:
    """Folded words without stop words, Porter for English, bigrams for Chinese, title weight 5."""
    folder = SHARED / "ir" / name
    stem = "porter " if name in _ENGLISH else ""
    database = sqlite3.connect(":memory:")
    database.execute(
        f"create virtual table f using fts5(id unindexed, title, body, tokenize='{stem}unicode61 remove_diacritics 2')"
    )
    for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines():
        document = json.loads(line)
        row = (document["_id"], _bigrams(document.get("title") or ""), _bigrams(document["text"]))
        database.execute("insert into f values (?, ?, ?)", row)
    judged = retrieval._qrels(folder / "qrels.tsv")
    scores = [
        retrieval.ndcg(_floor_ranked(database, query["text"]), relevant)
        for query in retrieval._chosen(folder / "queries.jsonl", "odd")
        if (relevant := judged.get(query["_id"]))
    ]
    database.close()
    return sum(scores) / len(scores)


def _floor_ranked(database: sqlite3.Connection, text: str) -> list[str]:
    stop_words = frozenset().union(*STOP_WORDS.values())
    words = re.findall(r"\w+", _bigrams(text).lower())
    kept = [word for word in words if word not in stop_words] or words
    sql = "select id from f where f match ? order by bm25(f, 0, 5, 1) limit 10"
    return [found for (found,) in database.execute(sql, (" OR ".join(f'"{word}"' for word in kept),))]


def _bigrams(text: str) -> str:
    """Runs of CJK as overlapping pairs."""
    return _CJK.sub(lambda run: " " + " ".join(map("".join, zip(run[0], run[0][1:], strict=False))) + " ", text)


def judged(stage: Stage) -> Iterator[Row]:
    """The judged queries of a real vault, per kind, and the rank of each that names something."""
    file = SHARED / "acceptance" / "queries" / "jackyzha0.public.json"
    if not file.is_file():
        raise Skipped(f"The judged queries are not here ({file}).")
    asked = json.loads(file.read_text("utf-8"))
    brain = _judged_vault(stage)
    evaluation = _evaluation(file)
    floor = evaluation.floor("unicode61 remove_diacritics 2")
    floor_means = _means(evaluation, floor)
    for ranking in ("words", "best"):
        found = {query["id"]: _paths(brain, query, ranking) for query in asked["queries"]}
        (stage.work / f"jackyzha0.{ranking}.json").write_text(json.dumps(found), encoding="utf-8")
        means = _means(evaluation, found)
        yield Row(
            f"quality.jackyzha0.{ranking}",
            f"nDCG@10 of the judged queries of jackyzha0, {ranking}",
            "",
            means["ALL"],
            better="higher",
            yardstick=floor_means["ALL"],
            yardstick_name="eval_queries.py floor",
            spread=means,
            facts={"floor": floor_means, "behind": _behind(asked["queries"], found, floor)},
        )
    brain.close()


def _judged_vault(stage: Stage) -> SecondBrain:
    """The vault with the time stamps that the queries were judged with, embedded by the builtin model."""
    vault = stage.work / "vaults" / "jackyzha0"
    if not vault.is_dir():
        part = vault.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(SHARED / "vaults" / "jackyzha0", part, copy_function=shutil.copyfile)
        times = json.loads((SHARED / "acceptance" / "queries" / "jackyzha0.mtimes.json").read_text("utf-8"))
        for path, moment in times.items():
            stamp = time.mktime(time.strptime(moment, "%Y-%m-%dT%H:%M:%S"))
            os.utime(part / path, (stamp, stamp))
        for folder in [part, *(path for path in part.rglob("*") if path.is_dir())]:
            folder.chmod(0o755)
        part.rename(vault)
    brain = opened(vault, stage.databases / "jackyzha0.db", embedder="builtin", exclude_globs=[])
    brain.sync()
    return brain


def _evaluation(file: Path) -> ModuleType:
    """The script `eval_queries.py`, which reads its arguments when it is loaded, as a module."""
    spec = importlib.util.spec_from_file_location("eval_queries", SHARED / "acceptance" / "eval_queries.py")
    if spec is None or spec.loader is None:
        raise Skipped("eval_queries.py cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    arguments, sys.argv = sys.argv, ["eval_queries", str(file)]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.argv = arguments
    return module


def _means(evaluation: ModuleType, results: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """nDCG@10 by kind of query."""
    with contextlib.redirect_stdout(io.StringIO()):
        by_kind = evaluation.report("", results)
    return {kind: sum(row[0] for row in rows) / len(rows) for kind, rows in by_kind.items()}


def _paths(brain: SecondBrain, query: Mapping[str, Any], ranking: str) -> list[str]:
    try:
        request = brain.request(query=query["query"] or None, top_k=10, ranking=ranking, **query["filters"])
        return [hit.path for hit in brain.search(request).hits]
    except InvalidParameter:
        return []


def _behind(
    queries: Sequence[Mapping[str, Any]], ours: Mapping[str, Sequence[str]], floor: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """The queries that name something (identifier, alias, typo, filter) for which the floor ranks the note higher."""
    found = []
    for query in queries:
        if query["relevant"] and query["kind"].startswith(_RANKED_KINDS):
            mine, theirs = (_rank(ranked[query["id"]], query["relevant"]) for ranked in (ours, floor))
            if theirs is not None and (mine is None or mine > theirs):
                found.append({"id": query["id"], "kind": query["kind"], "ours": mine, "floor": theirs})
    return found


def _rank(ranked: Sequence[str], relevant: Mapping[str, int]) -> int | None:
    best = max(relevant.values())
    return next((place for place, path in enumerate(ranked, 1) if relevant.get(path, 0) == best), None)


def known_items(stage: Stage) -> Iterator[Row]:
    """Whether the title of a note finds the note, for random notes whose title nothing else has."""
    vault, db = stage.vault(MEDIUM), stage.words_db(MEDIUM)
    brain = opened(vault, db)
    names = Counter(path.stem.casefold() for path in vault.rglob("*.md"))
    candidates = [vault / path for path in sorted(brain.vault.scan().files) if _is_item(stem_of(path), names)]
    chosen = random.Random(5).sample(candidates, min(len(candidates), stage.times(300, 60)))
    floor_db = stage.fresh_db("floor-items")
    missed, floor_hits = [], 0
    yardsticks.floor("index", vault, floor_db)
    database = sqlite3.connect(floor_db)
    sql = "select path from f join n on n.id = f.rowid where f match ? order by bm25(f, 5, 1) limit 10"
    for note in chosen:
        path, title = note.relative_to(vault).as_posix(), _title_words(note.stem)
        hits = brain.search(brain.request(query=title, ranking="words", top_k=10)).hits
        if path not in [hit.path for hit in hits]:
            missed.append(path)
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", title))
        floor_hits += (path,) in database.execute(sql, (words,)).fetchall()
    database.close()
    brain.close()
    yield Row(
        "quality.known_items",
        f"Known items: title -> note, hit@10, {MEDIUM}, words",
        "",
        1 - len(missed) / len(chosen),
        0.98,
        "higher",
        yardstick=floor_hits / len(chosen),
        yardstick_name="floor",
        facts={"notes": len(chosen), "missed": missed[:10]},
    )


def _is_item(stem: str, names: Counter[str]) -> bool:
    return names[stem.casefold()] == 1 and len(re.findall(r"\w{2,}", stem.replace("-", " "))) >= 2


def _title_words(stem: str) -> str:
    """A file name as a person would type it."""
    return " ".join(re.findall(r"\w+", stem.replace("-", " ").replace("_", " ")))
