"""Answer a query from the index.

`search` is a function of the database, the notes it shows and the embedder; it writes nothing and keeps nothing between calls.
Filters narrow the notes *before* anything is ranked, so `top_k` counts within the filtered set.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from second_brain.errors import EmbedderUnavailable
from second_brain.index import catalog, vectors, words
from second_brain.index.text import is_english
from second_brain.search import fusion, hits, narrowing
from second_brain.search.answer import Answer
from second_brain.search.request import MOST_EMBEDDED, Ranking, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader
    from second_brain.index.words import WordRanking
    from second_brain.vault.outline import Outline

POOL = 200
"""So many notes of each ranking take part in the fusion."""
NO_WORD = "No note{} has any of these words; these are the nearest in meaning."


class QueryEmbedder(Protocol):
    """What the engine needs of an embedder."""

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that the model covers; None for many or unknown."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """A unit vector; raises `EmbedderUnavailable`."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """How answers look: `snippet_chars` per hit, `result_budget` tokens in all, `explain` to fill `Hit.evidence`.

    Notes whose frontmatter `status` is one of *exclude_status* are no hits.
    """

    snippet_chars: int = 400
    result_budget: int = 4_000
    explain: bool = False
    exclude_status: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tools:
    """What a search may use besides the index.

    `read(path)` gives a note as it is on disk now, redacted, or None when it is gone; `embedder_for(fingerprint)` the embedder
    that made those vectors, or None.
    """

    read: Callable[[str], Outline | None]
    embedder_for: Callable[[str], QueryEmbedder | None]
    settings: Settings = field(default_factory=Settings)


@dataclass(slots=True)
class Scored:
    """The ranked notes before they are shown: places, scores and why, best first."""

    places: list[int]
    scores: list[float | None]
    word_ranking: WordRanking | None = None
    cosines: dict[int, float] = field(default_factory=dict)
    passages: dict[int, int] = field(default_factory=dict)  # place -> nearest chunk
    named: frozenset[int] = frozenset()
    warnings: list[str] = field(default_factory=list)
    ranking: Ranking = Ranking.BEST
    total: int = 0


def search(reader: Reader, request: Request, tools: Tools) -> Answer:
    """Rank the notes that pass the filters of *request* and show the best `top_k`.

    Without text the newest notes come first and no embedder is called.  When the embedder is unavailable, words alone rank
    and the answer says so.  Raises `InvalidParameter`, naming the field, for a tag or folder that the index does not know.
    """
    asked = embed(reader, request, tools)
    with reader.snapshot():
        narrowing.check(reader, request.query.filters)
        allowed = narrowing.allowed(reader, request.query, tools.settings.exclude_status)
        scored = rank(reader, request, tools, allowed, asked)
        shown = hits.show(reader, request, scored, tools)
        model = vectors.active_model(reader)
        message = "" if shown else narrowing.nothing_found(reader, request.query, allowed)
        return Answer(
            hits=tuple(shown),
            message=message,
            warnings=(*request.query.notes, *_cut_short(request, scored, asked), *scored.warnings),
            corrections=_corrections(scored),
            ranking=scored.ranking.value,
            total=scored.total,
            embedded=vectors.embedded(reader, model) if model else (0, 0),
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """A query's vector by the model of `fingerprint`; None where there is nothing to compare, or the embedder failed."""

    fingerprint: str | None = None
    vector: NDArray[np.float32] | None = None


def embed(reader: Reader, request: Request, tools: Tools) -> Asked:
    """Ask the embedder that made the index's vectors, outside of any snapshot: it may take long, and others want the reader.

    Raises `InvalidParameter` as `search` does, before anything is asked.
    """
    with reader.snapshot():
        narrowing.check(reader, request.query.filters)
        if request.ranking is Ranking.WORDS or not request.query.text.strip():
            return Asked()
        fingerprint = _fingerprint(reader, request.ranking)
        if fingerprint is None or not _has_vectors(reader, fingerprint):
            return Asked(fingerprint)
    embedder = tools.embedder_for(fingerprint)
    if embedder is None:
        return Asked(fingerprint)
    try:
        return Asked(fingerprint, embedder.embed_query(request.query.text[:MOST_EMBEDDED]))
    except EmbedderUnavailable:
        return Asked(fingerprint)


def _fingerprint(reader: Reader, ranking: Ranking) -> str | None:
    if ranking is Ranking.MEANING:
        return vectors.note_model(reader)
    model = vectors.active_model(reader)
    return model.fingerprint if model else None


