"""The Markdown around mentions in one note: of each block that mentions just what is needed to understand it.

A pure function of the note's blocks and the places of the mentions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from second_brain.reading.trimming import LIMIT, Mention, Part, trim
from second_brain.tokencount import estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from second_brain.reading.note_blocks import Extract, NoteBlocks


@dataclass(frozen=True, slots=True)
class Excerpt:
    """At most `LIMIT` characters of a note, with the mentions (at least one) that they show.

    `part` counts from 1 to `parts`; a block that is shown whole or trimmed in one piece has one part.
    """

    text: str
    heading_path: tuple[str, ...]
    mentions: tuple[Mention, ...]
    tokens: int
    trimmed: bool = False
    part: int = 1
    parts: int = 1


def excerpts_of(blocks: NoteBlocks, mentions: Sequence[Mention]) -> list[Excerpt]:
    """The excerpts that show *mentions*, which are in the order of the text, each mention in exactly one of them.

    Several mentions in one block share one, and so do those of a heading and of the first block below it.
    """
    return [excerpt for number, group in _grouped(blocks, mentions) for excerpt in _of_block(blocks, number, group)]


def _grouped(blocks: NoteBlocks, mentions: Sequence[Mention]) -> Iterator[tuple[int, list[Mention]]]:
    """The mentions by block; a heading takes those of the block that it is shown with."""
    joined = -1, -1
    held: list[Mention] = []
    for number, group in groupby(mentions, key=lambda mention: blocks.block_of(mention.line)):
        if held and number == joined[1]:
            yield joined[0], [*held, *group]
            held = []
            continue
        if held:
            yield joined[0], held
            held = []
        below = blocks.heads(number)
        if below is None:
            yield number, list(group)
        else:
            joined, held = (number, below), list(group)
    if held:
        yield joined[0], held


def _of_block(blocks: NoteBlocks, number: int, mentions: Sequence[Mention]) -> list[Excerpt]:
    placed = _placed(blocks, number, mentions)
    extract = blocks.extract(number, [line for mention in placed for line in (mention.line, mention.last_line)])
    path = blocks.heading_path(mentions[0].line)
    text = _whole(blocks.lines, extract)
    if len(text) <= LIMIT:
        return [Excerpt(text, path, tuple(mentions), estimate(text))]
    parts = _unplaced(trim(blocks.lines, extract, placed), mentions)
    return [
        Excerpt(part.text, path, part.mentions, estimate(part.text), trimmed=True, part=place, parts=len(parts))
        for place, part in enumerate(parts, 1)
    ]


def _whole(lines: Sequence[str], extract: Extract) -> str:
    return "\n".join(lines[number - 1] for number in extract.shown if 0 < number <= len(lines))


def _placed(blocks: NoteBlocks, number: int, mentions: Sequence[Mention]) -> Sequence[Mention]:
    """The mentions with the lines on which they really stand: those of a property are known by its key's."""
    if number >= 0:
        return mentions
    found = blocks.property_places(mentions[0].line, {mention.target for mention in mentions})
    found += [mention[:2] for mention in mentions[len(found) :]]
    return [
        Mention(line, column, line, mention.target) for mention, (line, column) in zip(mentions, found, strict=False)
    ]


def _unplaced(parts: Sequence[Part], mentions: Sequence[Mention]) -> list[Part]:
    """The parts with the mentions as they were given."""
    found = []
    place = 0
    for part in parts:
        count = len(part.mentions)
        found.append(Part(part.text, tuple(mentions[place : place + count])))
        place += count
    return found
