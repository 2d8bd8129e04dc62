"""Measure the program against its budgets, beside the yardsticks of ``../shared/bench``, in one run.

    python benchmarks/run.py [--only NAME …] [--work FOLDER] [--json FILE] [--quick]

Prints one line a figure; the JSON is what `report.py` makes into RESULTS.md.  Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import embedding
import graph
import indexing
import latency
import mentions
import quality
import watching
import yardsticks
from measure import Row, Skipped, load_average
from report import figure
from second_brain.errors import SecondBrainError
from stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BENCHMARKS: dict[str, Callable[[Stage], Iterator[Row]]] = {
    "index": indexing.cold,
    "first-answer": indexing.first_answer,
    "again": indexing.again,
    "scan": indexing.scan,
    "fresh": latency.fresh,
    "words": latency.words,
    "quoted": latency.quoted,
    "best": latency.best,
    "schema": latency.schema,
    "memory": latency.memory,
    "graph": graph.kept,
    "graph-asked": graph.asked,
    "builtin-rate": embedding.rate,
    "builtin-memory": embedding.memory,
    "sketch": embedding.sketch,
    "mentions": mentions.latency,
    "mention-figures": mentions.figures,
    "saved-found": watching.saved_found,
    "idle": watching.idle,
    "idle-embedded": watching.embedded_idle,
    "known-items": quality.known_items,
    "judged": quality.judged,
    "collections": quality.collections,
}


def main() -> int:
    options = _options()
    if not yardsticks.SHARED.is_dir():
        print(f"The vaults and yardsticks are not here ({yardsticks.SHARED}): nothing to measure.")
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    stage = Stage(options.work.resolve(), options.quick)
    results: dict[str, Any] = {"machine": _machine(), "quick": options.quick, "rows": [], "skipped": {}}
    for name in options.only or BENCHMARKS:
        started = time.monotonic()
        measure(name, stage, results)
        print(f"  {name} took {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(BENCHMARKS), metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--work", type=Path, default=Path("build/benchmarks"), help="vaults and databases, kept")
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--quick", action="store_true", help="the medium vault and few repetitions, to try the harness")
    return parser.parse_args()


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpus": os.cpu_count(),
        "at": time.strftime("%Y-%m-%d %H:%M"),
    }


def measure(name: str, stage: Stage, results: dict[str, Any]) -> None:
    """Add the rows of one benchmark to *results*, each with the load average before and after it."""
    before = load_average()
    try:
        for row in BENCHMARKS[name](stage):
            measured = replace(row, load=(before, load_average()))
            before = load_average()
            results["rows"].append({**asdict(measured), "ratio": row.ratio, "met": row.met})
            ratio = "" if row.ratio is None else f"  x{row.ratio:.2f} of {row.yardstick_name}"
            print(f"{row.name:32} {figure(row.ours, row.unit):>10}{ratio}  load {before:.1f}", flush=True)
    except (Skipped, SecondBrainError) as reason:
        results["skipped"][name] = str(reason)
        print(f"{name}: skipped. {reason}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
