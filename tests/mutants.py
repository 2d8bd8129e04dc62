"""Seeded faults in ranking, filters, scopes, the graph and mentions: each must make a test fail.

    python tests/mutants.py [--only NUMBER …]

Every mutant is put into a copy of core/, and the tests that should notice it run against that copy, two mutants at a time.
Not part of the gate: it takes minutes.  The gate checks that every original text still stands in its file, once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("second_brain")
TESTS = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
"""Every test file by its name, which is unique."""

AT_ONCE = 2
TIME_LIMIT = 300  # seconds
FAILED = 1  # what pytest says when tests ran and failed


@dataclass(frozen=True, slots=True)
class Mutant:
    """`original`, which stands once in `file` (below the package), becomes `replacement`; one of `tests` must fail."""

    file: str
    original: str
    replacement: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        """The text of the file with the fault in it."""
        if text.count(self.original) != 1:
            raise ValueError(f"{self.file}: {text.count(self.original)} times {self.original!r}")
        return text.replace(self.original, self.replacement)


FIGURES = ("test_word_figures.py",)
ORDER = ("test_engine_ranking.py",)
FILTERS = ("test_engine_filters.py",)
SCOPES = ("test_engine_scopes.py",)
MEANING = ("test_engine_meaning.py",)
GRAPH = ("test_incremental_graph.py",)
MENTIONS = ("test_mentions.py", "test_mention_filling.py")

MUTANTS = (
    # ranking by words
    Mutant(
        "index/words.py",
        "df = int(hits.sum())",
        "df = sum(len(postings.read(reader.connection, reader.databases, variant.term).docs) for variant in concept.variants)",
        FIGURES,
    ),
    Mutant(
        "index/words.py", "B * columns.words / columns.mean_words", "B * columns.mean_words / columns.words", FIGURES
    ),
    Mutant("index/words.py", "value *= variant.weight", "value *= 1.0", FIGURES),
    Mutant("index/words.py", "value = value * reader.columns.english[places]", "value = value * 1.0", FIGURES + ORDER),
    Mutant("index/words.py", "FIELD_WEIGHTS = (8.0, 6.0, 4.0, 4.0)", "FIELD_WEIGHTS = (4.0, 6.0, 8.0, 4.0)", ORDER),
    Mutant("index/words.py", "if not 0 < distance <= 3:", "if not 0 < distance < 3:", FIGURES),
    Mutant("index/words.py", "completeness(matched, idf) ** 2", "completeness(matched, idf)", FIGURES),
    Mutant(
        "index/words.py",
        "COMPOUND_BONUS if left.piece == right.piece else ADJACENT_BONUS",
        "ADJACENT_BONUS if left.piece == right.piece else COMPOUND_BONUS",
        FIGURES,
    ),
    Mutant(
        "index/words.py",
        "places = places[score[places] >= threshold]",
        "places = places[score[places] > threshold]",
        ORDER,
    ),
    Mutant("index/words.py", "np.lexsort((places, -score[places]))", "np.lexsort((-places, -score[places]))", ORDER),
    # corrections
    Mutant("index/vocabulary.py", "1 if len(word) < LONG_WORD else 2", "1 if len(word) <= LONG_WORD else 2", ORDER),
    Mutant("index/vocabulary.py", "                if frequency:", "                if frequency >= 0:", ORDER),
    # filters
    Mutant("index/selection.py", '(folder + "/", folder + "0")', '(folder, folder + "0")', FILTERS),
    Mutant("index/selection.py", '(key, key + "/", key + "0")', '(key, key, key + "0")', FILTERS),
    Mutant("index/selection.py", '[f"{time} <= ?"]', '[f"{time} < ?"]', FILTERS),
    Mutant(
        "index/selection.py",
        'time = "coalesce(content_mtime, mtime)"',
        'time = "coalesce(mtime, content_mtime)"',
        FILTERS,
    ),
    Mutant("index/selection.py", "key COLLATE NOCASE IN", "key IN", FILTERS),
    Mutant(
        "search/narrowing.py",
        "condition.negated() if contains.excluded else condition",
        "condition",
        FILTERS,
    ),
    Mutant("index/exact.py", "1 : None if needle[-1]", "0 : None if needle[-1]", ORDER),
    # scopes
    Mutant("index/scope.py", 'inside = " OR ".join(', 'inside = " AND ".join(', SCOPES),
    Mutant("index/scope.py", "t.key >= {_literal(key + '/')}", "t.key >= {_literal(key)}", SCOPES),
    Mutant(
        "index/scope.py",
        "temp.{layer.files} AS f WHERE f.{key} = t.{key})",
        "{layer.database}.files AS f WHERE f.{key} = t.{key})",
        ("test_vocabulary_map.py",),
    ),
    Mutant(
        "index/scope.py", "if overlaid and layer.database", "if not overlaid and layer.database", ("test_freshness.py",)
    ),
    # the graph
    Mutant("indexing/graph_change.py", "holding, rows)", "holding, rows[:0])", GRAPH),
    Mutant("indexing/graph_change.py", "[path in touched for path in paths]", "[False for path in paths]", GRAPH),
    Mutant("index/vector_rows.py", "graph_rows.mark(connection, [path])", "pass", GRAPH),
    Mutant("index/boilerplate.py", "max(FEW, -(-notes // ONE_OF))", "FEW", ("test_boilerplate.py",)),
    Mutant("graph/edges.py", "del counts[node]", "pass", ("test_graph_edges.py",)),
    # mentions
    Mutant("reading/filling.py", "cap = max(budget / SHARE, budget / len(notes))", "cap = budget", MENTIONS),
    Mutant("reading/filling.py", "self._left -= costs[done]", "pass", MENTIONS),
    # meaning
    Mutant(
        "index/vectors.py",
        "None if reader.scope.whole_vault else reader.columns.docs",
        "None",
        ("test_nearest_passages.py",),
    ),
    Mutant("index/vectors.py", "coalesce(e.model, '') = ? AND", "coalesce(e.model, ?) IS NOT NULL AND", MEANING),
    Mutant("search/fusion.py", ">= FAR * nearest", "> FAR * nearest", ("test_fusion.py",)),
    # what the engine makes of them
    Mutant(
        "search/engine.py",
        "    places = ranking.best(allowed, request.top_k)",
        "    places = ranking.best(None, request.top_k)\n"
        "    places = places if allowed is None else places[allowed[places]]",
        FILTERS,
    ),
    Mutant(
        "search/engine.py", 'return "en" in languages and is_english', 'return "en" in languages or is_english', MEANING
    ),
    Mutant("search/hits.py", "fitted.pop()", "fitted.pop(0)", ("test_engine_snippets.py",)),
    Mutant("search/snippets.py", "text[: max(0, limit - 1)]", "text[:limit]", ("test_engine_snippets.py",)),
    Mutant("index/term_batch.py", "& MOST_TIMES < MOST_TIMES", "& MOST_TIMES <= MOST_TIMES", ("test_engine_why.py",)),
)


class Copy:
    """A copy of core/ that takes one mutant at a time."""

    def __init__(self, folder: Path) -> None:
        self.core = folder / "core"
        shutil.copytree(ROOT / "core", self.core)
        # The installed project points at the working tree; this comes before it.
        self.environment = os.environ | {"PYTHONPATH": str(self.core), "PYTHONDONTWRITEBYTECODE": "1"}
        told = self._python("-c", "import second_brain; print(second_brain.__file__)")
        if not Path(told.stdout.strip()).is_relative_to(self.core):
            raise SystemExit(f"mutants: the copy in {self.core} is not what is imported: {told.stdout}{told.stderr}")

    def run(self, tests: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        """Run the test files; -1 as its code stands for too slow."""
        files = [str(TESTS[name]) for name in tests]
        return self._python("-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", *files)

    def try_out(self, mutant: Mutant) -> subprocess.CompletedProcess[str]:
        """Run the tests of *mutant* with its fault in place, and take it out again."""
        place = self.core / PACKAGE / mutant.file
        before, stamp = place.read_text("utf-8"), place.stat()
        place.write_text(mutant.applied(before), "utf-8")
        try:
            return self.run(mutant.tests)
        finally:
            place.write_text(before, "utf-8")
            os.utime(place, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    def _python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        try:
            return subprocess.run(
                command,
                cwd=ROOT,
                env=self.environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -1, "", "")


def verdict(outcome: subprocess.CompletedProcess[str]) -> str:
    """killed, survived, or broken where the tests did not even start."""
    if outcome.returncode == 0:
        return "survived"
    return "killed" if outcome.returncode in (FAILED, -1) else "broken"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, action="append", help="the number of a mutant, from 1")
    wanted = parser.parse_args().only or range(1, len(MUTANTS) + 1)
    chosen = {number: MUTANTS[number - 1] for number in wanted}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(AT_ONCE):
            copies.put(Copy(Path(folder) / str(number)))
        copy = copies.get()
        sound = copy.run(tuple(dict.fromkeys(name for mutant in chosen.values() for name in mutant.tests)))
        copies.put(copy)
        if sound.returncode:
            print(sound.stdout[-3000:], sound.stderr[-1000:])
            raise SystemExit("mutants: the tests fail without any mutant")

        def judge(number: int) -> str:
            copy = copies.get()
            try:
                outcome = copy.try_out(chosen[number])
            finally:
                copies.put(copy)
            result = verdict(outcome)
            mutant = chosen[number]
            print(f"{result:8} {number:2} {mutant.file}: {' '.join(mutant.original.split())[:90]}", flush=True)
            return result

        with ThreadPoolExecutor(AT_ONCE) as pool:
            results = list(pool.map(judge, chosen))
    print(f"{results.count('killed')} of {len(results)} killed")
    return 0 if results.count("killed") == len(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
