"""A vault from a dict of texts, indexed once and asked as a face asks: through `from_arguments` and `search`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from indexed_vault import IndexedVault
from second_brain.index.reader import open_reader
from second_brain.model import Scope
from second_brain.search.engine import Settings, Tools, search
from second_brain.search.explain import why_not
from second_brain.search.request import from_arguments
from stub_embedder import StubEmbedder

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


class Desk:
    """One open reader of an indexed vault.  `reads` are the paths whose files were read, in order."""

    def __init__(self, vault, scope):
        self.vault = vault
        self.reader = open_reader(vault.db, scope)
        self.reads = []
        self.embedders = {vault.embedder.fingerprint: vault.embedder}

    def read(self, path):
        self.reads.append(path)
        return self.vault.outline(path)

    def tools(self, **settings):
        return Tools(self.read, self.embedders.get, Settings(**settings))

    def request(self, query="", **arguments):
        return from_arguments(query=query, now=NOW, **arguments)

    def ask(self, query="", *, settings=None, **arguments):
        return search(self.reader, self.request(query, **arguments), self.tools(**(settings or {})))

    def paths(self, query="", **arguments):
        return [hit.path for hit in self.ask(query, **arguments).hits]

    def why_not(self, path, query="", **arguments):
        return why_not(self.reader, self.request(query, **arguments), path, self.tools())


@pytest.fixture(scope="module")
def open_desk(tmp_path_factory):
    """`open_desk(notes, …)`: notes map a path to a text or to (text, mtime); without *embed* words alone are there."""
    desks = []

    def build(notes, *, embed=True, embedder=None, scope=None, vault=None, **options):
        if vault is None:
            folder = tmp_path_factory.mktemp("desk")
            vault = IndexedVault(folder, embedder=embedder or StubEmbedder(64), **options)
            for path, note in notes.items():
                text, mtime = note if isinstance(note, tuple) else (note, None)
                vault.write(path, text, mtime=mtime)
            if embed:
                vault.index()
            else:
                vault.sync()
        desk = Desk(vault, scope or Scope())
        desks.append(desk)
        return desk

    yield build
    for desk in desks:
        desk.reader.close()


class Exploding:
    """Nothing may ask this for an embedder, let alone for a vector."""

    def get(self, fingerprint):
        raise AssertionError(f"an embedder was asked for: {fingerprint}")


@pytest.fixture
def exploding():
    return Exploding()