def rank(reader: Reader, request: Request, tools: Tools, allowed: NDArray[np.bool_] | None, asked: Asked) -> Scored:
    """The best `top_k` notes of *request* among *allowed* (None: all visible ones), by what `embed` gave."""
    query = request.query
    if not query.text.strip():
        return _newest(reader, request, allowed)
    if request.ranking is Ranking.MEANING:
        scored = _by_meaning(reader, request, allowed, asked)
        if scored is not None:
            return scored
    concepts = words.concepts_of(reader, query.words, query.phrases)
    ranking = words.rank(reader, concepts, allowed)
    if query.phrases:
        # Signs alone have no words: what holds the piece is found all the same.
        ranking = replace(ranking, score=ranking.score + 1e-6)
    if request.ranking is Ranking.BEST:
        return _best(reader, request, tools, allowed, (ranking, asked))
    scored = _by_words(reader, request, allowed, ranking)
    if request.ranking is Ranking.MEANING:
        scored.warnings.append(_meaning_failed(reader, tools))
    return scored


def _newest(reader: Reader, request: Request, allowed: NDArray[np.bool_] | None) -> Scored:
    places = None if allowed is None else np.flatnonzero(allowed)
    rows = catalog.newest(reader, request.top_k, places)
    found, _ = reader.columns.places(np.array([row.doc for row in rows], dtype=np.int64))
    total = len(reader.columns) if places is None else len(places)
    return Scored(found.tolist(), [None] * len(rows), ranking=request.ranking, total=total)


def _by_words(reader: Reader, request: Request, allowed: NDArray[np.bool_] | None, ranking: WordRanking) -> Scored:
    named = _named(reader, request)
    ranking = _lifted(ranking, named)
    places = ranking.best(allowed, request.top_k)
    highest = max(float(ranking.score.max(initial=0.0)), 1e-12)
    return Scored(
        places.tolist(),
        [float(ranking.score[place]) / highest for place in places],
        word_ranking=ranking,
        named=named,
        ranking=Ranking.WORDS,
        total=_count(ranking.score, allowed),
    )


def _by_meaning(reader: Reader, request: Request, allowed: NDArray[np.bool_] | None, asked: Asked) -> Scored | None:
    """Whole-note cosine, exactly as the first version ranked; None when no embedder can answer."""
    fingerprint = vectors.note_model(reader)
    vector = asked.vector
    if fingerprint is None or vector is None or fingerprint != asked.fingerprint:
        return None
    places, cosines = vectors.note_cosines(reader, fingerprint, vector, allowed=allowed)
    order = np.lexsort((places, -cosines))[: request.top_k]
    return Scored(
        places[order].tolist(),
        cosines[order].tolist(),
        cosines=dict(zip(places[order].tolist(), cosines[order].tolist(), strict=True)),
        ranking=Ranking.MEANING,
        total=len(places),
    )


def _best(
    reader: Reader,
    request: Request,
    tools: Tools,
    allowed: NDArray[np.bool_] | None,
    found: tuple[WordRanking, Asked],
) -> Scored:
    model = vectors.active_model(reader)
    ranking, asked = found
    vector = asked.vector
    if model is None or vector is None or model.fingerprint != asked.fingerprint:
        scored = _by_words(reader, request, allowed, ranking)
        scored.ranking = Ranking.BEST
        scored.warnings.append(_meaning_failed(reader, tools))
        return scored
    named = _named(reader, request)
    ranking = _lifted(ranking, named)
    by_words = ranking.best(allowed, POOL)
    passages = vectors.nearest(reader, model, vector, allowed=allowed, limit=POOL)
    nearest = {passage.place: passage for passage in reversed(passages)}
    unknown = np.array([place for place in by_words.tolist() if place not in nearest], dtype=np.intp)
    nearest |= {passage.place: passage for passage in vectors.nearest_of_each(reader, model, vector, unknown)}
    places = np.array(sorted({*by_words.tolist(), *nearest}), dtype=np.intp)
    cosines = np.array([nearest[place].cosine if place in nearest else np.nan for place in places.tolist()])
    candidates = fusion.Candidates(places, ranking.score[places], cosines)
    weight = fusion.meaning_weight(
        covered=_covers(request, tools.embedder_for(model.fingerprint)),
        named=words.named_share(ranking.concepts),
        complete=_best_completeness(ranking),
    )
    scores = fusion.fuse(candidates, weight)
    kept = fusion.worth_showing(candidates)
    found_by_words = _count(ranking.score, allowed)
    is_named = np.array([place in named for place in places.tolist()], dtype=np.bool_)
    order = np.lexsort((places, -scores, ~is_named))
    order = order[kept[order]][: request.top_k]
    scores[is_named] = scores.max(initial=0.0)
    best = places[order].tolist()
    return Scored(
        best,
        (scores[order] * _confidence(ranking, cosines)).tolist(),
        word_ranking=ranking,
        cosines={place: passage.cosine for place, passage in nearest.items()},
        passages={place: nearest[place].chunk for place in best if place in nearest},
        named=named,
        warnings=[_no_word(allowed)] if best and not found_by_words else [],
        total=max(found_by_words, int(kept.sum())),
    )


