"""The one query grammar of every face.

Plain words, ``"a phrase"``, ``-word``, ``folder:``, ``tag:`` or ``#tag``, ``after:``, ``before:``, ``path:``,
``title:`` and ``[property:value]``; a leading ``-`` excludes.  Parsing never fails: what is malformed is text.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from second_brain.search.dates import LOCAL, describe_moment, earlier, iso_text, later, moment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime, tzinfo


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for.  A phrase is to be found as it stands (see `exact`), anything else by its words."""

    text: str
    phrase: bool = False
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class TagFilter:
    """A tag without ``#``, as typed; it stands for its children too unless `exact` (written ``=name``)."""

    name: str
    exact: bool = False


@dataclass(frozen=True, slots=True)
class PropertyFilter:
    """A frontmatter property that has this value; an empty value asks only that the property exists."""

    key: str
    value: str
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class ContainsFilter:
    """The title or the path contains the text, compared by `second_brain.index.text.exact` on both sides."""

    field: Literal["title", "path"]
    text: str
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Filters:
    """What a note must satisfy before anything is ranked; an empty field restricts nothing.

    A note lies in or below any of `folders` and none of `excluded_folders`, has all of `tags` and none of
    `excluded_tags`, and passes every property and contains filter.  Both moments are inclusive and aware.  Names are as
    typed, NFC; whether they exist is not checked here.
    """

    folders: tuple[str, ...] = ()
    excluded_folders: tuple[str, ...] = ()
    tags: tuple[TagFilter, ...] = ()
    excluded_tags: tuple[TagFilter, ...] = ()
    modified_from: datetime | None = None
    modified_to: datetime | None = None
    properties: tuple[PropertyFilter, ...] = ()
    contains: tuple[ContainsFilter, ...] = ()

    def __bool__(self) -> bool:
        return self != Filters()

    def describe(self) -> str:
        """Every active filter, as in ``folder=01-Projects, tags=homelab+k8s, modified_after=2026-06-01``."""
        moments = (
            ("modified_after", self.modified_from and describe_moment(self.modified_from, end=False)),
            ("modified_before", self.modified_to and describe_moment(self.modified_to, end=True)),
        )
        named = [
            ("folder", "|".join(self.folders)),
            ("tags", "+".join(map(_tag_name, self.tags))),
            *moments,
            *((each.field, each.text) for each in self.contains if not each.excluded),
            *(("property", f"{each.key}:{each.value}") for each in self.properties if not each.excluded),
            ("not folder", "|".join(self.excluded_folders)),
            ("not tags", "|".join(map(_tag_name, self.excluded_tags))),
            *((f"not {each.field}", each.text) for each in self.contains if each.excluded),
            *(("not property", f"{each.key}:{each.value}") for each in self.properties if each.excluded),
        ]
        return ", ".join(f"{name}={value}" for name, value in named if value)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query; `notes` are sentences on what looked like a filter but was read as text, no part of equality."""

    terms: tuple[Term, ...] = ()
    filters: Filters = Filters()
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def text(self) -> str:
        """What the embedder should see: the words and phrases, without marks and without what is excluded."""
        return " ".join(term.text for term in self.terms if not term.excluded)

    @property
    def words(self) -> tuple[str, ...]:
        """The plain words, not excluded, in order."""
        return tuple(term.text for term in self.terms if not (term.phrase or term.excluded))

    @property
    def phrases(self) -> tuple[str, ...]:
        """The quoted pieces, not excluded, in order."""
        return tuple(term.text for term in self.terms if term.phrase and not term.excluded)

    @property
    def excluded(self) -> tuple[Term, ...]:
        """The words and phrases that a note must not contain."""
        return tuple(term for term in self.terms if term.excluded)

    def __bool__(self) -> bool:
        return bool(self.terms or self.filters)


def parse(text: str, *, now: datetime) -> Query:
    """Read what a person typed; relative dates count from *now*, and its zone is that of dates without an offset.

    Of several ``after:`` the latest counts, of several ``before:`` the earliest.
    """
    text = clean(text)
    reading = _Reading(now)
    position = 0
    while start := _NEXT.search(text, position):
        position = reading.piece(text, start.start())
    return reading.query()


def unparse(query: Query, *, now: datetime) -> str:
    """Print a query so that ``parse(unparse(query, now=now), now=now) == query`` for every query that `parse` makes.

    A name with both a space and a double quote, which only arguments can bring, has no written form.
    """
    zone = now.tzinfo or LOCAL
    return " ".join([*_printed_filters(query.filters, zone), *map(_printed_term, query.terms)])


def clean(text: str) -> str:
    """Without what no database takes: NUL dropped, lone surrogates replaced."""
    return _SURROGATE.sub("\ufffd", text.replace("\0", ""))


def folder_name(text: str) -> str | None:
    """A folder as the index names it: NFC, single forward slashes, none at the ends; None for ``..`` and no name."""
    parts = unicodedata.normalize("NFC", text).replace("\\", "/").split("/")
    parts = [part for part in parts if part not in ("", ".")]
    name = "/".join(parts)
    return name if name.strip() and ".." not in parts else None


def tag_filter(text: str) -> TagFilter | None:
    """A tag as a person gives it: ``#`` optional, ``=name`` for exactly this one; None when no name is left."""
    name = unicodedata.normalize("NFC", text).lstrip(_TAG_EDGE + "#").rstrip(_TAG_EDGE)
    only = name.startswith("=")
    if only:
        name = name[1:].lstrip(_TAG_EDGE + "#")
    return TagFilter(name, only) if name else None


