"""Keep the stored part of the graph equal to what a look at all notes would give.

Stored are the neighbours of each note by meaning; everything else about edges follows from links and tags when it is asked for.
Whoever changes a note or its vector marks it in the same transaction, so nothing is missed however a process ends; an update
looks at the marked notes and at those whose neighbours may be others for it, and at no more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.index import graph_rows
from second_brain.indexing.stopping import StoppedError, stopped_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from second_brain.graph.settings import Settings
    from second_brain.index.writer import Writer


@dataclass(frozen=True, slots=True)
class GraphReport:
    """What an update did: `notes` were looked at, the neighbours of `lists` found anew, in `seconds`.

    `edges`: so many pairs of notes are near by meaning according to the new lists.

    `stopped`: it was told to stop and did nothing; the next update does it all.
    """

    notes: int = 0
    lists: int = 0
    edges: int = 0
    seconds: float = 0.0
    stopped: bool = False


def bring_up_to_date(
    writer: Writer, settings: Settings, should_stop: Callable[[], bool] = lambda: False
) -> GraphReport:
    """Look at what changed since the last update; writes nothing when nothing did.  *should_stop* is asked now and then."""
    started = time.monotonic()
    with writer.reading() as connection:
        model = graph_rows.note_model(connection)
        form = graph_rows.form_of(model, settings.knn_k, settings.semantic_min)
        marked = graph_rows.changed(connection)
        anew = graph_rows.form(connection) != form
        if not (marked or anew):
            return GraphReport()
        from second_brain.indexing.graph_change import Due, change_of  # noqa: PLC0415 - loads numpy

        try:
            change = change_of(connection, model, settings, Due(form, marked, anew), stopped_by(should_stop))
        except StoppedError:
            return GraphReport(stopped=True)
    with writer.transaction() as connection:
        graph_rows.apply(connection, change)
    edges = len({frozenset((path, other)) for path, near in change.lists.items() for other, _ in near})
    return GraphReport(len(change.looked_at), len(change.lists), edges, time.monotonic() - started)
