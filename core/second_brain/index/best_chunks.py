"""In which chunk of a note the words of a query stand closest together, told by positions alone: no text is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from second_brain.index.numbers import numbers
from second_brain.index.postings import is_among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader
    from second_brain.index.words import WordRanking


def lines_of(reader: Reader, places: Sequence[int], ranking: WordRanking) -> dict[int, tuple[int, int]]:
    """First and last line of the best chunk by words of each note at *places*; notes without a word in their body are left out."""
    if not places or not ranking.concepts:
        return {}
    docs = reader.columns.docs[np.array(places, dtype=np.intp)].tolist()
    chunks = _chunks(reader, docs)
    worth = {doc: np.zeros(len(rows)) for doc, rows in chunks.items()}
    firsts = {doc: np.array([row[0] for row in rows]) for doc, rows in chunks.items()}
    for concept, idf in zip(ranking.concepts, ranking.idf.tolist(), strict=True):
        for variant in concept.variants:
            for doc, positions in _positions(reader, variant.term, places, docs):
                if doc in firsts:
                    where = np.searchsorted(firsts[doc], positions, side="right") - 1
                    held = np.zeros(len(firsts[doc]))
                    held[where[where >= 0]] = variant.weight * max(idf, 0.1)
                    worth[doc] += held
    best = {doc: int(value.argmax()) for doc, value in worth.items() if value.any()}
    return {
        place: (chunks[doc][best[doc]][1], chunks[doc][best[doc]][2])
        for place, doc in zip(places, docs, strict=True)
        if doc in best
    }


def _chunks(reader: Reader, docs: Sequence[int]) -> dict[int, list[tuple[int, int, int]]]:
    """(first token, first line, last line) of the chunks of each note, in order, of one layout."""
    rows = reader.connection.execute(
        "SELECT doc, first_token, start_line, end_line FROM chunks WHERE doc IN carray(?)"
        " AND layout = (SELECT max(layout) FROM chunks AS c WHERE c.doc = chunks.doc) ORDER BY doc, ordinal",
        (numbers(docs),),
    )
    found: dict[int, list[tuple[int, int, int]]] = {}
    for doc, first, start, end in rows:
        found.setdefault(doc, []).append((first, start, end))
    return found


def _positions(
    reader: Reader, term: str, places: Sequence[int], docs: Sequence[int]
) -> list[tuple[int, NDArray[np.uint32]]]:
    """Where *term* stands in the bodies of the notes at *places*, by doc."""
    held, found = reader.occurrences(term)
    if not len(held):
        return []
    ends = np.cumsum(found.body_tf)
    wanted = np.flatnonzero(is_among(held, np.sort(np.array(places, dtype=np.int64))))
    doc_at = dict(zip(places, docs, strict=True))
    return [
        (doc_at[int(held[index])], found.positions[ends[index] - found.body_tf[index] : ends[index]])
        for index in wanted.tolist()
        if found.body_tf[index]
    ]
