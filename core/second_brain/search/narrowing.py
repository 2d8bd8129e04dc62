"""Filters of a query: whether their names exist, which notes pass, and what to say when none does."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from second_brain.errors import InvalidParameter
from second_brain.index import catalog, exact, selection, words
from second_brain.index.schema import tag_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from second_brain.index.reader import Reader
    from second_brain.index.selection import Condition
    from second_brain.search.query import Filters, Query, TagFilter, Term


def check(reader: Reader, filters: Filters) -> None:
    """Raises `InvalidParameter` for a folder or a tag that no visible note has, with the nearest names as options."""
    if filters.folders or filters.excluded_folders:
        known = reader.derived("folders", lambda: catalog.folder_counts(reader))
        for folder in (*filters.folders, *filters.excluded_folders):
            if not _folders_named(known, folder):
                raise InvalidParameter(
                    f"No folder is called {folder[:200]!r}.",
                    hint="Folder names are given from the vault's root.",
                    parameter="folder",
                    options=_near(folder, [name for name in known if name]),
                )
    if filters.tags or filters.excluded_tags:
        tags = reader.derived("tags", lambda: catalog.tag_counts(reader))
        keys = {tag_key(tag) for tag in tags}
        for tag in (*filters.tags, *filters.excluded_tags):
            if not _is_known(tag, keys):
                raise InvalidParameter(
                    f"No note has the tag {tag.name!r}.", parameter="tags", options=_near(tag.name, list(tags))
                )


def folders_of(reader: Reader, filters: Filters) -> tuple[str, ...]:
    """The folders of the filters as the vault has them.  Raises `InvalidParameter` as `check` does."""
    with reader.snapshot():
        check(reader, filters)
        known = reader.derived("folders", lambda: catalog.folder_counts(reader))
        return tuple(name for folder in filters.folders for name in _folders_named(known, folder))


def _is_known(tag: TagFilter, keys: set[str]) -> bool:
    key = tag_key(tag.name)
    return key in keys or (not tag.exact and any(known.startswith(key + "/") for known in keys))


def _folders_named(known: Iterable[str], folder: str) -> tuple[str, ...]:
    """Folders of that name as on disk: the same letters, else the same without regard to case."""
    wanted = unicodedata.normalize("NFC", folder)
    same = tuple(name for name in known if unicodedata.normalize("NFC", name) == wanted)
    if same:
        return same
    loose = wanted.casefold()
    return tuple(sorted(name for name in known if unicodedata.normalize("NFC", name).casefold() == loose))


def _near(name: str, choices: Sequence[str]) -> tuple[str, ...]:
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only for an error

    found = process.extract(
        name.casefold(), {choice: choice.casefold() for choice in sorted(choices)}, scorer=fuzz.WRatio, limit=5
    )
    return tuple(choice for _, score, choice in found if score > 50)  # noqa: PLR2004 - percent


def allowed(reader: Reader, query: Query, exclude_status: Sequence[str] = ()) -> NDArray[np.bool_] | None:
    """Which visible notes pass the filters, hold every quoted piece and nothing that is excluded; None: all of them.

    A note whose status is one of *exclude_status* does not pass, unless the query itself asks for its status.
    """
    conditions = [condition for _, condition in named_conditions(reader, query.filters)]
    masks = [selection.passing(reader, conditions)] if conditions else []
    masks += [exact.holders(reader, phrase) for phrase in query.phrases]
    masks += [~holding(reader, term) for term in query.excluded]
    if exclude_status and not any(prop.key.lower() == "status" for prop in query.filters.properties):
        masks.append(~has_status(reader, exclude_status))
    if not masks:
        return None
    mask = masks[0]
    for other in masks[1:]:
        mask = mask & other
    return mask


def has_status(reader: Reader, statuses: Sequence[str]) -> NDArray[np.bool_]:
    """Which visible notes have one of these frontmatter statuses, without regard to case."""
    mask = np.zeros(len(reader.columns), dtype=np.bool_)
    for status in statuses:
        mask |= selection.passing(reader, [selection.property_is("status", status)])
    return mask


def holding(reader: Reader, term: Term) -> NDArray[np.bool_]:
    """Which visible notes hold a word (its spelling as it is) or a quoted piece."""
    if term.phrase:
        return exact.holders(reader, term.text)
    return words.holders(reader, term.text)


def named_conditions(reader: Reader, filters: Filters) -> Iterator[tuple[str, Condition]]:
    """Each active filter with the name that messages give it."""
    if filters.folders:
        yield "folder", _below(reader, filters.folders)
    for tag in filters.tags:
        yield f"tag {tag.name}", selection.tagged(tag.name, exactly=tag.exact)
    if filters.modified_from is not None:
        yield "modified_after", selection.modified(filters.modified_from.timestamp(), None)
    if filters.modified_to is not None:
        yield "modified_before", selection.modified(None, filters.modified_to.timestamp())
    for contains in filters.contains:
        condition = selection.name_contains(reader, contains.field, contains.text)
        yield contains.field, condition.negated() if contains.excluded else condition
    for prop in filters.properties:
        condition = selection.property_is(prop.key, prop.value)
        yield f"property {prop.key}", condition.negated() if prop.excluded else condition
    if filters.excluded_folders:
        yield "not folder", _below(reader, filters.excluded_folders).negated()
    for tag in filters.excluded_tags:
        yield f"not tag {tag.name}", selection.tagged(tag.name, exactly=tag.exact).negated()


def _below(reader: Reader, folders: Sequence[str]) -> Condition:
    known = reader.derived("folders", lambda: catalog.folder_counts(reader))
    return selection.below_any(tuple(name for folder in folders for name in _folders_named(known, folder)))


def nothing_found(reader: Reader, query: Query, mask: NDArray[np.bool_] | None) -> str:
    """Why an answer is empty, with what each filter alone would let through."""
    if mask is None or mask.any():
        what = f"0 matches for {query.text!r}"
        return f"{what} with filters: {query.filters.describe()}" if query.filters else f"{what}."
    if query.excluded and _any_passes(reader, replace(query, terms=tuple(t for t in query.terms if not t.excluded))):
        what = " and ".join(f'-"{term.text}"' if term.phrase else f"-{term.text}" for term in query.excluded)
        which = f" that holds {_pieces(query)}" if query.phrases else ""
        return f"0 matches: every note{which} is left out by {what}."
    if not query.filters:
        return f"0 matches: no note holds {_pieces(query)}."
    named = list(named_conditions(reader, query.filters))
    if (query.phrases or query.excluded) and selection.passing(reader, [condition for _, condition in named]).any():
        return f"0 matches: no note holds {_pieces(query)} with filters: {query.filters.describe()}"
    alone = [f"{name} {int(selection.passing(reader, [condition]).sum())}" for name, condition in named]
    counts = f" (alone: {', '.join(alone)})" if len(alone) > 1 else ""
    return f"0 matches for filters: {query.filters.describe()}{counts}"


def _any_passes(reader: Reader, query: Query) -> bool:
    mask = allowed(reader, query)
    return mask is None or bool(mask.any())


def _pieces(query: Query) -> str:
    return " and ".join(f'"{phrase}"' for phrase in query.phrases) or "what was asked for"