def _no_word(allowed: NDArray[np.bool_] | None) -> str:
    return NO_WORD.format("" if allowed is None else " that passes the filters")


def _confidence(ranking: WordRanking, cosines: NDArray[np.float64]) -> float:
    """How good the best of a query is, 0..1: all its words, or all but the same meaning, make 1."""
    near = float(np.nanmax(cosines, initial=0.0))
    return min(1.0, max(_best_completeness(ranking), near))


def _covers(request: Request, embedder: QueryEmbedder | None) -> bool:
    """Whether the model was made for the language of the query."""
    languages = embedder.languages if embedder is not None else None
    if languages is None:
        return True
    return "en" in languages and is_english(term for term, _ in words.spoken(request.query.text))


def _best_completeness(ranking: WordRanking) -> float:
    return float(words.completeness(ranking.matched, ranking.idf).max(initial=0.0))


def _has_vectors(reader: Reader, fingerprint: str | None) -> bool:
    if fingerprint is not None and fingerprint.startswith("v1:"):
        return True
    model = vectors.active_model(reader)
    return model is not None and vectors.embedded(reader, model)[0] > 0


def _meaning_failed(reader: Reader, tools: Tools) -> str:
    model = vectors.active_model(reader)
    if not len(reader.columns):
        return "There is no note to search."
    if model is None or not vectors.embedded(reader, model)[0]:
        return "Nothing is embedded yet: ranked by words alone."
    if tools.embedder_for(model.fingerprint) is None:
        return "The model that made the vectors is not configured: ranked by words alone."
    return "The embedder cannot be reached: ranked by words alone."


def _named(reader: Reader, request: Request) -> frozenset[int]:
    """Places of the notes whose title, file name or alias is just what was asked for."""
    from second_brain.index.schema import value_key  # noqa: PLC0415

    docs = catalog.named(reader, value_key(request.query.text))
    places, _ = reader.columns.places(np.array(docs, dtype=np.int64))
    return frozenset(places.tolist())


def _lifted(ranking: WordRanking, named: frozenset[int]) -> WordRanking:
    """The same ranking with the notes of exactly that name on top."""
    if not named:
        return ranking
    score = ranking.score.copy()
    places = np.array(sorted(named), dtype=np.intp)
    score[places] = score[places] + float(score.max(initial=0.0)) + 1e-3
    return replace(ranking, score=score)


def _count(score: NDArray[np.float64], allowed: NDArray[np.bool_] | None) -> int:
    return int(((score > 0) & (allowed if allowed is not None else True)).sum())


def _cut_short(request: Request, scored: Scored, asked: Asked) -> list[str]:
    """What of a very long query did not count."""
    told = []
    ranking = scored.word_ranking
    if ranking is not None and len(ranking.concepts) == words.MOST_CONCEPTS:
        terms = [term for term, _ in words.spoken(request.query.text)]
        if len(set(terms) - words.stop_words_of(terms)) > words.MOST_CONCEPTS:
            told.append(f"Of this long query the first {words.MOST_CONCEPTS} different words are looked up.")
    if asked.vector is not None and len(request.query.text) > MOST_EMBEDDED:
        told.append(f"Of this long query the first {MOST_EMBEDDED} characters are compared by meaning.")
    return told


def _corrections(scored: Scored) -> tuple[tuple[str, str], ...]:
    """What was searched instead of unknown words."""
    if scored.word_ranking is None:
        return ()
    return tuple(
        (concept.corrected_from, concept.variants[1].term)
        for concept in scored.word_ranking.concepts
        if concept.corrected_from and len(concept.variants) > 1
    )
