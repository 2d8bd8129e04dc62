"""Passages for language models: hybrid retrieval by chunk, with the parameters and scores that ``rag.search`` documents.

Words and meaning rank the chunks that pass the filters; both lists are cut at `top_k` and fused by reciprocal ranks (k = 60).
Pure functions of the index, the embedder and the clock that they are given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from second_brain.errors import EmbedderUnavailable, InvalidParameter
from second_brain.index import catalog, chunk_parts, chunk_table, chunk_vectors, chunk_words
from second_brain.index.text import query_terms
from second_brain.network import network_of
from second_brain.search import rag_filters, rag_hits
from second_brain.search.fusion import RRF_K, reciprocal_ranks
from second_brain.search.query import clean
from second_brain.search.rag_hits import RankedChunk
from second_brain.search.request import MOST_EMBEDDED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from second_brain.index.chunk_table import ChunkTable
    from second_brain.index.reader import Reader
    from second_brain.search.engine import QueryEmbedder
    from second_brain.search.rag_filters import Allowed, RagFilters

MOST_RESULTS = 50
HALF_LIFE_S = 30 * 86_400.0
EVERYTHING = "*"
"""The query that lists chunks instead of ranking them."""


@dataclass(frozen=True, slots=True)
class _Ask:
    """Valid arguments; `text` is the query trimmed, in lower case, with single spaces."""

    text: str
    filters: RagFilters
    top_k: int
    min_score: float | None
    recency_boost: float


@dataclass(slots=True)
class _Rankings:
    """What both sides say of the allowed chunks: rows best first, and the figures behind (`words` 0 without a match)."""

    by_words: NDArray[np.intp]
    words: NDArray[np.float64]
    by_meaning: NDArray[np.intp]
    cosines: dict[int, float]


def rag_search(
    reader: Reader,
    *,
    query: str,
    filters: Mapping[str, Any] | None = None,
    top_k: int = 10,
    min_score: float | None = None,
    verbose: bool = True,
    recency_boost: float = 0.0,
    exclude_status: Sequence[str] = (),
    embedder_for: Callable[[str], QueryEmbedder | None],
    now: float,
) -> dict[str, Any]:
    """``{query, hits[], warnings[]?}``, the best `top_k` chunks first; *query* comes back as given.

    Of a hit, ``score`` is the fused one, ``semantic_score`` the cosine (null without a vector), ``keyword_score`` BM25 (positive:
    what SQLite calls ``-bm25``; null unless the chunk holds all words; 0 in a list of everything, query ``*``).  `min_score` is a
    cosine: chunks below it or without one are dropped before the cut.  `recency_boost` adds up to 1/61, halved every 30 days
    of age at *now* (epoch seconds).  *exclude_status* holds unless the filters name their own.

    Without an embedder words alone rank and a warning says so.  Raises `InvalidParameter`, before anything is embedded.
    """
    _check_text(query)
    _check_numbers(top_k, min_score, recency_boost)
    _check_flag(verbose)
    ask = _Ask(
        " ".join(clean(query).lower().split()),
        rag_filters.parse(filters, exclude_status),
        top_k,
        min_score,
        float(recency_boost),
    )
    asked = _asked(reader, ask, embedder_for)
    with reader.snapshot():
        ranked, warnings = _find(reader, ask, asked, now)
        hits = rag_hits.show(reader, ranked, verbose=verbose)
    return {"query": query, "hits": hits, **({"warnings": warnings} if warnings else {})}


def rag_query(reader: Reader, *, top_k: int = 8, **arguments: Any) -> dict[str, Any]:
    """``{citations[{chunk_id, path, heading_path}], chunks[], debug_scores[], warnings[]?}``.

    Arguments, errors and chunks are those of `rag_search`; no answer is written.
    """
    found = rag_search(reader, top_k=top_k, **arguments)
    chunks = found["hits"]
    return {
        "citations": [
            {"chunk_id": hit["chunk_id"], "path": place["path"], "heading_path": place["heading_path"]}
            for hit in chunks
            for place in [hit.get("metadata", hit)]
        ],
        "chunks": chunks,
        "debug_scores": [hit["score"] for hit in chunks],
        **({"warnings": found["warnings"]} if "warnings" in found else {}),
    }


def rag_note_context(
    reader: Reader, note_path: str, *, resolve: Callable[[str], str | None] | None = None
) -> dict[str, Any]:
    """``{note_path, chunk_ids[], chunk_count, outlinks[], backlinks[]}``, without any text.

    *resolve* turns the argument into the path of a note (default: it is one).  Outlinks are targets as written, backlinks
    paths of other notes, both sorted and unique.  A note that nobody knows has none of all that.  Raises `InvalidParameter`
    when *note_path* is blank.
    """
    if not isinstance(note_path, str) or not note_path.strip():
        raise InvalidParameter("note_path: it is blank", hint="Give the path of a note.", parameter="note_path")
    with reader.snapshot():
        path = clean(note_path) if resolve is None else resolve(note_path)
        row = catalog.note_at(reader, path) if path is not None else None
        if row is None:
            return {"note_path": note_path, "chunk_ids": [], "chunk_count": 0, "outlinks": [], "backlinks": []}
        table = chunk_table.of(reader)
        places, _ = reader.columns.places(np.array([row.doc], dtype=np.int64))
        chunks = table.ids[table.rows_at(int(places[0]))].tolist()
        parts = chunk_parts.read(reader, chunks)
        return {
            "note_path": row.path,
            "chunk_ids": [rag_hits.chunk_id(parts[chunk]) for chunk in chunks],
            "chunk_count": len(chunks),
            "outlinks": sorted(chunk_parts.link_targets(reader, [row.doc])[row.doc]),
            "backlinks": sorted({link.source for link in network_of(reader).links_to(row.path)}),
        }


# -- arguments --------------------------------------------------------------------------------------------------------------


def _check_text(query: Any) -> None:
    if not isinstance(query, str) or not clean(query).strip():
        raise InvalidParameter("query: there is nothing to look for", hint="Give some words.", parameter="query")


def _check_numbers(top_k: Any, min_score: Any, recency_boost: Any) -> None:
    if not isinstance(top_k, int) or not _is_between(top_k, 1, MOST_RESULTS):
        raise _not_acceptable("top_k", top_k, f"a whole number from 1 to {MOST_RESULTS}")
    if min_score is not None and not _is_between(min_score, -1.0, 1.0):
        raise _not_acceptable("min_score", min_score, "a number from -1 to 1, or null")
    if not _is_between(recency_boost, 0.0, 1.0):
        raise _not_acceptable("recency_boost", recency_boost, "a number from 0 to 1")


def _check_flag(verbose: Any) -> None:
    if not isinstance(verbose, bool):
        raise _not_acceptable("verbose", verbose, "true or false")


def _is_between(value: Any, low: float, high: float) -> bool:
    """Also False for NaN, and for true and false, which are no numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _not_acceptable(parameter: str, value: Any, wanted: str) -> InvalidParameter:
    return InvalidParameter(
        f"{parameter}: {str(value)[:40]} is not {wanted}", hint=f"Give {wanted}.", parameter=parameter
    )


