"""What can be asked for: facets with counts, and the map of the vault that an agent gets to see.

Everything comes from the visible notes; names are made harmless before they enter a description.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from second_brain import tokencount
from second_brain.index import catalog

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from second_brain.index.reader import Reader

SCHEMA_TOKENS = 300
NAME_LENGTH = 40
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff]"
)

_SHOWN_ELSEWHERE = frozenset({"tag", "tags", "alias", "aliases"})
_PLACEHOLDER = re.compile(r"\{\{|<%")
"""What template plugins fill in; no value of a real note."""


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts over the visible notes: of each folder (everything below it included) and of each tag."""

    folders: dict[str, int]
    tags: dict[str, int]


def facets(reader: Reader) -> Facets:
    """Folders in path order, tags by count."""
    with reader.snapshot():
        folders = catalog.folder_counts(reader)
        tags = catalog.tag_counts(reader)
    return Facets(
        {name: folders[name] for name in sorted(folders) if name},
        dict(sorted(tags.items(), key=lambda item: (-item[1], item[0]))),
    )


def schema_block(reader: Reader, *, most_tags: int = 30) -> str:
    """The vault in one paragraph of at most `SCHEMA_TOKENS` tokens: how much, how old, folders, tags, properties.

    The longest list is trimmed first, from its rarest; "" for an empty index.
    """
    with reader.snapshot():
        count = catalog.note_count(reader)
        span = catalog.date_range(reader)
        if not count or span is None:
            return ""
        folders = _top_folders(catalog.folder_counts(reader))
        tags = [tag for tag, _ in _by_count(catalog.tag_counts(reader))][:most_tags]
        properties = [
            each
            for each in catalog.property_examples(reader, 16)
            if each[0].lower() not in _SHOWN_ELSEWHERE and not _PLACEHOLDER.search(each[0] + each[2])
        ]
    most = max(len(folders), len(tags), len(properties))
    while most:
        block = _block(count, span, folders[:most], tags[:most], properties[:most])
        if tokencount.estimate(block) <= SCHEMA_TOKENS:
            return block
        most = most * 9 // 10
    return _head(count, span)


def _head(count: int, span: tuple[float, float]) -> str:
    first, last = (datetime.fromtimestamp(moment, UTC).date().isoformat() for moment in span)
    return f"{rounded(count)} notes, dates {first} to {last}."


def _block(
    count: int,
    span: tuple[float, float],
    folders: Sequence[tuple[str, int]],
    tags: Sequence[str],
    properties: Sequence[tuple[str, int, str]],
) -> str:
    parts = [_head(count, span)]
    if folders:
        parts.append("Folders: " + ", ".join(f"{safe(name)} ({rounded(number)})" for name, number in folders) + ".")
    if tags:
        parts.append("Tags: " + ", ".join(_grouped(tags)) + ".")
    if properties:
        shown = (f"{safe(key)}={safe(example)}" if example else safe(key) for key, _, example in properties)
        parts.append("Frontmatter: " + "; ".join(shown) + ".")
    return " ".join(parts)


def _top_folders(counts: Counter[str]) -> list[tuple[str, int]]:
    return _by_count({name: number for name, number in counts.items() if name and "/" not in name})


def _by_count(counts: dict[str, int] | Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _grouped(tags: Sequence[str]) -> list[str]:
    """Tags of one prefix together, ``type/{howto,log}``, in the order of their most used member."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for tag in tags:
        prefix, slash, rest = tag.partition("/")
        groups[prefix if slash else tag].append(rest if slash else "")
    shown = []
    for prefix, rests in groups.items():
        members = [safe(rest) for rest in rests if rest]
        if "" in rests:
            shown.append(safe(prefix))
        if len(members) == 1:
            shown.append(f"{safe(prefix)}/{members[0]}")
        elif members:
            shown.append(f"{safe(prefix)}/{{{','.join(members)}}}")
    return shown


def safe(name: str) -> str:
    """A name without control, direction or invisible characters, at most 40 characters."""
    name = _UNSAFE.sub("", name).strip()
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"


def rounded(count: int) -> str:
    """Two significant digits, so that a description changes seldom."""
    if count < 100:  # noqa: PLR2004 - small numbers as they are
        return str(count)
    scale = 10 ** (len(str(count)) - 2)
    return f"~{round(count / scale) * scale}"
