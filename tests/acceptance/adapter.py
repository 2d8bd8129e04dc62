"""Drives the library for the acceptance cases of `run_cases.py`; generic, no case is known by name.

The cases count hidden exclusions as wrong, so nothing is excluded by default (`exclude_globs = []`).  A watcher runs from the
first `index()` on, as in daily use.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from second_brain.config import load
from second_brain.config.scopes import select_scope
from second_brain.embedding.builtin import BuiltinEmbedder
from second_brain.errors import SecondBrainError
from second_brain.index.opening import open_writer
from second_brain.service import SecondBrain

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from stub_embedder import StubEmbedder

BUILTIN = BuiltinEmbedder()
KINDS = {"invalid_parameter": "invalid_param"}


class Quiet:
    """A listener that keeps nothing."""

    def changed(self, report):
        """Nothing to tell."""

    def embedded(self, report):
        """Nothing to tell."""

    def trouble(self, message):
        """Nothing to tell."""


def answered(method):
    """Errors of the product as the cases expect them; anything else is a fault of the product and passes through."""

    def call(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except SecondBrainError as error:
            said = error.as_json()["error"]
            return {
                "error": {
                    "kind": KINDS.get(said["code"], said["code"]),
                    "param": said["parameter"],
                    "message": said["message"],
                    "options": said["options"],
                }
            }

    return call


class Adapter:
    """One vault, its index beside it."""

    def __init__(self, vault: str, config: dict[str, Any]) -> None:
        self.vault = Path(vault)
        self.db = self.vault.parent / "index.db"
        self.options = dict(config)
        self.embedder: Any = BUILTIN
        self.brain: SecondBrain | None = None
        self.stop_event: threading.Event | None = None
        self.thread: threading.Thread | None = None

    def _open(self) -> SecondBrain:
        if self.brain is None:
            flags = {"db_path": str(self.db), "exclude_globs": []}
            flags |= {key: value for key, value in self.options.items() if key != "scope"}
            settings = load(flags=flags, env={}, vault=str(self.vault))
            scope = self.options.get("scope")
            chosen = select_scope([scope], settings.scopes).scope if scope else None
            self.brain = SecondBrain(settings, chosen, embedder=self.embedder)
        return self.brain

    def _whole(self) -> SecondBrain:
        """For writing, which concerns the whole vault; a scope is that of the reader."""
        return SecondBrain(self._open().config, embedder=self.embedder)

    # -- running ---------------------------------------------------------------------------------------------------------

    def index(self, embedder: str | None = None, kill_after_notes: int = 0, **options: Any) -> None:
        if embedder is not None:
            self._choose(embedder)
        if kill_after_notes:
            self._index_and_kill(kill_after_notes)
        elif options.get("async"):
            self.start()
            while not self.db.exists():
                time.sleep(0.01)
        else:
            self.stop()
            self._whole().sync()
            self.start()

    def _choose(self, embedder: str) -> None:
        _, dimension, name = embedder.split(":")
        self.embedder = StubEmbedder(dimension=int(dimension), name=name)

    def restart(self, embedder: str | None = None) -> dict[str, Any]:
        self.stop()
        if embedder is not None:
            self._choose(embedder)
        return {}

    def _index_and_kill(self, notes: int) -> None:
        """Another process indexes, slowly, and is killed once so many notes have their vectors."""
        script = (
            "import sys, time; sys.path.insert(0, sys.argv[4]); from pathlib import Path\n"
            "import second_brain.indexing.embed as embed; embed.BATCH = 1\n"
            "from adapter import Adapter, BUILTIN\n"
            "embed_documents = BUILTIN.embed_documents\n"
            "BUILTIN.embed_documents = lambda texts: (time.sleep(0.05), embed_documents(texts))[1]\n"
            "a = Adapter(sys.argv[1], {}); a._open().sync()\n"
        )
        arguments = [sys.executable, "-c", script, str(self.vault), "", "", str(Path(__file__).parent)]
        process = subprocess.Popen(arguments)
        deadline = time.monotonic() + 60
        while self._embedded_notes() < notes and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def _embedded_notes(self) -> int:
        try:
            reader = SecondBrain(self._open().config).reader
        except SecondBrainError:
            return 0
        try:
            with reader.snapshot():
                return reader.connection.execute("SELECT count(path) FROM embeddings").get
        finally:
            reader.close()

    def start(self) -> None:
        if self.thread is not None:
            return
        self.stop_event = threading.Event()
        self.thread = threading.Thread(target=self._whole().watch, args=(self.stop_event, Quiet()), daemon=True)
        self.thread.start()
        self.settle(10)

    def stop(self) -> None:
        if self.thread is not None:
            self.stop_event.set()
            self.thread.join(20)
            assert not self.thread.is_alive()
            self.thread = None
        if self.brain is not None:
            self.brain.close()
            self.brain = None

    def settle(self, max_s: float = 10) -> None:
        deadline = time.monotonic() + max_s
        calm = 0
        while calm < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
            calm = calm + 1 if self._settled() else 0

    def _settled(self) -> bool:
        try:
            status = SecondBrain(self._open().config).status()
        except SecondBrainError:
            return False
        return not any(status[key] for key in ("stale_files", "untracked_files", "missing_files", "pending"))

    # -- asking ----------------------------------------------------------------------------------------------------------

    @answered
    def search(self, **args: Any) -> dict[str, Any]:
        brain = self._open()
        answer = brain.search(brain.request(**args))
        return {
            "results": [
                {
                    "path": hit.path,
                    "tags": list(hit.tags),
                    "snippet": hit.snippet.text,
                    "heading": " > ".join(hit.snippet.heading_path),
                }
                for hit in answer.hits
            ],
            "message": answer.message,
            "warnings": list(answer.warnings),
        }

    @answered
    def read_note(self, target: str) -> dict[str, Any]:
        return {"text": self._open().read(target).text}

    @answered
    def read_section(self, target: str, heading: str) -> dict[str, Any]:
        return {"text": self._open().read(target, sections=[heading]).text}

    @answered
    def outline(self, target: str) -> dict[str, Any]:
        note = self._open().read(target, view="outline")
        return {"headings": [entry.text for entry in note.outline if entry.level]}

    @answered
    def links(self, target: str) -> dict[str, Any]:
        links = self._open().links(target)
        return {
            "outgoing": list(links.outgoing),
            "backlinks": list(links.backlinks),
            "unresolved": list(links.unresolved),
        }

    @answered
    def mentions(self, target: str) -> dict[str, Any]:
        found = self._open().mentions(target)
        return {"results": [{"path": excerpt.path, "text": excerpt.text} for excerpt in found.shown]}

    @answered
    def tags(self) -> dict[str, Any]:
        return {"tags": list(self._open().facets().tags)}

    @answered
    def schema(self) -> dict[str, Any]:
        return {"text": self._open().schema_block()}

    @answered
    def stats(self) -> dict[str, Any]:
        status = self._open().status()
        return {"notes": status["notes"], "pending": status["pending"]}

    def db_check(self) -> dict[str, Any]:
        self.stop()
        with_writer = open_writer(self.db)
        try:
            ask = with_writer.connection.execute
            active = "SELECT id FROM models WHERE state = 'active'"
            orphans = ask(
                "SELECT count(*) FROM vectors WHERE chunk IS NOT NULL AND chunk NOT IN (SELECT id FROM chunks)"
            ).get
            lacking = ask(
                "SELECT count(*) FROM chunks WHERE layout = (SELECT layout FROM models WHERE state = 'active')"
                f" AND id NOT IN (SELECT chunk FROM vectors WHERE model IN ({active}) AND chunk IS NOT NULL)"
            ).get
            models = [name.split(":")[1] for (name,) in ask("SELECT fingerprint FROM models WHERE state = 'active'")]
        finally:
            with_writer.close()
        return {"orphan_vectors": orphans, "chunks_without_vector": lacking, "models": models}
