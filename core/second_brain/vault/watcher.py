"""Follow the vault: tell in batches where to look, miss nothing for good, and say how well it works.

Nothing is reported of what changed before `Watcher.start`: reconcile once after it.  The only module that imports
watchdog.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
import time
import warnings
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol

from second_brain.errors import Unavailable
from second_brain.vault.changes import Batch, EventKind, PathEvent, coalesce
from second_brain.vault.event_source import BACKEND, EventSource, Observation, WatchStatus
from second_brain.vault.quiet_period import Patience, QuietPeriod
from second_brain.vault.watch_limits import OverflowLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

    from second_brain.model import FileStat

__all__ = ["WatchStatus", "WatchedVault", "Watcher"]

_log = logging.getLogger(__name__)

_SLEEP_GAP_S = 10.0  # the clocks disagree by more than this, or a wait overran by it: the computer slept
_POLL_SHARE = 20  # polling takes at most one part in this many of the time
_PAUSE_AFTER_FAILURE_S = 0.2


class WatchedVault(Protocol):
    """What the watcher needs of a vault."""

    @property
    def root(self) -> Path:
        """The vault's folder, or a link to it."""
        ...

    def stat(self, path: str) -> FileStat | None:
        """Size and time stamp of a note, ``None`` when it is not there; may raise `Unavailable`."""
        ...

    def eligible(self, path: str) -> bool:
        """True when *path* is, or was, that of a note to index."""
        ...


