"""Rank notes by their words: BM25 over weighted fields, with a bonus for completeness and for words that stand together.

Every figure (document frequencies, lengths, the vocabulary for corrections) comes from the notes that the reader sees, so a
scope learns nothing of what lies outside it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from second_brain.index import exact, postings
from second_brain.index.text import STOP_WORDS, begins_pairs, query_terms, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader

FIELD_WEIGHTS = (8.0, 6.0, 4.0, 4.0)  # title, aliases, headings, tags; the body weighs 1
K1 = 1.8
B = 0.75
STEM_WEIGHT = 0.8
CORRECTION_WEIGHT = 0.5
COMPLETE_BONUS = 0.3
ADJACENT_BONUS = 0.4
COMPOUND_BONUS = 1.5
"""For words that the query writes as one, as in DEC-0054."""

MOST_CONCEPTS = 64
ADJACENCY_POOL = 200
"""So many of the best notes are looked at for words that stand together."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One spelling of a concept in the index; `english_only` variants (stems) count in English notes only."""

    term: str
    weight: float
    english_only: bool = False


@dataclass(frozen=True, slots=True)
class Concept:
    """A word of the query: as written, where it stands first, what in the index means the same, the piece between spaces that it
    is of, and how often it stands there.
    """

    word: str
    position: int
    variants: tuple[Variant, ...]
    piece: int = 0
    times: int = 1
    corrected_from: str = ""


@dataclass(frozen=True, slots=True)
class WordRanking:
    """`score` (0 where nothing matched) and `matched` (bit i: concept i) per note of the reader's columns."""

    concepts: tuple[Concept, ...]
    score: NDArray[np.float64]
    matched: NDArray[np.uint64]
    idf: NDArray[np.float64]

    def best(self, allowed: NDArray[np.bool_] | None, limit: int) -> NDArray[np.intp]:
        """Places of the best *limit* notes that matched, best first, ties by path."""
        score = self.score if allowed is None else np.where(allowed, self.score, 0.0)
        return top(score, limit)


def top(score: NDArray[np.float64], limit: int) -> NDArray[np.intp]:
    """Places of the *limit* highest positive scores, best first, ties in place order."""
    places = np.flatnonzero(score > 0)
    if len(places) > limit:
        threshold = np.partition(score[places], len(places) - limit)[len(places) - limit]
        places = places[score[places] >= threshold]
    return places[np.lexsort((places, -score[places]))][:limit]


def concepts_of(
    reader: Reader, words: Sequence[str], phrases: Sequence[str] = (), *, correct: bool = True
) -> tuple[Concept, ...]:
    """The concepts of a query: stop words dropped (unless nothing else is there), unknown words corrected.

    Words of quoted *phrases* are meant as they are.
    """
    asked = list(_query_terms([*words, *phrases]))
    stops = stop_words_of([term for term, _, _ in asked])
    content = [each for each in asked if each[0] not in stops] or asked
    times = Counter(term for term, _, _ in content)
    first: dict[str, tuple[int, int]] = {}
    for term, position, piece in content:
        first.setdefault(term, (position, piece))
    return tuple(
        replace(
            _concept(reader, term, position, correct=correct and piece < len(words)), piece=piece, times=times[term]
        )
        for term, (position, piece) in list(first.items())[:MOST_CONCEPTS]
    )


def stop_words_of(asked: Sequence[str]) -> frozenset[str]:
    """The function words of the query's language: English unless two or more words, and more than of English, are another's.

    ``war`` is one in German, but not in a query for the cold war.
    """
    counts = {language: sum(map(stops.__contains__, asked)) for language, stops in STOP_WORDS.items()}
    language = max(counts, key=lambda each: (counts[each], each == "en"))
    return STOP_WORDS[language] if counts[language] > 1 else STOP_WORDS["en"]


def _query_terms(words: Sequence[str]) -> Iterable[tuple[str, int, int]]:
    """(term, position, which of *words*) of a query."""
    offset = 0
    for piece, word in enumerate(words):
        found = query_terms(word)
        yield from ((term, offset + position, piece) for term, position in found)
        offset += found[-1][1] + 1 if found else 0


def _concept(reader: Reader, term: str, position: int, *, correct: bool) -> Concept:
    variants = [Variant(term, 1.0)]
    root = stem(term)
    variants += [
        Variant(other, STEM_WEIGHT, english_only=True) for other in reader.vocabulary.with_stem(root) if other != term
    ]
    if correct and not any(reader.frequency(variant.term) for variant in variants):
        corrections = reader.vocabulary.near(term)
        if corrections:
            variants = [Variant(term, 1.0), *(Variant(near, CORRECTION_WEIGHT * score) for near, score in corrections)]
            return Concept(term, position, tuple(variants), corrected_from=term)
    return Concept(term, position, tuple(variants))


