"""The embedder is asked while nobody holds the reader, and not for a page of text."""

from __future__ import annotations

from second_brain.search.request import MOST_EMBEDDED


def test_the_embedder_is_asked_outside_of_the_snapshot_and_for_the_beginning_of_a_long_query(open_rag):
    rag = open_rag({"one.md": "# One\n\nA heron by the weir.", "two.md": "# Two\n\nOtters."})
    seen = []

    class Watching(type(rag.embedder)):
        def embed_query(self, text):
            seen.append((len(text), rag.reader.connection.in_transaction))
            return super().embed_query(text)

    embedder = Watching(rag.embedder.dimension, rag.embedder.name)
    found = rag.search("heron " * 2_000, embedder_for=lambda _: embedder)
    assert seen == [(MOST_EMBEDDED, False)]
    assert any("2000 characters" in warning for warning in found["warnings"])
    assert found["hits"]
