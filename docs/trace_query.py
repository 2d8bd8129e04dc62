"""Follow one query through every layer and put the figures into docs/one-query.md.

    python docs/trace_query.py            write the blocks anew
    python docs/trace_query.py --print    only show them

The demo vault is indexed in a folder of its own, words and meaning, which takes some ten seconds.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from second_brain.cli.session import demo_vault
from second_brain.config import load
from second_brain.index import catalog, chunk_lines, vectors, words
from second_brain.index.text import is_english
from second_brain.search import engine, fusion
from second_brain.service import SecondBrain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.index.reader import Reader
    from second_brain.index.words import WordRanking
    from second_brain.search.answer import Answer

    Nearest = dict[int, vectors.Passage]  # by the note's place

QUERY = "why is my bread so dense?"
SHOWN = 3
PAGE = Path(__file__).with_name("one-query.md")
_BLOCK = re.compile(r"(<!-- trace: (\w+) -->\n```text\n)(.*?)(```)", re.DOTALL)


def main() -> int:
    """Write or print the blocks."""
    with tempfile.TemporaryDirectory() as folder:
        brain = open_demo(Path(folder))
        blocks = trace(brain, QUERY)
        brain.close()
    if "--print" in sys.argv:
        print("\n".join(f"[{name}]\n{text}" for name, text in blocks.items()))
        return 0
    page = PAGE.read_text("utf-8")
    PAGE.write_text(_BLOCK.sub(lambda found: found[1] + blocks[found[2]] + found[4], page), "utf-8")
    return 0


def open_demo(folder: Path) -> SecondBrain:
    """The demo vault with a complete index in *folder*."""
    brain = SecondBrain(load(flags={"db_path": folder / "demo.db", "embedder": "builtin"}, vault=str(demo_vault())))
    brain.sync()
    return brain


def written() -> dict[str, str]:
    """The blocks as they stand in the page."""
    return {found[2]: found[3] for found in _BLOCK.finditer(PAGE.read_text("utf-8"))}


def trace(brain: SecondBrain, query: str) -> dict[str, str]:
    """The figures of *query* in *brain*, a text for each block of the page."""
    request = brain.request(query=query, top_k=SHOWN)
    reader = brain.reader
    with reader.snapshot():
        ranking = words.rank(reader, words.concepts_of(reader, request.query.words))
        model = vectors.active_model(reader)
        embedder = brain.embedder_for(model.fingerprint) if model is not None else None
        if model is None or embedder is None:
            raise SystemExit("the demo vault is not embedded")
        vector = embedder.embed_query(request.query.text)
        nearest: dict[int, vectors.Passage] = {}
        for passage in vectors.nearest(reader, model, vector, allowed=None, limit=engine.POOL):
            nearest.setdefault(passage.place, passage)
        scored = engine.rank(reader, request, brain.tools, None, engine.embed(reader, request, brain.tools))
        weight = _weight(request.query.text, ranking, embedder)
        names = _names(reader)
        blocks = {
            "terms": _terms(request.query.text),
            "concepts": _concepts(reader, ranking),
            "words": _words(reader, ranking, names),
            "meaning": _meaning(reader, nearest, names),
            "fused": _fused(ranking, nearest, weight, names),
            "scores": _scores(ranking, nearest, scored, names),
        }
    blocks["answer"] = _answer(brain.search(request, explain=True))
    return blocks


def _names(reader: Reader) -> list[str]:
    docs = reader.columns.docs.tolist()
    rows = catalog.notes(reader, docs)
    return [rows[doc].title or rows[doc].path for doc in docs]


def _terms(text: str) -> str:
    stops = words.stop_words_of([term for term, _ in words.spoken(text)])
    return "".join(
        f"{position}  {term:8}{'dropped' if term in stops else ''}".rstrip() + "\n"
        for term, position in words.spoken(text)
    )


def _concepts(reader: Reader, ranking: WordRanking) -> str:
    lines = [f"notes {len(reader.columns)}, mean length {reader.columns.mean_words:.2f} words"]
    for number, (concept, idf) in enumerate(zip(ranking.concepts, ranking.idf, strict=True)):
        variants = ", ".join(
            f"{variant.term} (weight {variant.weight:.2f}, in {reader.frequency(variant.term)} notes)"
            for variant in concept.variants
        )
        df = int(((ranking.matched >> np.uint64(number)) & np.uint64(1)).sum())
        lines.append(f"{concept.word}: {variants}; df {df}, idf {idf:.3f}")
    return "\n".join(lines) + "\n"


def _words(reader: Reader, ranking: WordRanking, names: Sequence[str]) -> str:
    highest = float(ranking.score.max())
    lines = []
    for place in ranking.best(None, 5).tolist():
        held = [c.word for n, c in enumerate(ranking.concepts) if int(ranking.matched[place]) >> n & 1]
        length = int(reader.columns.words[place])
        score = float(ranking.score[place])
        lines.append(f"{score:.3f}  {score / highest:4.2f}  {names[place]} ({length} words; has {', '.join(held)})")
    return "\n".join(lines) + "\n"


def _meaning(reader: Reader, nearest: Nearest, names: Sequence[str]) -> str:
    best = sorted(nearest.values(), key=lambda passage: -passage.cosine)[:5]
    lines = []
    for passage in best:
        first, last = chunk_lines.of(reader, [passage.chunk])[passage.chunk]
        lines.append(f"{passage.cosine:.2f}  {names[passage.place]}, lines {first} to {last}")
    return (
        "\n".join(lines) + f"\n{min(passage.cosine for passage in nearest.values()):.2f}  the farthest of all notes\n"
    )


def _candidates(ranking: WordRanking, nearest: Nearest) -> fusion.Candidates:
    places = np.array(sorted({*ranking.best(None, engine.POOL).tolist(), *nearest}), dtype=np.intp)
    cosines = np.array([nearest[place].cosine if place in nearest else np.nan for place in places.tolist()])
    return fusion.Candidates(places, ranking.score[places], cosines)


def _complete(ranking: WordRanking) -> float:
    return float(words.completeness(ranking.matched, ranking.idf).max(initial=0.0))


def _weight(text: str, ranking: WordRanking, embedder: engine.QueryEmbedder) -> float:
    """How much meaning counts for this query, from the inputs that `engine` takes."""
    languages = embedder.languages
    english = is_english(term for term, _ in words.spoken(text))
    return fusion.meaning_weight(
        covered=languages is None or ("en" in languages and english),
        named=words.named_share(ranking.concepts),
        complete=_complete(ranking),
    )


def _fused(ranking: WordRanking, nearest: Nearest, weight: float, names: Sequence[str]) -> str:
    candidates = _candidates(ranking, nearest)
    scores = fusion.fuse(candidates, weight)
    kept = fusion.worth_showing(candidates)
    low, high = float(np.nanmin(candidates.cosines)), float(np.nanmax(candidates.cosines))
    covered = f"{fusion.MEANING_COVERED} + {fusion.MEANING_GAIN} * (1 - {_complete(ranking):.3f})"
    lines = [f"meaning weighs {covered} = {weight:.3f}"]
    for index in np.lexsort((candidates.places, -scores))[:5].tolist():
        by_words = float(candidates.words[index] / candidates.words.max())
        cosine = float(candidates.cosines[index])
        meaning = by_words if np.isnan(cosine) else (cosine - low) / (high - low)
        fate = "" if kept[index] else "   left out: no word, too far"
        lines.append(
            f"{1 - weight:.3f} * {by_words:4.2f} + {weight:.3f} * {meaning:4.2f}"
            f" = {scores[index]:4.2f}  {names[int(candidates.places[index])]}{fate}"
        )
    return "\n".join(lines) + f"\n{int(kept.sum())} of {len(candidates.places)} candidates are kept\n"


def _scores(ranking: WordRanking, nearest: Nearest, scored: engine.Scored, names: Sequence[str]) -> str:
    complete = _complete(ranking)
    near = max(passage.cosine for passage in nearest.values())
    lines = [f"completeness {complete:.2f}, nearest cosine {near:.2f}: confidence {max(complete, near):.2f}"]
    lines += [f"{score:.2f}  {names[place]}" for place, score in zip(scored.places, scored.scores, strict=True)]
    return "\n".join(lines) + "\n"


def _answer(answer: Answer) -> str:
    lines = [f"searched {right} for {wrong}" for wrong, right in answer.corrections]
    for number, hit in enumerate(answer.hits, start=1):
        found = [f"{number}. {hit.title}  {hit.path}:{hit.snippet.start_line}"]
        found += [f"   | {line}".rstrip() for line in hit.snippet.text.split("\n")]
        found.append(f"   matched {hit.matched}, score {hit.score:.2f}")
        lines += ["", *found] if lines else found
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
