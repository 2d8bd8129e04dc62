"""Keep the index current for as long as it is wanted: first sync, then watch, embed in between.

All writing happens in the thread that calls `run`; the watcher's thread only hands over where to look.  What it hands over is
looked at also while an embedder computes, so that a slow one never holds up the words.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

from second_brain.errors import IndexUnavailable, SecondBrainError
from second_brain.index import worker_file
from second_brain.indexing.stopping import StoppedError, nothing
from second_brain.vault.changes import CONFIRM_AFTER_S, Batch
from second_brain.vault.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from second_brain.indexing.embed import Embedding, EmbedReport
    from second_brain.indexing.indexer import Indexer, SyncReport
    from second_brain.vault.vault import Vault


RETRY_EMBEDDER_S = 30.0
RETRY_POSTPONED_MOST_S = 3_600.0
RETRY_VAULT_S = 10.0
HEARTBEAT_S = 30.0
CHECK_FILES_S = 5.0


class Listener(Protocol):
    """Told what happens, from the worker's thread."""

    def changed(self, report: SyncReport) -> None:
        """The index differs from before."""
        ...

    def embedded(self, report: EmbedReport) -> None:
        """A run of embedding ended."""
        ...

    def trouble(self, message: str) -> None:
        """Something keeps the index from being current; it goes on by itself."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What `status` of another process can tell of a running worker."""

    pid: int
    mode: str
    watched_folders: int
    total_folders: int
    overflows: int
    message: str
    last_event: float | None
    last_reconcile: float | None
    last_sync: float
    at: float


class Worker:
    """Runs an `Indexer` and an `Embedding` behind a watcher."""

    def __init__(
        self,
        indexer: Indexer,
        embedding: Embedding | None,
        *,
        fresh_vault: Callable[[], Vault],
        listener: Listener,
        update_graph: Callable[[], object] = nothing,
        poll_s: float = 3.0,
        reconcile_s: float = 420.0,
    ) -> None:
        self._indexer = indexer
        self._embedding = embedding
        self._fresh_vault = fresh_vault
        self._listener = listener
        self._update_graph = update_graph
        self._graph_at = 0.0
        self._batches: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self.watcher = Watcher(indexer.vault, self._batches.put, poll_s=poll_s, reconcile_s=reconcile_s)
        self._embed_at = 0.0
        self._postponed_for_s = RETRY_EMBEDDER_S
        self._told_at = self._checked_at = 0.0
        self._troubles: dict[str, str] = {}  # by what is in trouble
        self._stop = threading.Event()

    def run(self, stop: threading.Event) -> None:
        """Work until *stop* is set, which is heeded within a second or so.

        Only errors of the index that do not pass by themselves end it early: `IndexUnavailable` (also with `replaced`), and
        `InvalidParameter` when it is the index of another vault.
        """
        self._stop = stop
        self.watcher.start()
        self._batches.put(Batch(overflow=True))
        try:
            while not stop.is_set():
                if not self._follow(wait_s=0.2):
                    self._embed()
                    self._keep_graph()
            with contextlib.suppress(SecondBrainError):  # the next sync writes it down
                self._indexer.remember_look()
        finally:
            self.watcher.stop()
            worker_file.forget(self._indexer.writer.path)

    def _follow(self, *, wait_s: float = 0.0) -> bool:
        """Look at what the watcher named; whether the index was changed."""
        self._beat()
        try:
            batch = self._batches.get(timeout=wait_s)
        except queue.Empty:
            return False
        try:
            report = self._look(batch)
        except SecondBrainError as error:
            # The vault is away, its ignore file cannot be used, the disk is full: what the index has stays.
            self._in_trouble("index", error)
            self.watcher.request_reconcile(after_s=RETRY_VAULT_S)
            return True
        self._troubles.pop("index", None)
        if report.frozen:
            self._listener.trouble(report.frozen)
            self.watcher.request_reconcile(after_s=CONFIRM_AFTER_S)
        if report:
            self._embed_at = min(self._embed_at, time.monotonic())
            self._graph_at = 0.0
            self._listener.changed(report)
        self._tell_state()
        return bool(report)

    def _look(self, batch: Batch) -> SyncReport:
        if batch.overflow:
            # A reconcile also takes in what the ignore file says now.
            self._indexer.vault = self.watcher.vault = self._fresh_vault()
        return self._indexer.look_at(batch, pulse=self._pulse)

    def _pulse(self) -> None:
        self._beat()
        if self._stop.is_set():
            raise StoppedError

    def _embed(self) -> None:
        if self._embedding is None or time.monotonic() < self._embed_at:
            return
        try:
            report = self._embedding.run(self._stop.is_set, self._follow)
        except SecondBrainError as error:
            self._in_trouble("index", error)
            self._embed_at = time.monotonic() + RETRY_EMBEDDER_S
            return
        self._embed_at = time.monotonic() + self._pause_after(report)
        self._graph_at = 0.0  # also without a new vector: a model that was there before may have taken over
        if report.embedded:
            self._listener.embedded(report)

    def _keep_graph(self) -> None:
        """Bring the graph up to date, after the vectors it is made of."""
        if time.monotonic() < self._graph_at or self._stop.is_set():
            return
        try:
            self._update_graph()
            self._graph_at = float("inf")
        except SecondBrainError as error:
            self._graph_at = time.monotonic() + RETRY_VAULT_S
            self._in_trouble("index", error)

    def _pause_after(self, report: EmbedReport) -> float:
        """Seconds until the embedder is asked again if nothing changes."""
        if report.embedded:
            self._postponed_for_s = RETRY_EMBEDDER_S
        if report.stopped:
            return 0.0
        if report.unavailable:
            self._say_once("embedder", report.unavailable)
            return RETRY_EMBEDDER_S
        if report.kept_former:
            self._say_once("embedder", report.kept_former)
        else:
            self._troubles.pop("embedder", None)
        if self._embedding is not None:
            self._embedding.rest()
        if not report.waiting:
            return float("inf")
        # A text that always makes the embedder fail must not keep the machine busy for ever.
        self._postponed_for_s = min(2 * self._postponed_for_s, RETRY_POSTPONED_MOST_S)
        return self._postponed_for_s

    def _in_trouble(self, what: str, error: SecondBrainError) -> None:
        """Tell the listener; raises *error* when it is one of the index that somebody has to mend."""
        of_another_vault = error.parameter == "db_path"
        if of_another_vault or (isinstance(error, IndexUnavailable) and not error.passing):
            raise error
        self._say_once(what, error.sentences)

    def _say_once(self, what: str, message: str) -> None:
        if self._troubles.get(what) != message:
            self._troubles[what] = message
            self._listener.trouble(message)

    def _beat(self) -> None:
        """Say that we are alive, and see whether the index still is, when it is time to."""
        now = time.monotonic()
        if now - self._checked_at > CHECK_FILES_S:
            self._checked_at = now
            self._indexer.writer.check_files()
        if now - self._told_at > HEARTBEAT_S:
            self._tell_state()

    def _tell_state(self) -> None:
        status = self.watcher.status()
        state = WorkerState(
            pid=os.getpid(),
            mode=status.mode,
            watched_folders=status.watched_folders,
            total_folders=status.total_folders,
            overflows=status.overflows,
            message=status.message,
            last_event=status.last_event,
            last_reconcile=status.last_reconcile,
            last_sync=self._indexer.last_look,
            at=time.time(),
        )
        self._told_at = time.monotonic()
        worker_file.tell(self._indexer.writer.path, asdict(state))
