"""Arguments of a tool, a flag or a form, made into what the engine takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from second_brain.errors import InvalidParameter
from second_brain.index.text import exact
from second_brain.search.dates import LOCAL, earlier, iso_moment, later
from second_brain.search.query import Filters, Query, clean, folder_name, parse, tag_filter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

MOST_RESULTS = 50
MOST_EMBEDDED = 2_000
"""So many characters of a query are compared by meaning: a page of text is no question, and takes a minute."""


Name = TypeVar("Name")


class Ranking(StrEnum):
    """How hits are ordered: by words and meaning, by meaning alone, or by words alone."""

    BEST = "best"
    MEANING = "meaning"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Request:
    """A valid search; a query without terms lists what passes the filters, newest first."""

    query: Query
    top_k: int
    ranking: Ranking


def from_arguments(
    *,
    query: str | None = None,
    folder: str | Sequence[str] | None = None,
    tags: str | Sequence[str] | None = None,
    modified_after: str | None = None,
    modified_before: str | None = None,
    exclude_folder: str | Sequence[str] | None = None,
    exclude_tags: str | Sequence[str] | None = None,
    top_k: int = 5,
    ranking: str = Ranking.BEST,
    now: datetime,
) -> Request:
    """Check the arguments and join them with the filters that stand in *query* itself; all of them apply.

    Dates are ISO 8601 in the zone of *now*.  Whether folders and tags exist is left to the engine.  Raises
    `InvalidParameter` naming the argument, also when there is neither a word to look for nor a filter.
    """
    given = Filters(
        folders=_names("folder", folder, folder_name),
        excluded_folders=_names("exclude_folder", exclude_folder, folder_name),
        tags=_names("tags", tags, tag_filter),
        excluded_tags=_names("exclude_tags", exclude_tags, tag_filter),
        modified_from=_moment("modified_after", modified_after, now, end=False),
        modified_to=_moment("modified_before", modified_before, now, end=True),
    )
    parsed = parse(_text("query", query or ""), now=now)
    joined = replace(parsed, filters=_both(given, parsed.filters))
    if not joined:
        raise InvalidParameter(
            "query: there is neither a word to look for nor a filter",
            hint="Give words, or at least one of folder, tags, modified_after, modified_before.",
            parameter="query",
        )
    return Request(joined, _top_k(top_k), _ranking(ranking))


def _text(parameter: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidParameter(f"{parameter}: {value!r} is not text", hint="Give a string.", parameter=parameter)
    return clean(value)


def _names(parameter: str, value: str | Sequence[str] | None, read: Callable[[str], Name | None]) -> tuple[Name, ...]:
    """Each name once, in order."""
    if value is None:
        return ()
    if not isinstance(value, str | list | tuple):
        raise InvalidParameter(
            f"{parameter}: {value!r} is neither text nor a list", hint="Give a string or a list.", parameter=parameter
        )
    found: dict[Name, None] = {}
    for given in [value] if isinstance(value, str) else value:
        text = _text(parameter, given)
        name = read(text)
        if name is None:
            raise InvalidParameter(
                f"{parameter}: {text[:80]!r} names nothing inside the vault",
                hint=f"Give a name as the vault has it, or leave {parameter} out.",
                parameter=parameter,
            )
        found[name] = None
    return tuple(found)


def _moment(parameter: str, value: str | None, now: datetime, *, end: bool) -> datetime | None:
    return None if value is None else iso_moment(value, parameter=parameter, end=end, zone=now.tzinfo or LOCAL)


def _both(first: Filters, second: Filters) -> Filters:
    return Filters(
        folders=_inside_both(first.folders, second.folders),
        excluded_folders=_union(first.excluded_folders, second.excluded_folders),
        tags=_union(first.tags, second.tags),
        excluded_tags=_union(first.excluded_tags, second.excluded_tags),
        modified_from=later(first.modified_from, second.modified_from),
        modified_to=earlier(first.modified_to, second.modified_to),
        properties=_union(first.properties, second.properties),
        contains=_union(first.contains, second.contains),
    )


def _union(first: tuple[Name, ...], second: tuple[Name, ...]) -> tuple[Name, ...]:
    return tuple(dict.fromkeys(first + second))


def _inside_both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The folders of either side that lie in or below one of the other: several folders widen, two sources narrow."""
    if not (first and second):
        return first or second
    common = [name for name in first if _below_any(name, second)] + [name for name in second if _below_any(name, first)]
    if not common:
        raise InvalidParameter(
            f"folder: {' and '.join(first)} and the query's folder:{second[0]} exclude each other",
            hint="Name the folder in one place only.",
            parameter="folder",
        )
    return tuple(dict.fromkeys(common))


def _below_any(name: str, folders: tuple[str, ...]) -> bool:
    return any(f"{exact(name)}/".startswith(f"{exact(folder)}/") for folder in folders)


def _top_k(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_RESULTS:
        raise InvalidParameter(
            f"top_k: {str(value)[:40]} is not a whole number from 1 to {MOST_RESULTS}",
            hint=f"Give a number from 1 to {MOST_RESULTS}.",
            parameter="top_k",
        )
    return value


def _ranking(value: object) -> Ranking:
    options = tuple(Ranking)
    if not isinstance(value, str) or value not in options:
        raise InvalidParameter(
            f"ranking: {str(value)[:40]!r} is not one of {', '.join(options)}",
            hint="Leave it out for the best of words and meaning.",
            parameter="ranking",
            options=options,
        )
    return Ranking(value)
