"""The parts of a note: its sections, the lead above them, its outline, and which section a name means.

Pure functions of a parsed note.  Line ranges include both ends; blank lines at an end belong to no part.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.index.text import fold
from second_brain.model import Block, BlockKind
from second_brain.tokencount import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.model import Heading, ParsedNote

NEAR = 10
_LABEL = 80
_LONGEST = 1_000  # of a heading so many characters are compared; the time for markup grows with the square

_CODE = re.compile(r"(`+)(.+?)\1")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\\?\|)?([^\[\]|]*)\]\]")
_MARKDOWN = re.compile(r"!?\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)")
_EMPHASIS = re.compile(r"(\*{1,3}|~~|==)(?=\S)(.+?)(?<=\S)\1|(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\3(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_HTML = re.compile(r"</?[a-zA-Z][^<>]*>")
_SIGNS = re.compile(r"[^\w]+")
_MARKS = re.compile(r"#{1,6}\s+")
_JOINT = re.compile(r"\s*[>#/]\s*$")
_GAP = re.compile(r" $")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with all below it, to the next heading of the same or a higher level."""

    heading: Heading
    line: int
    end_line: int

    @property
    def label(self) -> str:
        """The heading path as people write it."""
        return " > ".join(self.heading.path)


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A section, or a block (`level` 0, `text` its beginning) of a note without headings; `tokens` is its size."""

    level: int
    text: str
    path: tuple[str, ...]
    line: int
    end_line: int
    tokens: int


def lines_of(note: ParsedNote) -> list[str]:
    """The lines of the text; a final line break begins no line."""
    lines = note.text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def sections_of(note: ParsedNote, lines: Sequence[str]) -> list[Section]:
    """Every section in the order of the text."""
    found: list[Section] = []
    open_: list[tuple[int, int]] = []  # level and place in `ends` of the headings that still run
    ends = [len(lines)] * len(note.headings)
    for place, heading in enumerate(note.headings):
        while open_ and open_[-1][0] >= heading.level:
            ends[open_.pop()[1]] = heading.line - 1
        open_.append((heading.level, place))
    for heading, end in zip(note.headings, ends, strict=True):
        found.append(Section(heading, heading.line, last_text_line(lines, heading.line, end)))
    return found


def last_text_line(lines: Sequence[str], first: int, last: int) -> int:
    """*last*, or the line above it that is not blank; at least *first*."""
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last


def lead_of(note: ParsedNote, lines: Sequence[str]) -> tuple[int, int]:
    """The lines before the first heading; a level-1 heading that opens the note belongs to its lead."""
    first = note.frontmatter.end_line + 1
    while first < len(lines) and not lines[first - 1].strip():
        first += 1
    headings = note.headings
    if headings and headings[0].level == 1 and headings[0].line <= first:
        headings = headings[1:]
    last = headings[0].line - 1 if headings else len(lines)
    return first, last_text_line(lines, first, last) if last >= first else last


def outline_of(note: ParsedNote, lines: Sequence[str]) -> tuple[OutlineEntry, ...]:
    """The sections with their sizes in tokens; the outermost blocks of a note without headings."""
    if note.headings:
        return tuple(
            OutlineEntry(
                part.heading.level,
                part.heading.text,
                part.heading.path,
                part.line,
                part.end_line,
                _tokens(lines, part.line, part.end_line),
            )
            for part in sections_of(note, lines)
        )
    return tuple(
        OutlineEntry(
            0, _beginning(lines[block.start - 1]), (), block.start, block.end, _tokens(lines, block.start, block.end)
        )
        for block in _outermost(note.blocks)
    )


def block_with_children(note: ParsedNote, anchor: str) -> tuple[int, int] | None:
    """The lines of the block ``^anchor``: a list item with the items below it, a heading with its section."""
    for place, block in enumerate(note.blocks):
        if block.anchor.casefold() == anchor.casefold() and block.anchor:
            if block.kind is BlockKind.HEADING:
                part = next(s for s in sections_of(note, lines_of(note)) if s.line == block.start)
                return part.line, part.end_line
            return block.start, _end_with_children(note.blocks, place)
    return None


def anchors_of(note: ParsedNote) -> tuple[str, ...]:
    """The ids of the note's blocks, with their caret."""
    return tuple(f"^{block.anchor}" for block in note.blocks if block.anchor)


