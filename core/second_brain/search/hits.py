"""Turn ranked notes into what is shown: names, tags, a passage read from disk, within the budget of an answer."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from second_brain import tokencount
from second_brain.errors import SecondBrainError, VaultUnavailable
from second_brain.index import best_chunks, catalog, chunk_lines, vectors
from second_brain.index.schema import value_key
from second_brain.index.term_batch import FIELDS
from second_brain.model import folder_of, stem_of
from second_brain.search import snippets
from second_brain.search.answer import Evidence, Hit, Snippet

if TYPE_CHECKING:
    from second_brain.index.reader import Reader
    from second_brain.index.words import Concept, WordRanking
    from second_brain.search.engine import Scored, Tools
    from second_brain.search.request import Request
    from second_brain.vault.outline import Outline

MOVED = "file moved — reindex"
LEAST_SNIPPET = 40


def show(reader: Reader, request: Request, scored: Scored, tools: Tools) -> list[Hit]:
    """The hits of *scored*, in order; reads the notes that are shown and no others."""
    docs = reader.columns.docs[np.array(scored.places, dtype=np.intp)].tolist()
    rows = catalog.notes(reader, docs)
    tags = catalog.tags_of(reader, [row.path for row in rows.values()])
    links = wikilinks(reader, [row.path for row in rows.values()])
    lines = chunk_lines.of(reader, sorted(scored.passages.values()))
    hints = best_chunks.lines_of(reader, scored.places, scored.word_ranking) if scored.word_ranking else {}
    uncompared = [doc for place, doc in zip(scored.places, docs, strict=True) if place not in scored.cosines]
    waiting = vectors.waiting(reader, uncompared) if scored.cosines else set()
    sought = _sought(request, scored.word_ranking)
    shown = []
    unavailable = ""
    for place, score, doc in zip(scored.places, scored.scores, docs, strict=True):
        row = rows[doc]
        note = None
        try:
            note = None if unavailable else tools.read(row.path)
        except VaultUnavailable as error:
            unavailable = SecondBrainError(error.message).sentences
        near = lines.get(scored.passages.get(place, -1))
        snippet = Snippet()
        if note is not None:
            spans = (near, hints.get(place))
            snippet = _snippet(note, sought, spans, tools.settings.snippet_chars, found=_found(scored, place))
        shown.append(
            Hit(
                path=row.path,
                title=row.title or stem_of(row.path),
                wikilink=links[row.path],
                folder=folder_of(row.path),
                tags=tuple(tags[row.path]),
                modified=row.modified,
                score=score,
                matched=_matched(place, score, scored),
                snippet=snippet,
                note=_remark(waiting=doc in waiting, gone=note is None, unavailable=unavailable),
                evidence=_evidence(reader, place, scored) if tools.settings.explain else Evidence(),
            )
        )
    if unavailable:
        scored.warnings.append(f"{unavailable} Excerpts need the notes themselves.")
    fitted = within_budget(shown, tools.settings.result_budget)
    if len(fitted) < len(shown):
        scored.warnings.append(f"{len(fitted)} of {len(shown)} hits are shown: more do not fit in the answer's budget.")
    return fitted


def _remark(*, waiting: bool, gone: bool, unavailable: str) -> str:
    if gone:
        return "" if unavailable else MOVED
    return "not embedded yet" if waiting else ""


def _matched(place: int, score: float | None, scored: Scored) -> str:
    if score is None:
        return "filters"
    by_words = _found(scored, place)
    if by_words and place in scored.cosines:
        return "both"
    return "words" if by_words or place not in scored.cosines else "meaning"


def _sought(request: Request, ranking: WordRanking | None) -> snippets.Sought | None:
    """What excerpts are chosen by; None without text."""
    if ranking is None:
        return None
    idf = [max(float(value), 0.1) for value in ranking.idf]
    weights = {
        variant.term: variant.weight * value
        for concept, value in zip(ranking.concepts, idf, strict=True)
        for variant in concept.variants
    }
    return snippets.Sought(weights, request.query.phrases, sum(idf))


def _found(scored: Scored, place: int) -> bool:
    """Whether the note holds a word of the query."""
    return scored.word_ranking is not None and bool(scored.word_ranking.matched[place])


def _snippet(
    note: Outline,
    sought: snippets.Sought | None,
    spans: tuple[tuple[int, int] | None, tuple[int, int] | None],
    limit: int,
    *,
    found: bool,
) -> Snippet:
    if sought is None:
        return snippets.beginning(note, limit)
    near, within = spans
    if near and not found:
        sought = replace(sought, weights={})  # looking for words in all lines of what has none takes long
    return snippets.best_passage(note, sought, limit=limit, near=near, within=within)


def _evidence(reader: Reader, place: int, scored: Scored) -> Evidence:
    ranking = scored.word_ranking
    if ranking is None:
        return Evidence(cosine=scored.cosines.get(place))
    bits = int(ranking.matched[place])
    found = [concept for number, concept in enumerate(ranking.concepts) if bits >> number & 1]
    fields = {
        field
        for concept in found
        for variant in concept.variants
        for field in _fields_with(reader, variant.term, place)
    }
    highest = max(float(ranking.score.max(initial=0.0)), 1e-12)
    return Evidence(
        words=tuple(_spelling(concept) for concept in found),
        missing=tuple(concept.word for number, concept in enumerate(ranking.concepts) if not bits >> number & 1),
        fields=tuple(field for field in (*FIELDS, "body") if field in fields),
        word_share=float(ranking.score[place]) / highest,
        cosine=scored.cosines.get(place),
        named=place in scored.named,
    )


def _spelling(concept: Concept) -> str:
    """A word of the query, or what was searched in its place."""
    return f"{concept.variants[1].term} (for {concept.word})" if concept.corrected_from else concept.word


def _fields_with(reader: Reader, term: str, place: int) -> list[str]:
    places, found = reader.occurrences(term)
    where = np.flatnonzero(places == place)
    if not len(where):
        return []
    index = int(where[0])
    named = [field for number, field in enumerate(FIELDS) if found.field_tf(number)[index]]
    return [*named, "body"] if found.body_tf[index] else named


def wikilinks(reader: Reader, paths: list[str]) -> dict[str, str]:
    """``[[stem]]`` for each path, path-qualified when another visible note has the same stem (case and form aside)."""
    counts = {path: _namesakes(reader, path) for path in paths}
    return {path: f"[[{stem_of(path) if counts[path] == 1 else path[:-3]}]]" for path in paths}


def _namesakes(reader: Reader, path: str) -> int:
    """How many visible notes have the stem of *path*, itself included."""
    key = _name_key(path)
    found = sum(_stem_key(name) == key for name in catalog.stems(reader, value_key(stem_of(path))))
    # A note of a first-version database has no names before its first sync.
    return found or reader.derived("stems", lambda: _stem_counts(reader))[key]


def _stem_counts(reader: Reader) -> Counter[str]:
    return Counter(map(_name_key, catalog.paths(reader)))


def _name_key(path: str) -> str:
    return _stem_key(stem_of(path))


def _stem_key(stem: str) -> str:
    return unicodedata.normalize("NFC", stem).casefold()


def within_budget(shown: list[Hit], budget: int) -> list[Hit]:
    """Shrink snippets evenly until the answer fits in *budget* tokens; drop the last hits only when that is not enough."""
    if not shown or _tokens(shown) <= budget:
        return shown
    limit = max(len(hit.snippet.text) for hit in shown)
    while limit > LEAST_SNIPPET:
        limit = max(LEAST_SNIPPET, limit * 3 // 4)
        fitted = [replace(hit, snippet=snippets.shortened(hit.snippet, limit)) for hit in shown]
        if _tokens(fitted) <= budget:
            return fitted
    fitted = [replace(hit, snippet=snippets.shortened(hit.snippet, LEAST_SNIPPET)) for hit in shown]
    while len(fitted) > 1 and _tokens(fitted) > budget:
        fitted.pop()
    return fitted


def _tokens(shown: list[Hit]) -> int:
    return sum(tokencount.estimate(_rendered(hit)) for hit in shown)


def _rendered(hit: Hit) -> str:
    """What an agent is given of a hit."""
    return json.dumps(hit.as_json(), ensure_ascii=False, separators=(",", ":"))