class Watcher:
    """Calls *on_batch* from one thread of its own; after a failure there the whole vault is looked at *retry_s* later.

    A batch comes *quiet_s* after the last event and at most *max_wait_s* after the first one.  A batch with `overflow`
    asks for a full reconcile: every *reconcile_s*, after sleep, lost events, a change of the root folder or of the ignore file.

    `vault` may be replaced at any time by the same folder under other rules.
    """

    def __init__(
        self,
        vault: WatchedVault,
        on_batch: Callable[[Batch], None],
        *,
        quiet_s: float = 0.4,
        max_wait_s: float = 2.5,
        reconcile_s: float = 420.0,
        root_check_s: float = 30.0,
        poll_s: float = 3.0,
        retry_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.vault, self._on_batch = vault, on_batch
        self._patience = Patience(quiet_s, max_wait_s)
        self._reconcile_s, self._root_check_s, self._poll_s, self._retry_s = reconcile_s, root_check_s, poll_s, retry_s
        self._clock, self._wall_clock = clock, wall_clock
        self._source = EventSource(vault.root, partial(_observe, put=self._put, eligible=self._eligible))
        self._held = QuietPeriod(self._patience, self._look)
        self._queue: SimpleQueue[PathEvent | None] = SimpleQueue()  # None only wakes the thread
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._overflow_log = OverflowLog(self._events_lost)
        self._reconcile_at = self._root_check_at = self._poll_at = math.inf
        self._overflows = 0
        self._last_event: float | None = None
        self._last_reconcile: float | None = None
        self._failure = ""

    def start(self) -> None:
        """Begin to watch; without effect when it runs.  A vault that is not there is waited for."""
        if self._thread is not None:
            return
        self._held = QuietPeriod(self._patience, self._look)
        self._queue = SimpleQueue()
        self._overflow_log.attach()
        self._source.open()
        now = self._clock()
        self._reconcile_at, self._root_check_at = now + self._reconcile_s, now + self._root_check_s
        self._poll_at = now + self._poll_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._stopping,), name="vault-watcher", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def stop(self, timeout_s: float = 10.0) -> None:
        """End all threads; without effect when it does not run.  The next reconcile finds what is not delivered."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        atexit.unregister(self.stop)
        self._overflow_log.detach()
        self._stopping.set()
        self._queue.put(None)
        if thread is not threading.current_thread():
            thread.join(timeout_s)
        self._source.close()

    def status(self) -> WatchStatus:
        """How the vault is followed right now."""
        coverage = self._source.coverage
        return WatchStatus(
            mode="stopped" if self._thread is None else self._source.mode,
            watched_folders=coverage.watched,
            total_folders=coverage.total,
            unwatched=coverage.unwatched,
            last_reconcile=self._last_reconcile,
            overflows=self._overflows,
            last_event=self._last_event,
            message=" ".join(part for part in (self._source.message, self._failure) if part),
        )

    def request_reconcile(self, after_s: float = 0.0) -> None:
        """Deliver a batch with `overflow` in *after_s* seconds at the latest (and the quiet period)."""
        if after_s > 0:
            self._reconcile_at = min(self._reconcile_at, self._clock() + after_s)
            self._queue.put(None)
        else:
            self._put(PathEvent(EventKind.LOST, ""))

    def _eligible(self, path: str) -> bool:
        return self.vault.eligible(path)

    def _look(self, path: str) -> FileStat | None:
        try:
            return self.vault.stat(path)
        except Unavailable:  # who reads the note tells why
            return None

    def _put(self, event: PathEvent) -> None:
        self._queue.put(event)

    def _events_lost(self) -> None:
        self._overflows += 1
        self.request_reconcile()

    def _run(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            try:
                self._tick(stopping)
            except Exception as error:  # noqa: BLE001 - the edge of a thread that has to go on
                self._failure = (
                    f"A change could not be followed ({_one_line(error)}); the vault is looked at again soon."
                )
                _log.warning("Following the vault failed: %s", _one_line(error))
                self.request_reconcile(self._retry_s)
                stopping.wait(_PAUSE_AFTER_FAILURE_S)

    def _tick(self, stopping: threading.Event) -> None:
        events = self._next_events()
        if stopping.is_set():
            return
        now = self._clock()
        self._collect(events, now)
        if now >= self._root_check_at:
            self._root_check_at = now + self._root_check_s
            self._check_source()
        if self._source.coverage.unwatched and now >= self._poll_at:
            self._poll(now)
        if now >= self._reconcile_at:
            self._reconcile_at = now + self._reconcile_s
            self.request_reconcile()
        self._deliver(self._held.take(now))

    def _next_events(self) -> list[PathEvent]:
        """All that is queued, after waiting until there is something or something else is due."""
        started, started_wall = self._clock(), self._wall_clock()
        poll_at = self._poll_at if self._source.coverage.unwatched else math.inf
        due_at = min(self._held.due_at(), self._root_check_at, poll_at, self._reconcile_at)
        timeout = max(0.0, due_at - started)
        events: list[PathEvent | None] = []
        with suppress(Empty):
            events.append(self._queue.get(timeout=timeout))
            while True:
                events.append(self._queue.get_nowait())
        waited, waited_wall = self._clock() - started, self._wall_clock() - started_wall
        if waited_wall - waited > _SLEEP_GAP_S or waited - timeout > _SLEEP_GAP_S:
            self.request_reconcile()
        return [event for event in events if event is not None]

    def _collect(self, events: list[PathEvent], now: float) -> None:
        batch = coalesce(events, self._eligible)
        if batch.paths or batch.folders:
            self._last_event = self._wall_clock()
        if any(event.kind is EventKind.DELETED and not event.path for event in events):
            self._root_check_at = now
        self._held.add(batch, now)

    def _deliver(self, batch: Batch) -> None:
        if not batch:
            return
        if batch.overflow and self._source.mode != BACKEND:
            self._source.open()  # the reason may be gone
        elif batch.overflow or batch.folders:
            self._source.recount()  # before the batch is looked at, so that polling begins with what that look finds
        if batch.overflow:
            self._last_reconcile = self._wall_clock()
        self._on_batch(batch)
        self._failure = ""

    def _check_source(self) -> None:
        if self._source.broken():
            self._source.open()
            self.request_reconcile()
        elif self._source.coverage.unwatched:
            self._source.recount()  # while watchdog rebuilt its watches, the count before was too low

    def _poll(self, now: float) -> None:
        for event in self._source.poll():
            self._put(event)
        self._poll_at = now + max(self._poll_s, _POLL_SHARE * (self._clock() - now))


class _Watchdog:
    """An `Observation` by watchdog."""

    def __init__(self, observer: BaseObserver, threads: list[threading.Thread]) -> None:
        self._observer = observer
        self._threads = threads

    def alive(self) -> bool:
        return all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        self._observer.stop()
        if self._observer.is_alive():
            self._observer.join()


def _observe(root: Path, put: Callable[[PathEvent], None], eligible: Callable[[str], bool]) -> Observation:
    """Have *put* called with every event below *root*; raises `OSError` when the system refuses."""
    from watchdog import events as wd  # noqa: PLC0415 - slow, and only who watches needs it
    from watchdog.observers import Observer  # noqa: PLC0415

    class Forward(wd.FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            put(_path_event(event, root, eligible))

    # watchdog warns of a folder that it meets twice; where warnings are errors, that would end its thread.
    warnings.filterwarnings("ignore", message="Callback with id", module=r"watchdog\.")
    # Without reads ("opened"): indexing must not cause events.
    wanted: list[type[FileSystemEvent]] = [
        *(wd.FileCreatedEvent, wd.FileModifiedEvent, wd.FileAttribEvent, wd.FileClosedEvent),
        *(wd.FileMovedEvent, wd.FileDeletedEvent, wd.DirCreatedEvent, wd.DirMovedEvent, wd.DirDeletedEvent),
    ]
    before = set(threading.enumerate())
    observer = Observer()
    try:
        observer.schedule(Forward(), str(root), recursive=True, event_filter=wanted)
        observer.start()
    except OSError:
        observer.stop()
        raise
    own = (thread for thread in threading.enumerate() if type(thread).__module__.startswith("watchdog."))
    return _Watchdog(observer, [thread for thread in own if thread not in before])


def _path_event(event: FileSystemEvent, root: Path, eligible: Callable[[str], bool]) -> PathEvent:
    kinds = {"created": EventKind.CREATED, "deleted": EventKind.DELETED, "moved": EventKind.MOVED}
    kind = kinds.get(event.event_type, EventKind.MODIFIED)
    path, dest = (_relative(os.fsdecode(side), root) for side in (event.src_path, event.dest_path))
    # Windows cannot tell what a deleted thing was.
    maybe_folder = os.name == "nt" and kind is EventKind.DELETED and not eligible(path)
    return PathEvent(kind, path, dest, folder=event.is_directory or maybe_folder)


def _relative(path: str, root: Path) -> str:
    """*path* as the vault names it, "" for the root itself and for what is not below it."""
    below = path.removeprefix(str(root).rstrip(os.sep) + os.sep)
    return "" if below == path else below.replace(os.sep, "/")


def _one_line(error: Exception) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}".removesuffix(": ")
