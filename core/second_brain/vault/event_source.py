"""Where events of the vault come from: the system's own notifications as far as they go, looking for the rest."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from second_brain.vault.poller import Poller
from second_brain.vault.watch_limits import Coverage, coverage, inotify_descriptors, list_folders, root_identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from second_brain.vault.changes import PathEvent

BACKEND = "inotify" if sys.platform.startswith("linux") else "events"
"""The mode of a vault that is followed by notifications alone."""


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How the vault is followed; times are seconds since the epoch.

    `mode`: "inotify" ("events" off Linux), "polling", "degraded" (some folders polled, or no vault there) or "stopped".
    """

    mode: str
    watched_folders: int = 0
    total_folders: int = 0
    unwatched: tuple[str, ...] = ()  # these are polled
    last_reconcile: float | None = None
    overflows: int = 0
    last_event: float | None = None
    message: str = ""  # what is wrong and what is done about it, "" when all is well


class Observation(Protocol):
    """A running observer of one folder and everything below it."""

    def alive(self) -> bool:
        """False when a part of it died, so that events may be missing."""
        ...

    def close(self) -> None:
        """End it and its threads."""
        ...


class EventSource:
    """Keeps the folder that *link* leads to observed.

    *observe* begins to observe a folder, or raises `OSError` when the system refuses.  All but the properties is called
    by one thread at a time.
    """

    def __init__(self, link: Path, observe: Callable[[Path], Observation]) -> None:
        self._link = link
        self._observe = observe
        self._observation: Observation | None = None
        self._descriptors: frozenset[int] = frozenset()
        self._identity: tuple[int, int] | None = None
        self._root = link
        self._poller = Poller(link)
        self._refused = ""
        self.coverage = Coverage(0)

    @property
    def mode(self) -> str:
        """How the vault is followed: `BACKEND`, "polling" or "degraded"."""
        if self._identity is None:
            return "degraded"
        if self._refused:
            return "polling"
        return "degraded" if self.coverage.unwatched else BACKEND

    @property
    def message(self) -> str:
        """What is wrong and what is done about it, "" when all is well."""
        if self._identity is None:
            return f"The vault folder {self._link} is missing or cannot be read; it is looked for again and again."
        if self._refused:
            return f"The system refuses to watch the vault ({self._refused}); it is polled instead."
        if self.coverage.unwatched:
            return (
                f"{len(self.coverage.unwatched)} of {self.coverage.total} folders cannot be watched (a limit of "
                "the system, on Linux fs.inotify.max_user_watches); they are polled instead."
            )
        return ""

    def open(self) -> None:
        """Observe the folder that the link leads to now, afresh."""
        self.close()
        self._identity = root_identity(self._link)
        self._root = Path(os.path.realpath(self._link))  # observing a link itself would deliver nothing at all
        self._poller = Poller(self._root)
        self._refused = ""
        if self._identity is not None:
            before = inotify_descriptors()
            try:
                self._observation = self._observe(self._root)
            except OSError as error:
                self._refused = error.strerror or type(error).__name__
            self._descriptors = inotify_descriptors() - before
        self.recount()

    def close(self) -> None:
        """Observe nothing."""
        observation, self._observation = self._observation, None
        if observation is not None:
            observation.close()

    def broken(self) -> bool:
        """True when the link leads to another folder than the one observed, or a part of the observer died."""
        dead = self._observation is not None and not self._observation.alive()
        return dead or root_identity(self._link) != self._identity

    def recount(self) -> None:
        """Find out which folders are not observed and poll those."""
        if self._identity is None:
            self.coverage = Coverage(0)
        elif self._refused:
            folders = tuple(sorted(list_folders(self._root)))
            self.coverage = Coverage(len(folders), folders)
        else:
            self.coverage = coverage(self._root, self._descriptors)
        self._poller.watch(self.coverage.unwatched)

    def poll(self) -> list[PathEvent]:
        """What changed in the folders that are not observed."""
        return self._poller.look()
