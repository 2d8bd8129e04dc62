"""A vault in a folder and its index, for tests that change the one and look at the other."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

from index_dump import logical_dump
from second_brain.graph.settings import Settings as GraphSettings
from second_brain.index.opening import open_writer
from second_brain.index.reader import open_reader
from second_brain.indexing.embed import Embedding
from second_brain.indexing.graph import bring_up_to_date
from second_brain.indexing.indexer import Indexer
from second_brain.indexing.preparing import Rules
from second_brain.model import Layout, Scope
from second_brain.search.engine import Settings, Tools
from second_brain.vault.ignore import IgnoreRules
from second_brain.vault.markdown import parse
from second_brain.vault.outline import Outline
from second_brain.vault.redaction import Redaction
from second_brain.vault.vault import Vault
from stub_embedder import StubEmbedder

LAYOUT = Layout(40, 8)


class IndexedVault:
    """`write` and friends change files; `sync`, `embed` and `dump` open the index and close it again."""

    def __init__(self, folder, *, embedder=None, layout=LAYOUT, redact=(), exclude=(), clock=None):
        self.root = Path(folder) / "vault"
        self.db = Path(folder) / "data" / "index.db"
        self.root.mkdir(parents=True, exist_ok=True)
        self.embedder = embedder or StubEmbedder(16)
        self.layout = layout
        self.redact = Redaction(redact)
        self.exclude = tuple(exclude)
        self.clock = clock
        self._parsed = {}

    # -- files

    def write(self, path, text, *, mtime=None):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        if mtime is not None:
            os.utime(place, (mtime, mtime))
        return place

    def write_all(self, notes):
        for path, text in notes.items():
            self.write(path, text)
        return self

    # -- index

    @contextmanager
    def writer(self):
        writer = open_writer(self.db)
        try:
            yield writer
        finally:
            writer.close()

    def vault(self):
        return Vault(self.root, IgnoreRules(self.exclude))

    def indexer(self, writer):
        options = {"clock": self.clock} if self.clock else {}
        return Indexer(self.vault(), writer, Rules(self.redact, self.layout), **options)

    def sync(self, *, full=False):
        with self.writer() as writer:
            return self.indexer(writer).sync(full=full)

    def look_at(self, batch):
        with self.writer() as writer:
            return self.indexer(writer).look_at(batch)

    def embed(self, should_stop=lambda: False):
        with self.writer() as writer:
            return Embedding(writer, self.embedder, self.layout).run(should_stop)

    def index(self):
        """Sync and embed in one go; returns itself."""
        with self.writer() as writer:
            self.indexer(writer).sync()
            Embedding(writer, self.embedder, self.layout).run()
        return self

    def graph(self, **settings):
        with self.writer() as writer:
            return bring_up_to_date(writer, GraphSettings(**settings))

    def dump(self):
        return logical_dump(self.db)

    def fresh_dump(self, folder):
        """The dump of a new index of the same files."""
        other = IndexedVault(folder, embedder=StubEmbedder(self.embedder.dimension, self.embedder.name))
        other.root, other.layout, other.redact, other.exclude = self.root, self.layout, self.redact, self.exclude
        return other.index().dump()

    # -- asking

    @contextmanager
    def reader(self, scope=Scope()):  # noqa: B008 - frozen
        reader = open_reader(self.db, scope)
        try:
            with reader.snapshot():
                yield reader
        finally:
            reader.close()

    def read(self, path):
        """The note as it is now, parsed once per time stamp."""
        place = self.root / path
        if not place.exists():
            return None
        stamp = place.stat().st_mtime_ns
        if self._parsed.get(path, (0, None))[0] != stamp:
            self._parsed[path] = stamp, parse(path, self.redact.apply(place.read_text("utf-8", "replace")))
        return self._parsed[path][1]

    def outline(self, path):
        """What a search is given of a note."""
        note = self.read(path)
        return None if note is None else Outline(note.text)

    def tools(self, **settings):
        embedders = {self.embedder.fingerprint: self.embedder}
        return Tools(self.outline, embedders.get, Settings(**settings))
