"""Keep the index current for as long as it is wanted: first sync, then watch, embed in between.

All writing happens in the thread that calls `run`; the watcher's thread only hands over where to look.
"""

from __future__ import annotations

import json
import os
import queue
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

from second_brain.errors import IndexUnavailable, SecondBrainError
from second_brain.vault.changes import CONFIRM_AFTER_S, Batch
from second_brain.vault.watcher import Watcher

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from second_brain.indexing.embed import Embedding, EmbedReport
    from second_brain.indexing.indexer import Indexer, SyncReport
    from second_brain.vault.vault import Vault


RETRY_EMBEDDER_S = 30.0
RETRY_VAULT_S = 10.0
HEARTBEAT_S = 30.0


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
        poll_s: float = 3.0,
        reconcile_s: float = 420.0,
    ) -> None:
        self._indexer = indexer
        self._embedding = embedding
        self._fresh_vault = fresh_vault
        self._listener = listener
        self._batches: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self.watcher = Watcher(indexer.vault, self._batches.put, poll_s=poll_s, reconcile_s=reconcile_s)
        self._embed_at = 0.0
        self._told_at = 0.0

    def run(self, stop: threading.Event) -> None:
        """Work until *stop* is set; only errors of the index itself end it early."""
        self.watcher.start()
        self._batches.put(Batch(overflow=True))
        try:
            while not stop.is_set():
                self._step(stop)
        finally:
            self.watcher.stop()
            self._tell_state(stopped=True)

    def _step(self, stop: threading.Event) -> None:
        try:
            batch = self._batches.get(timeout=0.2)
        except queue.Empty:
            self._embed(stop)
            if time.monotonic() - self._told_at > HEARTBEAT_S:
                self._tell_state()
            return
        try:
            report = self._look(batch)
        except IndexUnavailable:
            raise
        except SecondBrainError as error:
            # The vault is away, or its ignore file cannot be used: what the index has stays.
            self._listener.trouble(error.sentences)
            self.watcher.request_reconcile(after_s=RETRY_VAULT_S)
            return
        if report.frozen:
            self._listener.trouble(report.frozen)
            self.watcher.request_reconcile(after_s=CONFIRM_AFTER_S)
        if report:
            self._embed_at = min(self._embed_at, time.monotonic())
            self._listener.changed(report)
        self._tell_state()

    def _look(self, batch: Batch) -> SyncReport:
        if batch.overflow:
            # A reconcile also takes in what the ignore file says now.
            self._indexer.vault = self._fresh_vault()
        return self._indexer.look_at(batch)

    def _embed(self, stop: threading.Event) -> None:
        if self._embedding is None or time.monotonic() < self._embed_at:
            return
        report = self._embedding.run(lambda: stop.is_set() or not self._batches.empty())
        now = time.monotonic()
        if report.unavailable:
            self._embed_at = now + RETRY_EMBEDDER_S
            self._listener.trouble(report.unavailable)
        elif not report.waiting:
            self._embed_at = float("inf")
            self._embedding.rest()
        if report.embedded:
            self._listener.embedded(report)

    def _tell_state(self, *, stopped: bool = False) -> None:
        status = self.watcher.status()
        state = WorkerState(
            pid=0 if stopped else os.getpid(),
            mode=status.mode,
            watched_folders=status.watched_folders,
            total_folders=status.total_folders,
            overflows=status.overflows,
            message=status.message,
            last_event=status.last_event,
            last_reconcile=status.last_reconcile,
            at=time.time(),
        )
        self._told_at = time.monotonic()
        self._indexer.writer.set_meta({"worker": json.dumps(asdict(state))})
