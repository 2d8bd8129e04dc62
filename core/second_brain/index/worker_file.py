"""What the process that keeps an index says of itself: a small file beside the database, so that saying it changes no index.

It is gone when that process ended in order; after a crash its process number tells.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from second_brain.index.connection import real

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

STALE_AFTER_S = 90.0
"""A process that has not said anything for so long does not run any more."""


def tell(database: Path, state: Mapping[str, Any]) -> None:
    """Replace what was said; *state* has at least "pid" and "at" (seconds since the epoch).

    A disk that cannot take it is no reason to stop: then nobody is told.
    """
    place = _place(database)
    draft = place.with_name(place.name + ".new")
    with suppress(OSError):
        draft.write_text(json.dumps(state), "utf-8")
        draft.replace(place)


def forget(database: Path) -> None:
    """Say nothing any more."""
    place = _place(database)
    for file in (place, place.with_name(place.name + ".new")):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def told(database: Path) -> dict[str, Any]:
    """What a running process last said; {} when none runs."""
    try:
        state = json.loads(_place(database).read_text("utf-8"))
        fresh = time.time() - float(state["at"]) < STALE_AFTER_S
        return dict(state) if fresh and _runs(int(state["pid"])) else {}
    except (OSError, ValueError, TypeError, LookupError, OverflowError):
        return {}


def _place(database: Path) -> Path:
    database = real(database)
    return database.with_name(database.name + ".worker")


def _runs(pid: int) -> bool:
    if pid <= 0:
        return False
    if os.name == "nt":
        return True  # there `os.kill` would end it; how long ago it spoke has to do
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True