# -- ranking ----------------------------------------------------------------------------------------------------------------


def _find(reader: Reader, ask: _Ask, asked: _Asked, now: float) -> tuple[list[RankedChunk], list[str]]:
    table = chunk_table.of(reader)
    allowed = rag_filters.allowed(reader, table, ask.filters)
    vector, problems = _query_vector(table, ask, asked)
    rankings = _rank(reader, table, ask, allowed, vector)
    scores = reciprocal_ranks([rankings.by_words.tolist(), rankings.by_meaning.tolist()])
    if ask.min_score is not None:
        scores = {row: scores[row] for row in rankings.by_meaning.tolist()}
    rows = np.array(sorted(scores), dtype=np.intp)
    totals = np.array([scores[row] for row in rows.tolist()]) + _recency(reader, table, rows, ask.recency_boost, now)
    order = np.lexsort((rows, -totals))[: ask.top_k]
    best, totals = rows[order], totals[order]
    cosines = _completed(reader, table, best, vector, rankings.cosines)
    listing = ask.text == EVERYTHING
    ranked = [
        RankedChunk(
            id=int(table.ids[row]),
            score=float(total),
            cosine=cosines.get(row),
            words=0.0 if listing else float(rankings.words[row]) or None,
        )
        for row, total in zip(best.tolist(), totals, strict=True)
    ]
    return ranked, [*rag_filters.warnings(reader, ask.filters), *problems]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the embedder of `fingerprint` said of the query: its vector, or why there is none."""

    fingerprint: str | None = None
    vector: NDArray[np.float32] | None = None
    problem: str = ""


def _asked(reader: Reader, ask: _Ask, embedder_for: Callable[[str], QueryEmbedder | None]) -> _Asked:
    """Ask the embedder, outside of any snapshot: it may take long, and others want the reader."""
    with reader.snapshot():
        table = chunk_table.of(reader)
    if not len(table) or table.model is None or not table.embedded or not _needs_meaning(ask):
        return _Asked()
    fingerprint = table.model.fingerprint
    embedder = embedder_for(fingerprint)
    if embedder is None:
        return _Asked(fingerprint, problem="The model that made the vectors is not configured")
    try:
        return _Asked(fingerprint, embedder.embed_query(ask.text[:MOST_EMBEDDED]))
    except EmbedderUnavailable:
        return _Asked(fingerprint, problem="The embedder cannot be reached")


def _needs_meaning(ask: _Ask) -> bool:
    return ask.text != EVERYTHING or ask.min_score is not None


def _query_vector(table: ChunkTable, ask: _Ask, asked: _Asked) -> tuple[NDArray[np.float32] | None, list[str]]:
    """The vector of the query, None when meaning cannot be asked or need not be; and what to say about it."""
    if not len(table) or not _needs_meaning(ask):
        return None, []
    outcome = "found by words alone" if ask.min_score is None else "without it nothing can reach min_score"
    if table.model is None or not table.embedded:
        return None, [f"Nothing is embedded yet: {outcome}."]
    if asked.vector is None or asked.fingerprint != table.model.fingerprint:
        return None, [f"{asked.problem or 'The model was changed meanwhile'}: {outcome}."]
    problems = []
    if len(ask.text) > MOST_EMBEDDED:
        problems.append(f"Of this long query the first {MOST_EMBEDDED} characters are compared by meaning.")
    if table.embedded < len(table):
        problems.append(f"{table.embedded} of {len(table)} passages are embedded; the others are found by words alone.")
    return asked.vector, problems


def _rank(
    reader: Reader, table: ChunkTable, ask: _Ask, allowed: Allowed, vector: NDArray[np.float32] | None
) -> _Rankings:
    """Both rankings, each cut at `top_k`, or whole when `min_score` decides what is left."""
    limit = ask.top_k if ask.min_score is None else None
    words = np.ones(len(table)) if ask.text == EVERYTHING else _word_scores(reader, table, ask.text)
    rows = np.flatnonzero(words if allowed.rows is None else np.where(allowed.rows, words, 0.0))
    by_words = rows[np.lexsort((rows, -words[rows]))][:limit]
    if vector is None or table.model is None:
        return _Rankings(by_words, words, np.empty(0, dtype=np.intp), {})
    if limit is not None and not allowed.by_chunk:
        near, cosines = chunk_vectors.nearest(reader, table, table.model, vector, notes=allowed.notes, limit=limit)
    else:
        candidates = np.arange(len(table)) if allowed.rows is None else np.flatnonzero(allowed.rows)
        least = -math.inf if ask.min_score is None else ask.min_score
        near, cosines = chunk_vectors.among(reader, table, table.model, vector, candidates, least=least, limit=limit)
    return _Rankings(by_words, words, near, dict(zip(near.tolist(), cosines.tolist(), strict=True)))


def _word_scores(reader: Reader, table: ChunkTable, text: str) -> NDArray[np.float64]:
    return chunk_words.scores(reader, table, [term for term, _ in query_terms(text)])


def _recency(
    reader: Reader, table: ChunkTable, rows: NDArray[np.intp], boost: float, now: float
) -> NDArray[np.float64]:
    """What youth adds to each of *rows*: boost/61 at age 0, half of it after 30 days, nothing without a time stamp."""
    if not boost:
        return np.zeros(len(rows))
    docs = reader.columns.docs[table.places[rows]]
    mtimes = chunk_parts.mtimes(reader, docs.tolist())
    ages = np.array([max(0.0, now - mtimes[doc]) if doc in mtimes else math.inf for doc in docs.tolist()])
    return np.asarray(boost / (RRF_K + 1) * np.exp2(-ages / HALF_LIFE_S))


def _completed(
    reader: Reader,
    table: ChunkTable,
    rows: NDArray[np.intp],
    vector: NDArray[np.float32] | None,
    known: dict[int, float],
) -> dict[int, float]:
    """The cosines of *rows*, those included that words alone found."""
    missing = np.array([row for row in rows.tolist() if row not in known], dtype=np.intp)
    if vector is None or table.model is None or not len(missing):
        return known
    found, cosines = chunk_vectors.among(reader, table, table.model, vector, missing)
    return {**known, **dict(zip(found.tolist(), cosines.tolist(), strict=True))}
