"""All terms of a text that the index stores, in bulk: as `text.tokens`, with less work for each of them."""

from __future__ import annotations

import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from second_brain.index.text import MAY_CONTINUE, SHAPES, UNSPACED, WORD, analyse, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

PAIR_BITS: Final = 21
"""What a character's number takes."""

_UNCACHED_FROM: Final = "\u0e00"  # words from here on are mostly unspaced runs that never come again

_Analysed = str | tuple[tuple[tuple[str, int], ...], int]
"""The terms of a word with their positions, and how many positions it takes; most words are one term."""


@dataclass(frozen=True, slots=True)
class PlacedTerms:
    """The terms of a text and their positions (as in `Token`), in any order.

    `pairs` holds two characters of an unspaced script in one number, the second in the lower `PAIR_BITS` bits, 0 at the end of a
    run; all other terms stand in `names`.  `ends` tells where each of the texts ends.
    """

    names: list[str]
    positions: NDArray[np.uint32]
    pairs: NDArray[np.uint64]
    pair_positions: NDArray[np.uint32]
    ends: tuple[int, ...]


def terms(text: str) -> list[tuple[str, int]]:
    """All (term, position) of a text that the index stores, in any order."""
    placed = placed_terms([text])
    named = zip(placed.names, placed.positions.tolist(), strict=True)
    return [*named, *zip(pair_names(placed.pairs), placed.pair_positions.tolist(), strict=True)]


def term_names(text: str) -> list[str]:
    """The terms alone; faster for a short text."""
    found = _Collector()
    found.add(text)
    return found.names + [run[place : place + 2] for run in found.runs for place in range(len(run))]


def placed_terms(texts: Iterable[str]) -> PlacedTerms:
    """The terms of texts that follow one another."""
    found = _Collector()
    ends = []
    for text in texts:
        found.add(text)
        ends.append(found.position)
    pairs, pair_positions = _pairs_of(found.runs, found.run_places)
    return PlacedTerms(found.names, np.frombuffer(found.places, dtype=np.uint32), pairs, pair_positions, tuple(ends))


class _Collector:
    """Takes texts apart that follow one another; whole `runs` of plain unspaced text begin at `run_places`."""

    __slots__ = ("names", "places", "position", "run_places", "runs")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.places = array("I")
        self.runs: list[str] = []
        self.run_places = array("I")
        self.position = 0

    def add(self, text: str) -> None:
        marked = not text.isascii() and MAY_CONTINUE.search(text) is not None
        for word in WORD.findall(text):
            if word < _UNCACHED_FROM:
                found = _known(word)
                if isinstance(found, str):  # as nearly all are
                    self.names.append(found)
                    self.places.append(self.position)
                    self.position += 1
                else:
                    self._take(found)
            elif _is_plain(word, marked=marked):
                self._take_plain(word)
            else:
                self._take(_analysed(word))

    def _take(self, found: _Analysed) -> None:
        pairs, width = (((found, 0),), 1) if isinstance(found, str) else found
        for term, shift in pairs:
            self.names.append(term)
            self.places.append(self.position + shift)
        self.position += width

    def _take_plain(self, word: str) -> None:
        for run in _runs().findall(word):
            if SHAPES[run[0]] == "c":
                self.runs.append(run)
                self.run_places.append(self.position)
                self.position += len(run)
            else:
                self._take(_known(run))


def pair_names(pairs: NDArray[np.uint64]) -> list[str]:
    """The terms that *pairs* stand for."""
    second = np.uint64((1 << PAIR_BITS) - 1)
    letters = zip((pairs >> np.uint64(PAIR_BITS)).tolist(), (pairs & second).tolist(), strict=True)
    return [chr(one) + chr(other) if other else chr(one) for one, other in letters]


_NONE = np.empty(0, dtype=np.uint32)
_NO_PAIRS = np.empty(0, dtype=np.uint64)


def _is_plain(word: str, *, marked: bool) -> bool:
    """Whether the unspaced characters of a word are their own folded form."""
    return unicodedata.is_normalized("NFKC", word) and not (marked and MAY_CONTINUE.search(word))


def _analysed(word: str) -> _Analysed:
    pieces, width = analyse(word)
    stored = tuple([(term, position) for term, position, _, _, _, stored in pieces if stored])
    return stored[0][0] if width == 1 and len(stored) == 1 else (stored, width)


_known: Final = lru_cache(maxsize=1 << 15)(_analysed)


def position_starts(word: str) -> array[int]:
    """Where in a run of word characters each of its positions begins, ascending."""
    starts = array("I")
    for match in _runs().finditer(word) if _is_plain(word, marked=True) else ():
        if SHAPES[match[0][0]] == "c":
            starts.extend(range(match.start(), match.end()))
        else:
            starts.extend(match.start() + place for place in _starts(match[0]))
    return starts or array("I", _starts(word))


def _starts(word: str) -> list[int]:
    first: dict[int, int] = {}
    for _, position, place, *_ in analyse(word)[0]:
        first.setdefault(position, place)
    return [first[position] for position in sorted(first)]


def forget() -> None:
    """Give back what is kept of the words seen so far, some 15 MB after very many notes."""
    _known.cache_clear()
    stem.cache_clear()


@lru_cache(maxsize=1)
def _runs() -> re.Pattern[str]:
    """Runs of unspaced scripts and of others; compiled when first met, which takes 15 ms."""
    return re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")


def _pairs_of(runs: Sequence[str], starts: Sequence[int]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """The pairs of plain runs that begin at the positions *starts*, the last character of each by itself."""
    if not runs:
        return _NO_PAIRS, _NONE
    letters = np.frombuffer("".join(runs).encode("utf-32-le"), dtype="<u4").astype(np.uint64)
    sizes = np.fromiter(map(len, runs), dtype=np.int64, count=len(runs))
    ends = np.cumsum(sizes)
    following = np.append(letters[1:], np.uint64(0))
    following[ends - 1] = 0
    shift = np.array(starts, dtype=np.int64) - (ends - sizes)
    positions = np.arange(len(letters)) + np.repeat(shift, sizes)
    return (letters << np.uint64(PAIR_BITS)) | following, positions.astype(np.uint32)