_SPACES = "".join(char for char in map(chr, range(0x3001)) if char.isspace())
_TAG_EDGE = _SPACES + "/"
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEXT = re.compile(r"\S")
_PLAIN = re.compile(r"\S+")
_EXCLUDES = re.compile(r'-(?=["#\[]|(?![A-Za-z0-9]{1,2}(?!\S))\w)')
"""One or two letters after a dash are an option of a command (``ssh -T``, ``rm -rf``), which people paste."""
_PHRASE = re.compile(r'"([^"]*)"')
_KEYED = re.compile(r'(folder|tag|path|title|after|before):(?:"([^"]*)"|(?!")(\S+)|(?!\S))', re.IGNORECASE)
_HASH_TAG = re.compile(
    r"#([^\s!-,.:-@\[-^`{-~\u2000-\u200c\u200e-\u206f\u3000-\u303f]+)(?!\S)"
)  # no punctuation but -_/
_PROPERTY = re.compile(r'\[([^\W\d][^\s\[\]":]*):(?:"([^"]*)"|([^\s\[\]"]*))\](?!\S)')
_OPEN_PROPERTY = re.compile(r'\[[^\W\d][^\s\[\]":]*:"[^"]*"')
_SPACE_OR_BRACKET = re.compile(r"[\s\[\]]")


class _Reading:
    """One pass over a query.

    A piece ends at a space or a closing quote, and what it means depends on its own characters alone, or, for an open
    quote, on there being none behind it.  Pieces printed one after the other therefore mean the same again.
    """

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._terms: list[Term] = []
        self._notes: list[str] = []
        self._folders: tuple[dict[str, None], dict[str, None]] = ({}, {})  # wanted, excluded
        self._tags: tuple[dict[TagFilter, None], dict[TagFilter, None]] = ({}, {})
        self._from: datetime | None = None
        self._to: datetime | None = None
        self._properties: dict[PropertyFilter, None] = {}
        self._contains: dict[ContainsFilter, None] = {}

    def query(self) -> Query:
        filters = Filters(
            folders=tuple(self._folders[False]),
            excluded_folders=tuple(self._folders[True]),
            tags=tuple(self._tags[False]),
            excluded_tags=tuple(self._tags[True]),
            modified_from=self._from,
            modified_to=self._to,
            properties=tuple(self._properties),
            contains=tuple(self._contains),
        )
        return Query(tuple(self._terms), filters, tuple(self._notes))

    def piece(self, text: str, start: int) -> int:
        """Read the piece that starts there and return its end."""
        excluded = bool(_EXCLUDES.match(text, start))
        body = start + excluded
        for pattern, read in _READERS:
            if match := pattern.match(text, body):
                if not read(self, match, excluded):
                    self._as_text(text, start, match.end(), excluded=excluded)
                return match.end()
        match = _PLAIN.match(text, body)
        end = match.end() if match else len(text)
        self._as_text(text, start, end, excluded=excluded)
        return end

    def _as_text(self, text: str, start: int, end: int, *, excluded: bool) -> None:
        """A dash excludes a word, but before a sign that opens nothing it is a dash."""
        excluded = excluded and text[start + 1] not in '"#['
        self._terms.append(Term(text[start + excluded : end], excluded=excluded))

    def _phrase(self, match: re.Match[str], excluded: bool) -> bool:  # noqa: FBT001 - one signature for all readers
        if not match[1].strip():
            return False
        self._terms.append(Term(match[1], phrase=True, excluded=excluded))
        return True

    def _keyed(self, match: re.Match[str], excluded: bool) -> bool:  # noqa: FBT001
        key, value = match[1].lower(), match[2] or match[3] or ""
        if not value.strip():
            self._notes.append(f"{key}: has no value right behind the colon; searched as text")
            return False
        if key in ("after", "before"):
            problem = "cannot be excluded" if excluded else self._moment(key, value)
        else:
            problem = self._named(key, value, excluded=excluded)
        if problem:
            self._notes.append(f"{key}:{value[:80]} {problem}; searched as text")
        return not problem

    def _moment(self, key: str, value: str) -> str:
        moment = moment_of(value, now=self._now, end=key == "before")
        if moment is None:
            return "is not a date"
        if key == "after":
            self._from = later(self._from, moment)
        else:
            self._to = earlier(self._to, moment)
        return ""

    def _named(self, key: str, value: str, *, excluded: bool) -> str:
        if key == "folder":
            if (folder := folder_name(value)) is None:
                return "is not a folder of the vault"
            self._folders[excluded][folder] = None
        elif key == "tag":
            if (tag := tag_filter(value)) is None:
                return "is not a tag"
            self._tags[excluded][tag] = None
        elif key == "path":
            self._contains[ContainsFilter("path", value.replace("\\", "/"), excluded)] = None
        else:
            self._contains[ContainsFilter("title", value, excluded)] = None
        return ""

    def _hash_tag(self, match: re.Match[str], excluded: bool) -> bool:  # noqa: FBT001
        tag = tag_filter(match[1]) if _speaks(match[1]) else None
        if tag is None:
            return False
        self._tags[excluded][tag] = None
        return True

    def _property(self, match: re.Match[str], excluded: bool) -> bool:  # noqa: FBT001
        value = match[2] if match[3] is None else match[3]
        self._properties[PropertyFilter(match[1], value.strip(), excluded)] = None
        return True


