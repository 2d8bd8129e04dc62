"""Facts of made-up vaults for tests of the note graph."""

from __future__ import annotations

import numpy as np

from second_brain.graph.facts import Complete
from second_brain.graph.formulas import Edge, Signals
from second_brain.graph.neighbours import nearest
from second_brain.graph.settings import Settings

PLAIN = Settings()


def unit(rows):
    """The rows as unit vectors of float32; a row of zeros stays one."""
    matrix = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0).astype(np.float32)


def vault(size, links=(), tags=None, vectors=None, settings=PLAIN):
    """Facts of notes ``note 00.md`` and so on; *links* are pairs, *tags* maps a note to words as typed."""
    outgoing = [frozenset(b for a, b in links if a == node) for node in range(size)]
    names = [{tag.casefold(): tag for tag in (tags or {}).get(node, ())} for node in range(size)]
    matrix = np.zeros((size, 2), dtype=np.float32) if vectors is None else vectors
    lists = nearest(matrix, np.arange(size), settings.knn_k, settings.semantic_min)
    paths = [f"note {node:02}.md" for node in range(size)]
    return Complete(paths, [f"Note {node:02}" for node in range(size)], outgoing, names, matrix, lists)


def random_vault(rng, settings=PLAIN):
    """A vault of 0 to 24 notes in which every kind of evidence and every lack of it occurs."""
    size = int(rng.integers(0, 25))
    links = {tuple(map(int, rng.integers(0, size, 2))) for _ in range(int(rng.integers(0, 3 * size + 1)))}
    tags = {node: [f"T{t}" for t in rng.integers(0, 4, rng.integers(0, 4))] for node in range(size)}
    vectors = unit(rng.integers(-2, 3, (size, 3))) if size else np.zeros((0, 3), dtype=np.float32)
    vectors[rng.random(size) < 0.1] = np.nan
    return vault(size, {(a, b) for a, b in links if a != b}, tags, vectors, settings)


def edge(a, b, composite, *, link=0.0, count=0):
    """An edge of which only the composite matters."""
    signals = Signals(composite, link, 0.0, 0.0)
    return Edge(a, b, signals, composite, a_to_b=link > 0, b_to_a=False, comention_count=count)
