"""Where notes name another in plain text: its title, file name and aliases outside of links, code and frontmatter.

Case and Unicode form make no difference, a blank stands for any white space with at most one line break.  A name ends where a word
does, in scripts without blanks anywhere.  The time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from second_brain.index import exact as quoted
from second_brain.index.text import continues, exact, exact_places, in_spaced_word
from second_brain.reading.kept_blocks import Runs, runs_of
from second_brain.reading.sources import Source
from second_brain.reading.trimming import Mention
from second_brain.vault.inline import plain_stretches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader

_QUOTE_MARKS = r"[^\S\n]*(?:>[^\S\n]*)*"
_BLANK = rf"(?:[^\S\n]+(?:\n{_QUOTE_MARKS})?|\n{_QUOTE_MARKS})"

# Nothing in it can begin or end something else, so the scanner finds a link here or something around it that is no plain text.
_WIKILINK = re.compile(r"\[\[[^\[\]|\n`$%<>\\]+(?:\\?\|[^\[\]\n`$%<>\\]*)?\]\]")
_MARKS = re.compile(r"[`%<$\[#\\]|://|www\.|mailto:")  # without any of these a run is nothing but text


def plain_mentions(reader: Reader, names: Sequence[str], endings: Sequence[str]) -> Iterator[Source]:
    """The notes that hold any of *names*, which one of *endings* may follow, as plain text; in path order."""
    wanted = PlainNames(names, endings)
    if not wanted.names:
        return
    for path, doc, text, folded in quoted.texts(reader, _holders(reader, wanted)):
        rows = wanted.rows_in(folded.decode())
        if rows and (mentions := wanted.mentions_in(text, runs_of(reader, doc, text), rows)):
            yield Source(path, doc, mentions, len(mentions), len(mentions) * wanted.shortest // 4)


def _holders(reader: Reader, wanted: PlainNames) -> NDArray[np.bool_]:
    """The notes that hold the longest word of a name."""
    mask = np.zeros(len(reader.columns), dtype=np.bool_)
    for word in sorted({name.longest for name in wanted.names}):
        mask |= quoted.holders(reader, word)
    return mask


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in its folded form."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    endings: tuple[str, ...]  # the longest first, none last

    @property
    def longest(self) -> str:
        return max(self.words, key=len)

    def found_in(self, folded: str) -> Iterator[tuple[int, int]]:
        """Start and end of each occurrence, overlapping ones too."""
        position = 0
        while match := self.pattern.search(folded, position):
            if end := self._end(folded, *match.span()):
                yield match.start(), end
            position = match.start() + 1

    def _end(self, folded: str, start: int, end: int) -> int:
        """Where the name that stands from *start* to *end* ends, with its ending; 0 when it is a part of a word."""
        if in_spaced_word(folded[start]) and start and in_spaced_word(_beyond(folded, start - 1, -1)):
            return 0
        for ending in self.endings:
            last = end + len(ending)
            if folded.startswith(ending, end) and _is_bound(folded, last):
                return last
        return 0


def _is_bound(folded: str, end: int) -> bool:
    if end >= len(folded):
        return True
    if continues(folded[end]):
        return False
    return not (in_spaced_word(folded[end - 1]) and in_spaced_word(_beyond(folded, end, 1)))


def _beyond(folded: str, position: int, step: int) -> str:
    """The first character from *position* on that is no underscore, as these also emphasise; few of them are passed over."""
    for place in range(position, position + 3 * step, step):
        if not 0 <= place < len(folded):
            return "\n"
        if folded[place] != "_":
            return folded[place]
    return "\n"


class PlainNames:
    """The names of one note."""

    def __init__(self, names: Sequence[str], endings: Sequence[str]) -> None:
        after = sorted({form for ending in endings for form in _apostrophes(exact(ending))}, key=len, reverse=True)
        folded = dict.fromkeys(tuple(exact(name).split()) for name in names)
        self.names = [
            _Name(words, re.compile(_BLANK.join(map(re.escape, words))), (*after, "")) for words in folded if words
        ]
        self.shortest = min((sum(map(len, name.words)) for name in self.names), default=0)

    def rows_in(self, folded: str) -> list[int]:
        """Rows (from 0) of a folded text on which names begin, but for most of those that stand in wikilinks."""
        if "\\[[" not in folded:
            folded = _WIKILINK.sub("\0", folded)
        if not any(name.longest in folded for name in self.names):
            return []
        starts = sorted({start for name in self.names for start, _ in name.found_in(folded)})
        rows: list[int] = []
        position = row = 0
        for start in starts:
            row += folded.count("\n", position, start)
            position = start
            rows.append(row)
        return list(dict.fromkeys(rows))

    def mentions_in(self, text: str, runs: Runs, rows: Iterable[int]) -> list[Mention]:
        """Where they stand in the *runs* of running text that begin names on *rows*, in order; the longest of those that overlap."""
        lines = text.split("\n")
        found: list[Mention] = []
        for place in dict.fromkeys(bisect_right(runs.starts, row) - 1 for row in rows):
            start, end = (runs.starts[place], runs.ends[place]) if place >= 0 else (0, 0)
            found += self._in_run("\n".join(lines[start:end]), start + 1)
        return found

    def _in_run(self, run: str, line: int) -> Iterator[Mention]:
        folded, places = exact_places(run)
        spans = [(start, end) for name in self.names for start, end in name.found_in(folded)]
        if not spans:
            return
        plain = list(plain_stretches(run)) if _MARKS.search(run) else [(0, len(run))]
        placed = [(places[start], max(places[end - 1] + 1, places[end])) for start, end in _apart(spans, len(folded))]
        starts = [0, *(match.end() for match in re.finditer("\n", run))]
        for start, end in placed:
            stretch = bisect_right(plain, (start, len(run))) - 1
            if stretch >= 0 and end <= plain[stretch][1]:
                first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
                yield Mention(line + first, start - starts[first], line + last)


def _apostrophes(ending: str) -> tuple[str, str]:
    """*ending* with the apostrophe of the keyboard and with that of printers."""
    typed = ending.replace("\u2019", "'")
    return typed, typed.replace("'", "\u2019")


def _apart(spans: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The longest of those that overlap, in order."""
    taken = bytearray(length)
    kept = []
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            kept.append((start, end))
    return sorted(kept)
