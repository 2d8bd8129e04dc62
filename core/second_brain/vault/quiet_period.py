"""Decide when collected changes are delivered; time comes in as an argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.vault.changes import Batch, outermost

if TYPE_CHECKING:
    from collections.abc import Callable

    from second_brain.model import FileStat


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to wait for quiet, and at most in all."""

    quiet_s: float = 0.4
    max_wait_s: float = 2.5


class QuietPeriod:
    """Holds changes until nothing new came for a while and each file looks as it did at its last event.

    Nothing is held longer than `max_wait_s` after the first of its changes, however busy the vault is.
    """

    def __init__(self, patience: Patience, stat: Callable[[str], FileStat | None]) -> None:
        self._patience = patience
        self._stat = stat
        self._paths: dict[str, FileStat | None] = {}  # with the look at the last event
        self._folders: set[str] = set()
        self._overflow = False
        self._first = self._last = 0.0

    def __bool__(self) -> bool:
        return bool(self._paths or self._folders or self._overflow)

    def add(self, batch: Batch, now: float) -> None:
        """Collect *batch*; an empty one changes nothing, so ignored files never prolong the wait."""
        if not batch:
            return
        if not self:
            self._first = now
        self._last = now
        self._paths.update((path, self._stat(path)) for path in batch.paths)
        self._folders.update(batch.folders)
        self._overflow |= batch.overflow

    def due_at(self) -> float:
        """When `take` gives something; infinite while nothing is held."""
        if not self:
            return float("inf")
        return min(self._last + self._patience.quiet_s, self._first + self._patience.max_wait_s)

    def take(self, now: float) -> Batch:
        """What is to be delivered at *now*; an unstable file stays for another quiet period."""
        if now < self.due_at():
            return Batch()
        unstable: dict[str, FileStat | None] = {}
        if now < self._first + self._patience.max_wait_s:
            looks = ((path, self._stat(path)) for path in self._paths)
            unstable = {path: look for path, look in looks if look != self._paths[path]}
        paths = frozenset(self._paths.keys() - unstable.keys())
        ready = Batch(paths, outermost(self._folders), self._overflow)
        self._paths, self._folders, self._overflow, self._last = unstable, set(), False, now
        return ready
