"""A deterministic embedder for tests: texts that share words lie close together."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import numpy as np

from second_brain.errors import EmbedderUnavailable

_WORD = re.compile(r"\w+")


class StubEmbedder:
    """The vector of a text is the direction of the sum of its words', each a fixed random direction.

    `calls` counts calls, `texts` the texts in them; while `fail` is true every call raises `EmbedderUnavailable`.
    """

    languages: frozenset[str] | None = None
    max_tokens = 512
    max_words = 300

    def __init__(self, dimension: int = 64, name: str = "stub") -> None:
        self.dimension = dimension
        self.name = name
        self.fingerprint = f"stub:{name}:{dimension}"
        self.calls = 0
        self.texts = 0
        self.fail = False

    def embed_documents(self, texts):
        self._count(len(texts))
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(-1, self.dimension)

    def embed_query(self, text):
        self._count(1)
        return self._vector(text)

    def close(self):
        pass

    def _count(self, texts):
        self.calls += 1
        self.texts += texts
        if self.fail:
            raise EmbedderUnavailable("The stub embedder was told to fail.", hint="Set fail to False.")

    def _vector(self, text):
        words = _WORD.findall(text.casefold()) or [""]
        total = sum(_direction(word, self.dimension) for word in words)
        return (total / np.linalg.norm(total)).astype(np.float32)


@lru_cache(maxsize=1 << 16)
def _direction(word, dimension):
    seed = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    direction = np.random.default_rng(seed).standard_normal(dimension)
    return direction / np.linalg.norm(direction)
