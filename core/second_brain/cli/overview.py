"""A vault at a glance: how much is in it, its biggest folders, commonest tags and newest notes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from second_brain.cli.output import harmless
from second_brain.cli.wording import ago, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from second_brain.cli.session import Session
    from second_brain.search.answer import Hit

SHOWN = 8
NEWEST = 5


def overview_json(session: Session) -> dict[str, Any]:
    """``{"notes", "folders": {name: notes}, "tags": {name: notes}, "newest": [hit]}``, the largest first."""
    notes, folders, tags, newest = _facts(session)
    return {"notes": notes, "folders": folders, "tags": tags, "newest": [hit.as_json() for hit in newest]}


def show_overview(session: Session) -> Sequence[Hit]:
    """Print it; returns the newest notes."""
    out = session.out
    notes, folders, tags, newest = _facts(session)
    out.line()
    out.line(f"{plural(notes, 'note')}, {plural(len(folders), 'folder')}, {plural(len(tags), 'tag')}")
    for title, counts, sign in (("Biggest folders", _top_level(folders), ""), ("Commonest tags", tags, "#")):
        if counts:
            shown = ", ".join(f"{sign}{name} ({count:,})" for name, count in list(counts.items())[:SHOWN])
            out.line(f"{out.style(title, 'bold')}  {harmless(shown)}")
    if newest:
        out.line(out.style("Newest notes", "bold"))
    for hit in newest:
        out.line(f"  {harmless(hit.title)}  {out.place(hit.path, 0, session.root)}  {ago(hit.modified, time.time())}")
    return newest


def _facts(session: Session) -> tuple[int, dict[str, int], dict[str, int], tuple[Hit, ...]]:
    from second_brain.search.query import Query  # noqa: PLC0415 - cheap start
    from second_brain.search.request import Ranking, Request  # noqa: PLC0415

    found = session.brain.facets()
    newest = session.brain.search(Request(Query(), NEWEST, Ranking.WORDS)).hits
    return session.brain.notes(), _by_count(found.folders), _by_count(found.tags), newest


def _by_count(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _top_level(folders: Mapping[str, int]) -> Mapping[str, int]:
    """The folders of the vault's root where there are several; else all, for one folder around everything says nothing."""
    top = {name: count for name, count in folders.items() if "/" not in name}
    return top if len(top) > 1 else folders