def rank(reader: Reader, concepts: tuple[Concept, ...], allowed: NDArray[np.bool_] | None = None) -> WordRanking:
    """Score the *allowed* notes (None: all visible ones) against *concepts*; all other scores are 0.

    Frequencies and lengths are those of all visible notes, so a filter changes no note's score.
    """
    columns = reader.columns
    n = len(columns)
    score = np.zeros(n)
    matched = np.zeros(n, dtype=np.uint64)
    idf = np.zeros(len(concepts))
    length = 1.0 - B + B * columns.words / columns.mean_words
    for number, concept in enumerate(concepts):
        frequency = _weighted_frequency(reader, concept, length)
        hits = frequency > 0
        df = int(hits.sum())
        idf[number] = np.log(1.0 + (n - df + 0.5) / (df + 0.5))
        score += concept.times * idf[number] * frequency * (K1 + 1.0) / (frequency + K1)
        matched[hits] |= np.uint64(1 << number)
    if allowed is not None:
        score[~allowed] = 0.0
        matched[~allowed] = 0
    if len(concepts) > 1:
        score *= 1.0 + COMPLETE_BONUS * completeness(matched, idf) ** 2
        _add_adjacency(reader, concepts, idf, score)
    return WordRanking(concepts, score, matched, idf)


def _weighted_frequency(reader: Reader, concept: Concept, length: NDArray[np.float64]) -> NDArray[np.float64]:
    frequency = np.zeros(len(reader.columns))
    for variant in concept.variants:
        places, found = reader.occurrences(variant.term)
        if not len(places):
            continue
        value = found.body_tf / length[places]
        for number, weight in enumerate(FIELD_WEIGHTS):
            value += weight * found.field_tf(number)
        value *= variant.weight
        if variant.english_only:
            value = value * reader.columns.english[places]
        frequency[places] += value
    return frequency


def completeness(matched: NDArray[np.uint64], idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the query's weight that a note holds."""
    share = np.zeros(len(matched))
    for number, value in enumerate(idf):
        share += value * ((matched >> np.uint64(number)) & np.uint64(1))
    return np.asarray(share / max(float(idf.sum()), 1e-9))


def _add_adjacency(
    reader: Reader, concepts: tuple[Concept, ...], idf: NDArray[np.float64], score: NDArray[np.float64]
) -> None:
    """Add to *score* for neighbours in the query that are neighbours in the text of the best notes."""
    pool = np.zeros(len(score), dtype=np.bool_)
    pool[top(score, ADJACENCY_POOL)] = True
    gain = np.zeros(len(score))
    for number, (left, right) in enumerate(pairwise(concepts)):
        distance = right.position - left.position
        if not 0 < distance <= 3:  # noqa: PLR2004 - at most two stop words between them
            continue
        together = _together(reader, left, right, distance, pool)
        bonus = COMPOUND_BONUS if left.piece == right.piece else ADJACENT_BONUS
        weight = bonus * (idf[number] + idf[number + 1]) / 2
        gain += weight * together / (together + K1) * (K1 + 1.0)
    score += gain


def _together(
    reader: Reader, left: Concept, right: Concept, distance: int, pool: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """How often *right* follows *left* at *distance*, per note of the pool."""
    first = _keys(reader, left, pool)
    second = _keys(reader, right, pool)
    count = np.zeros(len(pool))
    if len(first) and len(second):
        both = second[postings.is_among(second, first + distance)]
        np.add.at(count, both >> 32, 1.0)
    return count


def _keys(reader: Reader, concept: Concept, pool: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Note and position in one number, ascending, for the pool's notes."""
    parts = []
    for variant in concept.variants:
        places, found = reader.occurrences(variant.term)
        if not len(places):
            continue
        keep = pool[places]
        found = found.keep(keep)
        note = np.repeat(places[keep].astype(np.int64), found.body_tf)
        parts.append((note << 32) + found.positions.astype(np.int64))
    if not parts:
        return np.empty(0, dtype=np.int64)
    keys = np.concatenate(parts)
    keys.sort()
    fresh = np.ones(len(keys), dtype=np.bool_)
    fresh[1:] = keys[1:] != keys[:-1]  # two variants may be parts of one name
    return keys[fresh]


def visible(reader: Reader, term: str) -> tuple[NDArray[np.intp], postings.Postings]:
    """The places of the visible notes that hold *term*, and its occurrences in just these."""
    read = postings.read_beginning if begins_pairs(term) else postings.read
    found = read(reader.connection, reader.databases, term)
    if not len(found.docs):
        return np.empty(0, dtype=np.intp), found
    places, mask = reader.columns.places(found.docs)
    return places, found.keep(mask)


def named_share(concepts: Sequence[Concept]) -> float:
    """The share of a query that names a thing rather than means one: compound pieces (``DEC-0054``) and words with digits."""
    if not concepts:
        return 0.0
    sizes = Counter(concept.piece for concept in concepts if concept.word.isascii())
    named = [
        concept
        for concept in concepts
        if sizes[concept.piece] > 1 or (concept.word.isascii() and any(char.isdigit() for char in concept.word))
    ]
    return len(named) / len(concepts)


def spoken(text: str) -> list[tuple[str, int]]:
    """The terms of a query's text, stop words included."""
    return query_terms(text)


def holders(reader: Reader, text: str) -> NDArray[np.bool_]:
    """Which visible notes hold the word *text* as spelled; a compound, or a run without spaces, as one piece."""
    found = query_terms(text)
    if len(found) > 1:
        return exact.holders(reader, text)
    mask = np.ones(len(reader.columns), dtype=np.bool_)
    for term, _ in found:
        places, _ = reader.occurrences(term)
        holds = np.zeros(len(mask), dtype=np.bool_)
        holds[places] = True
        mask &= holds
    return mask if found else np.zeros(len(mask), dtype=np.bool_)
