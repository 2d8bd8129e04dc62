"""The values that all layers share.

Paths are vault-relative with forward slashes, exactly as on disk.  Lines count from 1 over the whole file, columns from 0
in characters, character offsets from 0.  Line ranges include both ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import unquote

_FRAGMENT = re.compile(r"[#^]")


@dataclass(frozen=True, slots=True)
class FileStat:
    """What tells cheaply whether a file changed."""

    mtime_ns: int
    size: int

    @property
    def mtime(self) -> float:
        """Seconds since the epoch."""
        return self.mtime_ns / 1e9


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note as read: decoded text without BOM, line feeds alone as line ends, NUL replaced by U+FFFD."""

    path: str
    text: str
    stat: FileStat
    content_hash: str  # sha256 of the raw bytes, hex
    problem: str = ""  # e.g. "not UTF-8; read as cp1252"


class BlockKind(StrEnum):
    """What a run of lines is, as CommonMark and Obsidian see it."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    FENCE = "fence"
    QUOTE = "quote"
    CALLOUT = "callout"
    MATH = "math"
    COMMENT = "comment"
    HTML = "html"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines.  A list item holds its own lines only, children are items of their own with a larger `depth`."""

    kind: BlockKind
    start: int
    end: int
    depth: int = 0
    anchor: str = ""  # the ``^id`` of an Obsidian block, without the caret


@dataclass(frozen=True, slots=True)
class Heading:
    """`text` is as written without the marks; `path` are the texts from the outermost heading to this one."""

    level: int
    text: str
    line: int
    path: tuple[str, ...]


class LinkKind(StrEnum):
    """How a link was written."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    PROPERTY = "property"


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written; `target` keeps its ``#heading`` or ``#^block`` but not the ``|text``, percent-decoded."""

    target: str
    kind: LinkKind
    line: int
    column: int
    text: str = ""

    @property
    def name(self) -> str:
        """See `linked_name`."""
        return linked_name(self.target)


class TagSource(StrEnum):
    """Where a tag stands."""

    FRONTMATTER = "frontmatter"
    INLINE = "inline"


@dataclass(frozen=True, slots=True)
class Tag:
    """`name` as typed, without ``#``."""

    name: str
    source: TagSource


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The YAML head of a note.

    `values` is JSON-ready (dates as ISO strings, scalars as typed where YAML 1.1 would surprise, recursion cut).
    `rows` is the flat form that filters use: one (key, value) per scalar, lists give several rows, nested maps dotted keys.
    """

    values: dict[str, Any] = field(default_factory=dict)
    rows: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    title: str = ""
    end_line: int = 0  # the line of the closing fence, 0 without frontmatter
    problem: str = ""  # why the YAML could not be (fully) used


@dataclass(frozen=True, slots=True)
class Task:
    """A ``- [ ]`` item."""

    text: str
    done: bool
    line: int


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """Everything the index wants to know of one note; a pure function of path and text."""

    path: str
    text: str
    title: str
    own_title: (
        str  # the title that the content itself gives (frontmatter, else first H1), "" when only the name gives one
    )
    frontmatter: Frontmatter
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    links: tuple[Link, ...]
    tags: tuple[Tag, ...]  # frontmatter first; unique by folded name
    aliases: tuple[str, ...]
    tasks: tuple[Task, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """How notes are cut into chunks: at most `size` words with `overlap` words of the chunk before."""

    size: int
    overlap: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a note as it is stored and embedded.

    `text` is ``note.text[start:end]``; `embedded` is what the embedder gets (own title and heading path before the text), so
    that a rename alone never changes it.
    """

    ordinal: int
    heading_path: tuple[str, ...]
    start: int
    end: int
    start_line: int
    end_line: int
    text: str
    embedded: str


@dataclass(frozen=True, slots=True)
class Scope:
    """What a reader may see; an empty scope sees everything.

    `folders`: a note lies in or below one of them; `excluded`: in or below none of them; `tags`: it carries them all.
    """

    folders: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def whole_vault(self) -> bool:
        """True when nothing is restricted."""
        return not (self.folders or self.excluded or self.tags)


@dataclass(frozen=True, slots=True)
class Move:
    """The note of `old` is now at `new`, its content unchanged."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What differs between the vault and the index."""

    written: tuple[str, ...] = ()  # new or changed: read them
    deleted: tuple[str, ...] = ()
    moved: tuple[Move, ...] = ()
    touched: tuple[str, ...] = ()  # only the time stamp differs

    def __bool__(self) -> bool:
        return bool(self.written or self.deleted or self.moved or self.touched)


def folder_of(path: str) -> str:
    """The folder of a note, "" at the root."""
    return path.rpartition("/")[0]


def linked_name(target: str) -> str:
    """What a note, or an alias, is called that a link to *target* can mean: its last part, without fragment and ``.md``.

    "" for a heading or block of the note itself.
    """
    bare = unquote(_FRAGMENT.split(target, maxsplit=1)[0]).replace("\\", "/").strip().strip("/")
    return stem_of(bare).strip()


def stem_of(path: str) -> str:
    """The file name without ``.md``."""
    name = path.rpartition("/")[2]
    return name[:-3] if name.lower().endswith(".md") else name