def find(sections: Sequence[Section], asked: str) -> list[Section]:
    """The sections that *asked* means: a heading as written, as plain text, or a heading path (``A > B``, ``A/B``, ``A#B``).

    The strictest reading that fits anything decides: as written, without markup, in any case, as a path, without signs and
    accents.
    """
    asked = unicodedata.normalize("NFC", asked.strip())
    for wanted in dict.fromkeys((asked, _MARKS.sub("", asked, count=1) if asked.startswith("#") else asked)):
        for form in (_as_written, plain, _caseless):
            if found := [part for part in sections if form(part.heading.text) == form(wanted)]:
                return found
        for form, joint in ((_caseless, _JOINT), (_loose, _GAP)):
            if found := [
                part for part in sections if _leads_to(form(wanted), list(map(form, part.heading.path)), joint)
            ]:
                return found
    return []


def near(sections: Sequence[Section], asked: str) -> tuple[str, ...]:
    """Names of sections to choose from, the most similar first; a name that several bear is given as its path."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - only for an error

    texts = [part.heading.text for part in sections]
    names = dict.fromkeys(
        part.label if texts.count(part.heading.text) > 1 else part.heading.text
        for part in sections
        if part.heading.text
    )
    ranked = sorted(names, key=lambda name: -fuzz.token_ratio(_loose(asked), _loose(name)))
    return tuple(ranked[:NEAR])


def plain(text: str) -> str:
    """*text* without inline markup: code marks, links, emphasis, HTML tags, escapes."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[2].strip() or match[2])
        return f"\0{len(kept) - 1}\0"

    text = _CODE.sub(keep, text[:_LONGEST].replace("\0", ""))
    text = _WIKILINK.sub(r"\1", text)
    text = _MARKDOWN.sub(r"\1", text)
    text = _HTML.sub("", text)
    for _ in range(3):  # ***both*** and one kind inside another
        text = _EMPHASIS.sub(lambda match: match[2] or match[4], text)
    text = _ESCAPE.sub(r"\1", text)
    text = re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)
    return " ".join(unicodedata.normalize("NFC", text).split())


def _as_written(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())


def _caseless(text: str) -> str:
    return plain(text).casefold()


def _loose(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", fold(plain(text))).split())


def _leads_to(asked: str, path: Sequence[str], joint: re.Pattern[str]) -> bool:
    """True when *asked* is the last of *path*, alone or behind some of its parents in order; any name may hold a joint."""
    own = path[-1]
    if not own or not asked.endswith(own):
        return False
    rest = asked[: -len(own)]
    if not rest:
        return True
    mark = joint.search(rest)
    return mark is not None and any(
        _leads_to(rest[: mark.start()], path[:depth], joint) for depth in range(len(path) - 1, 0, -1)
    )


def _outermost(blocks: Sequence[Block]) -> list[Block]:
    """Blocks with what lies below them, lists as a whole."""
    found: list[Block] = []
    for block in blocks:
        last = found[-1] if found else None
        joins = last is not None and (
            block.depth > 0 or (block.kind is BlockKind.LIST_ITEM and last.kind is BlockKind.LIST_ITEM)
        )
        if joins and last is not None:
            found[-1] = Block(last.kind, last.start, max(last.end, block.end), last.depth, last.anchor)
        else:
            found.append(block)
    return found


def _end_with_children(blocks: Sequence[Block], place: int) -> int:
    block = blocks[place]
    end = block.end
    if block.kind is BlockKind.LIST_ITEM:
        for below in blocks[place + 1 :]:
            if below.depth <= block.depth:
                break
            end = max(end, below.end)
    return end


def _tokens(lines: Sequence[str], first: int, last: int) -> int:
    return estimate("\n".join(lines[first - 1 : last]))


def _beginning(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1].rstrip()}…"
