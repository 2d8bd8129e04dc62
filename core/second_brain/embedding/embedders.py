"""Which embedder to use: the configured one for new vectors, the one that made them for those that are there."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from second_brain.embedding import embedder_for, make_embedder
from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from second_brain.embedding import Embedder, EmbedderSpec


class Embedders:
    """The embedders of one configuration; *given* is used instead of all of them, and is never closed here."""

    def __init__(self, spec: EmbedderSpec, given: Embedder | None = None) -> None:
        self._spec = spec
        self._given = given
        self._kept: dict[str, Embedder] = {}
        self._lock = threading.Lock()

    @property
    def ask_a_server(self) -> bool:
        """True when only a server tells what the configured embedder takes."""
        return self._given is None and self._spec.kind == "ollama"

    def configured(self, *, threads: int = 1) -> Embedder:
        """A new embedder as configured, loaded when it is first asked."""
        return self._given or make_embedder(replace(self._spec, threads=threads))

    @contextlib.contextmanager
    def lent(self, *, threads: int = 1) -> Iterator[Embedder]:
        """The configured embedder for as long as the block runs."""
        embedder = self.configured(threads=threads)
        try:
            yield embedder
        finally:
            if embedder is not self._given:
                embedder.close()

    def that_made(self, fingerprint: str) -> Embedder | None:
        """The embedder of the vectors of *fingerprint*, None when it cannot be had; it is kept until `close`."""
        with self._lock:
            found = self._kept.get(fingerprint) or self._find(fingerprint)
            if found is not None:  # what cannot be had now may be there the next time
                self._kept[fingerprint] = found
            return found

    def _find(self, fingerprint: str) -> Embedder | None:
        if self._given is not None:
            return self._given if self._given.fingerprint == fingerprint else None
        found = embedder_for(fingerprint, self._spec)
        if found is None and fingerprint.startswith("folder:") and self._spec.kind == "folder":
            with contextlib.suppress(EmbedderUnavailable):
                folder = self.configured()
                found = folder if folder.fingerprint == fingerprint else None
        return found

    def close(self) -> None:
        """Release the models."""
        with self._lock:
            kept = list(self._kept.values())
            self._kept.clear()
        for embedder in kept:
            if embedder is not self._given:
                embedder.close()
