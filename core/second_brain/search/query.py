"""The one query grammar of every face.

Plain words, ``"a phrase"``, ``-word``, ``folder:``, ``tag:`` or ``#tag``, ``after:``, ``before:``, ``path:``, ``title:`` and
``[property:value]``; a leading ``-`` excludes.  Parsing never fails: what is malformed is text.  Printing and parsing are inverse.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from second_brain.index.text import exact
from second_brain.search.dates import LOCAL, describe_moment, iso_text, moment_of

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

    A note lies in or below any of `folders` and none of `excluded_folders`, has all of `tags` and none of `excluded_tags`,
    and passes every property and contains filter.  Both moments are inclusive and aware.  Names are as typed, NFC; whether
    they exist is not checked here.
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
    """A parsed query.  `notes` says in sentences what was meant as a filter but read as text; it is no part of equality."""

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
    read = _Reading(now)
    last_quote = text.rfind('"')
    position = 0
    while start := _NEXT.search(text, position):
        position = read.piece(text, start.start(), last_quote)
    return Query(tuple(read.terms), read.filters, tuple(read.notes))


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
    """A folder as the index names it: NFC, single forward slashes, none at the ends; None for ``..`` and for no name."""
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
_EXCLUDES = re.compile(r'-(?=[\w"#\[])')
_KEYED = re.compile(r'(folder|tag|path|title|after|before):(?:"([^"]*)"|(?!")(\S+))', re.IGNORECASE)
_HASH_TAG = re.compile(r"#([^\s!-,.:-@\[-^`{-~\u2000-\u200c\u200e-\u206f\u3000-\u303f]+)(?!\S)")
_PROPERTY = re.compile(r'\[([^\W\d][^\s\[\]":]*):(?:"([^"]*)"|([^\s\[\]"]*))\](?!\S)')
_BROKEN_PROPERTY = re.compile(r'\[[^\W\d][^\s\[\]":]*:"[^"]*"')


class _Reading:
    """One pass over a query.  A piece ends at a space or a closing quote, and its meaning depends on nothing but itself (and
    an open quote on there being no other one behind it): that is what makes printing and parsing inverse.
    """

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.terms: list[Term] = []
        self.filters = Filters()
        self.notes: list[str] = []

    def piece(self, text: str, start: int, last_quote: int) -> int:
        """Read the piece that starts there and return its end."""
        body = start
        excluded = bool(_EXCLUDES.match(text, start))
        body += excluded
        if text[body] == '"' and last_quote > body:
            return self._phrase(text, body, excluded=excluded)
        for pattern, read in ((_KEYED, self._keyed), (_HASH_TAG, self._hash_tag), (_PROPERTY, self._property)):
            if (match := pattern.match(text, body)) and read(match, excluded):
                return match.end()
        match = (
            (quoted if (quoted := _KEYED.match(text, body)) and quoted[2] is not None else None)
            or _BROKEN_PROPERTY.match(text, body)
            or _PLAIN.match(text, body)
        )
        assert match
        ...
