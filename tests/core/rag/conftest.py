"""A vault from a dict of texts, indexed and open for the rag functions."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import pytest

from second_brain.index.opening import open_writer
from second_brain.index.reader import Reader, open_reader
from second_brain.indexing.chunks import layout_for
from second_brain.indexing.embed import Embedding
from second_brain.indexing.indexer import Indexer
from second_brain.indexing.preparing import Rules
from second_brain.model import Scope
from second_brain.search.rag import rag_query, rag_search
from second_brain.vault.ignore import IgnoreRules
from second_brain.vault.redaction import Redaction
from second_brain.vault.vault import Vault
from stub_embedder import StubEmbedder

NOW = 1_780_000_000.0
DAY = 86_400.0


@dataclass
class Rag:
    """An index and its embedder; `search` and `query` fill in what a service would."""

    reader: Reader
    embedder: Any
    database: Any
    defaults: dict[str, Any] = field(default_factory=dict)

    def search(self, query, **arguments):
        return rag_search(self.reader, query=query, **self._filled(arguments))

    def query(self, query, **arguments):
        return rag_query(self.reader, query=query, **self._filled(arguments))

    def paths(self, query, **arguments):
        return [hit["metadata"]["path"] for hit in self.search(query, **arguments)["hits"]]

    def _filled(self, arguments):
        return {"embedder_for": lambda _: self.embedder, "now": NOW, **self.defaults, **arguments}


@pytest.fixture
def open_rag(tmp_path):
    """`open_rag(notes, …)`: notes map a path to a text or to (text, age in days); without *embed* words alone are there."""
    readers = []

    def build(notes, *, embed=True, embedder=None, scope=None, size=500, overlap=80, redact=()):
        number = len(readers)
        root = tmp_path / f"vault{number}"
        root.mkdir()
        for path, note in notes.items():
            text, age = note if isinstance(note, tuple) else (note, 0.0)
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
            os.utime(file, (NOW - age * DAY,) * 2)
        embedder = embedder or StubEmbedder()
        database = tmp_path / f"{number}.db"
        writer = open_writer(database)
        layout = layout_for(size, overlap, embedder.max_words)
        Indexer(Vault(root, IgnoreRules([], "")), writer, Rules(Redaction(redact), layout)).sync()
        if embed:
            assert not Embedding(writer, embedder, layout).run().unavailable
        writer.close()
        reader = open_reader(database, scope or Scope())
        readers.append(reader)
        return Rag(reader, embedder, database)

    yield build
    for reader in readers:
        reader.close()
