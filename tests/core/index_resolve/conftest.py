from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from second_brain.index.opening import open_writer
from second_brain.index.reader import Reader, open_reader
from second_brain.indexing.chunks import layout_for
from second_brain.indexing.indexer import Indexer
from second_brain.indexing.preparing import Rules
from second_brain.model import Scope
from second_brain.vault.ignore import IgnoreRules
from second_brain.vault.redaction import Redaction
from second_brain.vault.vault import Vault

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Indexed:
    """A vault on disk with its index, and a scoped reader of it."""

    root: Path
    reader: Reader
    indexer: Indexer


@pytest.fixture
def index_of(tmp_path):
    """Build and index a vault: ``index_of({path: text}, Scope(...))``."""
    opened = []

    def build(files: dict[str, str], scope: Scope = Scope()) -> Indexed:  # noqa: B008 - a frozen value
        root = tmp_path / f"case{len(opened)}" / "vault"
        for path, text in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="")
        writer = open_writer(root.parent / "index.db")
        indexer = Indexer(Vault(root, IgnoreRules([], "")), writer, Rules(Redaction(()), layout_for(500, 80, 178)))
        indexer.sync()
        reader = open_reader(root.parent / "index.db", scope)
        opened.append((reader, writer))
        return Indexed(root, reader, indexer)

    yield build
    for reader, writer in opened:
        reader.close()
        writer.close()
