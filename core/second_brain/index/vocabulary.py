"""The words of the notes that a reader sees: spellings of one stem, and the nearest known words to an unknown one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from second_brain.index.reader import Reader

SHORTEST_CORRECTED = 4
LONG_WORD = 8
SHORT_WORD = 4
"""In words of so many letters only swapped ones are a typing error: with another letter they are another word (root, room)."""

MOST_CORRECTIONS = 3


class Vocabulary:
    """Looks words up in the reader's index.  Terms outside the scope are dropped before anything is chosen or cut."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._words: dict[tuple[str, int], list[str]] | None = None  # by first letter and length

    def forget(self) -> None:
        """Drop what was read; the index has changed."""
        self._words = None

    def with_stem(self, root: str) -> list[str]:
        """Words of visible notes whose English stem is *root*, sorted."""
        # A word that is its own stem has no stem stored.
        rows = self._reader.connection.execute(
            "SELECT term FROM terms WHERE stem = ? UNION SELECT term FROM terms WHERE term = ? AND stem IS NULL",
            (root, root),
        )
        return sorted(term for (term,) in rows if self._reader.frequency(term))

    def near(self, word: str) -> list[tuple[str, float]]:
        """The visible words with the fewest typing errors between them and *word*, with their similarity (0..1).

        At most one error in words of up to seven letters, two in longer ones; in the shortest, two letters that are swapped.
        Transposed letters count as one, and the first letter is taken to be right: it seldom is not, and other words are only a
        letter away.
        """
        if len(word) < SHORTEST_CORRECTED or word.isdecimal():
            return []
        from rapidfuzz.distance import OSA  # noqa: PLC0415 - 9 ms that a query of known words does not need
        from rapidfuzz.process import extract  # noqa: PLC0415

        allowed = 1 if len(word) < LONG_WORD else 2
        found: list[tuple[int, int, str]] = []
        for length in range(len(word) - allowed, len(word) + allowed + 1):
            choices = self._known().get((word[0], length), [])
            if len(word) <= SHORT_WORD:
                choices = [term for term in choices if sorted(term) == sorted(word)]
            for term, distance, _ in extract(word, choices, scorer=OSA.distance, score_cutoff=allowed, limit=None):
                frequency = self._reader.frequency(term)
                if frequency:
                    found.append((int(distance), -frequency, term))
        found.sort()
        nearest = [(distance, term) for distance, _, term in found if distance == found[0][0]]
        return [(term, 1.0 - distance / max(len(word), len(term))) for distance, term in nearest[:MOST_CORRECTIONS]]

    def _known(self) -> dict[tuple[str, int], list[str]]:
        if self._words is None:
            self._words = {}
            shortest = SHORTEST_CORRECTED - 1  # shorter are mostly pairs of characters, very many of them
            rows = self._reader.connection.execute("SELECT term FROM terms WHERE length(term) >= ?", (shortest,))
            for (term,) in rows:
                self._words.setdefault((term[0], len(term)), []).append(term)
        return self._words
