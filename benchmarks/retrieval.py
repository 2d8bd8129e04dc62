"""Ranking quality on the collections of `../shared/ir` and the judged queries: nDCG@10 per ranking, beside a plain floor.

    python benchmarks/retrieval.py [--set NAME] [--half odd|even] [--work FOLDER] [--json FILE]

Weights are set on the even lines of each queries.jsonl; what is reported are the odd ones.  The judged queries of the jackyzha0
vault are run and never tuned on.  Every document is a note: its title as the first heading, its text below.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

from second_brain.config import load
from second_brain.search.request import Ranking
from second_brain.service import SecondBrain

SHARED = Path(__file__).resolve().parents[2] / "shared"
SETS = ("cranfield", "cisi", "xquad-en", "xquad-de", "xquad-es", "xquad-zh")
RANKINGS = ("words", "meaning", "best")


def main() -> int:
    options = _options()
    if not SHARED.is_dir():
        print("The collections are not here (../shared/ir): nothing to measure.")
        return 0
    results: dict[str, Any] = {"load": os.getloadavg(), "half": options.half, "sets": {}}
    for name in options.set or SETS:
        results["sets"][name] = measure(name, options.work, options.half)
        print(json.dumps({name: results["sets"][name]}), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2), encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", choices=SETS)
    parser.add_argument("--half", choices=("odd", "even", "all"), default="odd")
    parser.add_argument("--work", type=Path, default=Path("build/retrieval"))
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def measure(name: str, work: Path, half: str) -> dict[str, float]:
    """nDCG@10 by ranking on one collection, and the share of titles that find their own note in the first ten."""
    brain = open_collection(name, work)
    qrels = _qrels(SHARED / "ir" / name / "qrels.tsv")
    queries = list(_chosen(SHARED / "ir" / name / "queries.jsonl", half))
    scores: dict[str, list[float]] = defaultdict(list)
    started = time.perf_counter()
    for query in queries:
        relevant = qrels.get(query["_id"], {})
        if not relevant:
            continue
        for ranking in RANKINGS:
            request = replace(brain.request(query=_plain(query["text"]), top_k=10), ranking=Ranking(ranking))
            found = [hit.path[:-3] for hit in brain.search(request).hits]
            scores[ranking].append(ndcg(found, relevant))
    outcome = {ranking: sum(values) / len(values) for ranking, values in scores.items()}
    outcome["queries"] = len(scores["words"])
    outcome["ms_per_query"] = 1000 * (time.perf_counter() - started) / max(1, len(queries) * len(RANKINGS))
    brain.close()
    return outcome


def _plain(text: str) -> str:
    """A question of a collection is text, not our grammar."""
    return re.sub(r'["#\[\]]|(?<!\S)-', " ", text)


def open_collection(name: str, work: Path) -> SecondBrain:
    """The collection as an indexed vault below *work*, made once."""
    vault = work / name
    if not (vault / ".done").exists():
        vault.mkdir(parents=True, exist_ok=True)
        for line in (SHARED / "ir" / name / "corpus.jsonl").read_text("utf-8").splitlines():
            document = json.loads(line)
            title = " ".join((document.get("title") or "").split())
            head = f"# {title}\n\n" if title else ""
            (vault / f"{document['_id']}.md").write_text(head + document["text"] + "\n", encoding="utf-8")
        (vault / ".done").touch()
    config = load(
        flags={"db_path": str(work / f"{name}.db"), "exclude_globs": [], "embedder": "builtin"}, vault=str(vault)
    )
    brain = SecondBrain(config)
    outcome = brain.sync()
    if outcome.vectors is None or outcome.vectors.waiting:
        sys.exit(f"{name}: {outcome.vectors}")
    return brain


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text("utf-8").splitlines():
        query, document, grade = line.split("\t")[:3]
        if grade.lstrip("-").isdigit():
            found[query][document] = int(grade)
    return found


def _chosen(path: Path, half: str) -> list[dict[str, str]]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return lines if half == "all" else lines[0::2] if half == "odd" else lines[1::2]


def ndcg(ranked: list[str], relevant: dict[str, int], depth: int = 10) -> float:
    gained = sum((2 ** relevant.get(item, 0) - 1) / math.log2(place + 2) for place, item in enumerate(ranked[:depth]))
    ideal = sorted((grade for grade in relevant.values() if grade > 0), reverse=True)[:depth]
    best = sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(ideal))
    return gained / best if best else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