_READERS: tuple[tuple[re.Pattern[str], Callable[[_Reading, re.Match[str], bool], bool]], ...] = (
    (_PHRASE, _Reading._phrase),  # noqa: SLF001 - its own table
    (_KEYED, _Reading._keyed),  # noqa: SLF001
    (_HASH_TAG, _Reading._hash_tag),  # noqa: SLF001
    (_PROPERTY, _Reading._property),  # noqa: SLF001
    (_OPEN_PROPERTY, lambda *_: False),
)


def _speaks(name: str) -> bool:
    """A tag has a letter or a symbol such as an emoji; ``#1`` is a number."""
    return any(char.isalpha() or unicodedata.category(char) == "So" for char in name)


def _tag_name(tag: TagFilter) -> str:
    return f"={tag.name}" if tag.exact else tag.name


def _printed_filters(filters: Filters, zone: tzinfo) -> Iterable[str]:
    yield from (f"folder:{_quoted(name, guard='./')}" for name in filters.folders)
    yield from (f"-folder:{_quoted(name, guard='./')}" for name in filters.excluded_folders)
    yield from map(_printed_tag, filters.tags)
    yield from (f"-{_printed_tag(tag)}" for tag in filters.excluded_tags)
    if filters.modified_from:
        yield f"after:{iso_text(filters.modified_from, zone=zone, end=False)}"
    if filters.modified_to:
        yield f"before:{iso_text(filters.modified_to, zone=zone, end=True)}"
    for each in filters.properties:
        value = f'"{each.value}"' if _SPACE_OR_BRACKET.search(each.value) else each.value
        yield f"{'-' * each.excluded}[{each.key}:{value}]"
    for part in filters.contains:
        yield f"{'-' * part.excluded}{part.field}:{_quoted(part.text)}"


def _printed_tag(tag: TagFilter) -> str:
    if not tag.exact and _HASH_TAG.fullmatch(f"#{tag.name}") and _speaks(tag.name):
        return f"#{tag.name}"
    return f"tag:{_quoted(_tag_name(tag), guard='#')}"


def _quoted(value: str, *, guard: str = "") -> str:
    """Quotes where the value has spaces; *guard* means nothing and goes before a quote that belongs to the name."""
    if any(map(str.isspace, value)):
        return f'"{value}"'
    return guard + value if value.startswith('"') else value


def _printed_term(term: Term) -> str:
    return "-" * term.excluded + (f'"{term.text}"' if term.phrase else term.text)
