"""Shorten a block that is too long to its mentions, in as many parts as they need.

A pure function of lines and places.  No part is longer than `LIMIT` characters, whatever the block holds, and every mention stands
in exactly one part.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from second_brain.reading.note_blocks import Extract

LIMIT = 1_500
"""The most characters of an excerpt, its marker included."""

_BEFORE, _BEHIND = 250, 450  # characters of a very long line that stand around a mention
_FRAMES, _MOST_FRAMES = 400, 8  # characters of all framing lines of a part; how many there can be
_INDENT = 40  # characters of white space before a framing line
_SEEK = 30  # characters within which an edge moves to the end of a word
_GAP = "…"
_JOINERS = "\u200c\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_FLAGS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))  # two of these letters are a flag
_VIRAMA = 9  # the combining class of signs that join the next consonant


class Mention(NamedTuple):
    """Where a mention begins and the line on which it ends.

    Of a link in the frontmatter `line` is the line of its key, and `target` what the link says.
    """

    line: int
    column: int
    last_line: int
    target: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A text with the mentions that it shows."""

    text: str
    mentions: tuple[Mention, ...]


class _Piece(NamedTuple):
    """Text of the lines `first` to `last` with its mentions."""

    first: int
    last: int
    text: str
    mentions: tuple[Mention, ...] = ()


def trim(lines: Sequence[str], extract: Extract, mentions: Sequence[Mention]) -> list[Part]:
    """The parts that show *mentions*, whose `line` is the one on which they really stand; in their order."""
    frame = _frame(lines, extract.frame)
    room = LIMIT - sum(len(piece.text) + 3 for piece in frame) - len(_marker(extract, len(mentions), len(mentions))) - 8
    pieces = list(_pieces(lines, mentions, room))
    packed = list(_packed(pieces, room))
    return [
        Part(
            "\n".join((*_rendered(frame, part, extract), _marker(extract, number, len(packed)))),
            tuple(mention for piece in part for mention in piece.mentions),
        )
        for number, part in enumerate(packed, 1)
    ]


def _marker(extract: Extract, part: int, parts: int) -> str:
    place = f"L{extract.start}-{extract.end}" if extract.end > extract.start else f"L{extract.start}"
    counted = f"part {part} of {parts}, " if parts > 1 else ""
    return f"[{counted}trimmed to its mentions; the block runs {place}]"


# -- what must be shown ---------------------------------------------------------------------------------------------------


def _frame(lines: Sequence[str], numbers: Sequence[int]) -> list[_Piece]:
    """The framing lines, long ones cut; of very many the innermost."""
    kept = numbers[-_MOST_FRAMES:]
    each = _FRAMES // max(1, len(kept))
    return [_Piece(number, number, _beginning(_line(lines, number), each)) for number in kept]


def _beginning(line: str, length: int) -> str:
    text = line.lstrip()
    indent = line[: min(len(line) - len(text), _INDENT)]
    return indent + (text if len(text) <= length else text[: _edge_before(text, length - 1, 0)] + _GAP)


def _pieces(lines: Sequence[str], mentions: Sequence[Mention], room: int) -> Iterator[_Piece]:
    """Whole lines where they fit, windows of those that are longer than *room*."""
    place = 0
    while place < len(mentions):
        first, last, end = mentions[place].line, mentions[place].last_line, place + 1
        while end < len(mentions) and mentions[end].line <= last:
            last, end = max(last, mentions[end].last_line), end + 1
        text = "\n".join(_line(lines, number) for number in range(first, last + 1))
        group = tuple(mentions[place:end])
        if len(text) <= room:
            yield _Piece(first, last, text, group)
        else:
            yield from _windows(lines, group, room)
        place = end


def _windows(lines: Sequence[str], mentions: Sequence[Mention], room: int) -> Iterator[_Piece]:
    """Stretches of lines around *mentions*; those that touch are one while they fit, else they follow each other."""
    before, behind = min(_BEFORE, room // 3), min(_BEHIND, room // 2)
    start = end = 0
    held: list[Mention] = []
    for mention in mentions:
        length = len(_line(lines, mention.line))
        column = min(mention.column, length)
        left, right = max(0, column - before), min(length, column + behind)
        touches = bool(held) and held[-1].line == mention.line and left <= end
        if touches and right - start <= room - 2:
            end = right
            held.append(mention)
            continue
        if touches:
            left = end = min(end, column)
        if held:
            yield _window(lines, held, start, end)
        start, end, held = left, right, [mention]
    yield _window(lines, held, start, end)


def _window(lines: Sequence[str], mentions: Sequence[Mention], start: int, end: int) -> _Piece:
    number = mentions[0].line
    line = _line(lines, number)
    start = _edge_behind(line, start, min(mentions[0].column, len(line))) if start else 0
    end = _edge_before(line, end, mentions[-1].column + 1) if end < len(line) else end
    text = (_GAP if start else "") + line[start:end] + (_GAP if end < len(line) else "")
    return _Piece(number, number, text, tuple(mentions))


def _line(lines: Sequence[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


# -- where a line may be cut ----------------------------------------------------------------------------------------------


def _edge_behind(text: str, position: int, last: int) -> int:
    """A place from *position* to *last* to begin at: behind a blank when one is near, else between two characters."""
    for place in range(position, min(position + _SEEK, last)):
        if text[place].isspace() and not _inside(text, place + 1):
            return place + 1
    while position < last and _inside(text, position):
        position += 1
    return position


def _edge_before(text: str, position: int, first: int) -> int:
    """A place from *position* down to *first* to end at; when there is none, *position* all the same."""
    for place in range(position, max(position - _SEEK, first), -1):
        if text[place].isspace():
            return place
    place = position
    while place > first and _inside(text, place):
        place -= 1
    return place if place > first else position


def _inside(text: str, position: int) -> bool:
    """True when *position* lies within what is read as one character."""
    here, before = text[position], text[position - 1] if position else " "
    if here in _FLAGS and before in _FLAGS:
        first = position
        while first and text[first - 1] in _FLAGS:
            first -= 1
        return (position - first) % 2 == 1
    joined = unicodedata.category(here)[0] == "M" or here in _JOINERS or "\u1160" <= here <= "\u11ff"
    return joined or before == "\u200d" or unicodedata.combining(before) == _VIRAMA


# -- putting it together --------------------------------------------------------------------------------------------------


def _packed(pieces: Sequence[_Piece], room: int) -> Iterator[list[_Piece]]:
    """As many pieces in a part as *room* holds."""
    part: list[_Piece] = []
    used = 0
    for piece in pieces:
        size = len(piece.text) + 1 + len(_GAP) + 1
        if part and used + size > room:
            yield part
            part, used = [], 0
        part.append(piece)
        used += size
    yield part


def _rendered(frame: Sequence[_Piece], part: Sequence[_Piece], extract: Extract) -> Iterator[str]:
    """Frame and pieces in the order of the note, with a sign for what is skipped."""
    told = {number for piece in part for number in range(piece.first, piece.last + 1)}
    last = min(extract.start, frame[0].first if frame else extract.start) - 1
    for piece in sorted((*(piece for piece in frame if piece.first not in told), *part), key=lambda one: one.first):
        if piece.first > last + 1:
            yield _GAP
        yield piece.text
        last = piece.last
    if last < extract.end:
        yield _GAP
