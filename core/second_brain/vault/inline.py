"""Links and tags in running text.

One pass from left to right, the first construct to open wins: inside a code span, a comment, a formula or an HTML tag
nothing counts, and neither does an escaped mark.  The time is linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING
from urllib.parse import unquote

from second_brain.model import Link, LinkKind
from second_brain.vault.tags import INLINE_TAG, tag_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OPENER = re.compile(r"\\[!-/:-@\[-`{}~]|`+|%%|<!--|<(?=[a-zA-Z/?!])|\$\$?|!?\[|(?<!\S)#")
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]+?)?(?:\\?\|((?:[^\[\]\n]|\](?!\])|\[(?!\[)){0,2000}))?\]\]")
_TEXT = r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]{0,500}\]){0,1000})\]"
_DESTINATION = r"(?:<([^<>\n]*)>|(?!<)((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.){0,500}\))+))"
_RESOURCE = rf"""\(\s*{_DESTINATION}(?:\s+(?:"[^"]{{0,500}}"|'[^']{{0,500}}'|\([^()]{{0,500}}\)))?\s*\)"""
_MARKDOWN = re.compile(_TEXT + _RESOURCE, re.DOTALL)
_IMAGE = re.compile("!" + _TEXT + _RESOURCE, re.DOTALL)
_DEFINITION = re.compile(rf"[ ]{{0,3}}\[([^\]\[^][^\]\[]{{0,300}})\]:[ \t]*{_DESTINATION}", re.DOTALL)
_HTML_TAG = re.compile(r"<[^<>]{0,2000}>")
_FORMULA = re.compile(r"\$(?![\s$])(?:[^$\\\n]|\\.)*(?<!\s)\$(?!\d)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_URL = re.compile(r"(?<![\w+.-])(?:[A-Za-z][A-Za-z0-9+.-]{1,30}://|(?:www\.|mailto:)(?=\S))[^\s<>]+")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINE_END = re.compile("\n")
_CLOSERS = {"%%": "%%", "<!--": "-->", "$$": "$$"}


def scan(text: str, line: int, links: list[Link], tags: list[str] | None) -> None:
    """Append the links, and unless *tags* is None the tags, of the run *text*, whose first line is number *line*."""
    _Run(text, line, links, tags).scan()


def plain_stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where the run *text* is nothing but text: outside of links, code, comments, formulas, tags (HTML ones, too) and URLs."""
    run = _Run(text, 1, [], None)
    run.scan()
    position = 0
    for start, end in sorted([*run.marked, *(match.span() for match in _URL.finditer(text))]):
        if start > position:
            yield position, start
        position = max(position, end)
    if position < len(text):
        yield position, len(text)


def property_links(lines: list[str]) -> list[Link]:
    """The links in the *lines* of a frontmatter, the opening fence first.

    The line of a link is that of its key; so is the column, 0 when the link itself stands further down.
    """
    return [
        Link(link.target, link.kind, key, link.column if link.line == key else 0, link.text)
        for link, key in placed_property_links(lines)
    ]


def placed_property_links(lines: Sequence[str]) -> Iterator[tuple[Link, int]]:
    """The links in the *lines* of a frontmatter where they really stand, each with the line of its key."""
    key_line = 1
    for number, line in enumerate(lines, 1):
        if begins_property(line):
            key_line = number
        if "[" not in line or line.lstrip().startswith("#"):
            continue
        here: list[Link] = []
        scan(line.replace("`", " "), number, here, None)
        yield from ((Link(link.target, LinkKind.PROPERTY, number, link.column, link.text), key_line) for link in here)


def begins_property(line: str) -> bool:
    """True for a line of a frontmatter that begins with a key."""
    return line[:1] not in ("", " ", "\t", "-", "#")


class _Run:
    def __init__(self, text: str, line: int, links: list[Link], tags: list[str] | None) -> None:
        self._text = text
        self._line = line
        self._links = links
        self._tags = tags
        self._line_starts: list[int] | None = None
        self._absent: set[str] = set()  # closers that do not come any more
        self.marked: list[tuple[int, int]] = []  # where the constructs stand

    def scan(self) -> None:
        text = self._text
        if "]:" in text:
            self._definitions()
        position = 0
        while match := _OPENER.search(text, position):
            position = self._behind_construct(match)
            if position > match.end():
                self.marked.append((match.start(), position))

    def _behind_construct(self, opener: re.Match[str]) -> int:
        """Where what *opener* begins ends; the end of *opener* when it begins nothing."""
        mark = opener[0]
        if mark[0] == "`":
            return self._behind_code(opener)
        if mark in _CLOSERS:
            return self._behind(_CLOSERS[mark], opener.end())
        if mark == "#":
            return self._tag(opener.start())
        if mark[-1] == "[" and mark[0] != "\\":
            return self._link(opener.start(), opener.end() - 1)
        inside = _HTML_TAG if mark == "<" else _FORMULA if mark == "$" else None
        whole = inside.match(self._text, opener.start()) if inside else None
        return whole.end() if whole else opener.end()

    def _behind(self, closer: str, position: int) -> int:
        """Where the construct ends, or *position* when it never does."""
        if closer in self._absent:
            return position
        found = self._text.find(closer, position)
        if found < 0:
            self._absent.add(closer)
            return position
        return found + len(closer)

    def _behind_code(self, opener: re.Match[str]) -> int:
        """A code span ends at a run of exactly as many backticks."""
        ticks = opener[0]
        if ticks not in self._absent:
            for run in re.compile("`+").finditer(self._text, opener.end()):
                if run[0] == ticks:
                    return run.end()
            self._absent.add(ticks)
        return opener.end()

    def _tag(self, start: int) -> int:
        match = INLINE_TAG.match(self._text, start)
        if match is None:
            return start + 1
        if self._tags is not None and (name := tag_name(match[1])):
            self._tags.append(name)
        return match.end()

    def _link(self, start: int, bracket: int) -> int:
        """The link that begins at *start*, its brackets at *bracket* (behind the ``!`` of an embed)."""
        embed = bracket > start
        if match := _WIKILINK.match(self._text, bracket):
            target = (match[1] or "").strip().rstrip("\\").strip()
            if target:
                kind = LinkKind.EMBED if embed else LinkKind.WIKILINK
                self._add(target, kind, start, (match[2] or "").strip())
            return match.end()
        match = _MARKDOWN.match(self._text, bracket)
        if match is None:
            return bracket + 1
        label = match[1]
        self._add_markdown(match[2] or match[3] or "", start, label, embed=embed)
        for image in _IMAGE.finditer(label):
            self._add_markdown(image[2] or image[3] or "", match.start(1) + image.start(), image[1], embed=True)
        return match.end()

    def _definitions(self) -> None:
        """``[label]: target`` lines; footnotes are none."""
        position = 0
        for line in self._text.split("\n"):
            if "]:" in line and (match := _DEFINITION.match(line)):
                self._add_markdown(match[2] or match[3] or "", position + match.start(), match[1], embed=False)
                self.marked.append((position, position + match.end()))
            position += len(line) + 1

    def _add_markdown(self, destination: str, start: int, label: str, *, embed: bool) -> None:
        target = _ESCAPE.sub(r"\1", destination.strip())
        if target and not _SCHEME.match(target):
            self._add(unquote(target), LinkKind.EMBED if embed else LinkKind.MARKDOWN, start, label)

    def _add(self, target: str, kind: LinkKind, start: int, label: str) -> None:
        if self._line_starts is None:
            self._line_starts = [0, *(match.end() for match in _LINE_END.finditer(self._text))]
        row = bisect_right(self._line_starts, start) - 1
        self._links.append(Link(target, kind, self._line + row, start - self._line_starts[row], label))
