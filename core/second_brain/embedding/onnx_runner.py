"""Embed with an ONNX model, from any thread, loaded when the first text comes and unloaded when told."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from second_brain import memory
from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from second_brain.embedding.onnx_files import OnnxFiles
    from second_brain.embedding.onnx_model import OnnxModel


class OnnxRunner:
    """Embeds with the model that *locate* names, from any thread; *hint* is the way out when it cannot be used.

    *locate* is called at each load (the first text, and the first after `unload`) and may raise `EmbedderUnavailable`.
    """

    def __init__(self, locate: Callable[[], OnnxFiles], *, threads: int, hint: str) -> None:
        self._locate = locate
        self._threads = threads
        self._hint = hint
        self._lock = threading.Lock()
        self._model: OnnxModel | None = None
        self._unloads = 0

    @property
    def dimension(self) -> int:
        """The length of a vector; loads the model."""
        return self._loaded().dimension

    def embed(self, text: str) -> NDArray[np.float32]:
        """The unit vector of *text*, shape (dimension,); a long text is embedded in pieces, nothing is left out."""
        model = self._loaded()
        rows = []
        pieces = list(model.pieces(text))
        for piece in pieces:
            with self._lock:  # held for one piece, so that a query waits for one passage of the indexer at most
                rows.append(model.run(piece))
        return model.joined(rows, [len(piece) for piece in pieces])

    def embed_all(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text; ends early with `EmbedderUnavailable` when another thread calls `unload`."""
        unloads = self._unloads
        model = self._loaded()
        rows = []
        for text in texts:
            if self._unloads != unloads:
                raise EmbedderUnavailable("The embedding model was told to stop.", hint="Embed the texts again.")
            rows.append(self.embed(text))
        return model.matrix(rows)

    def unload(self) -> None:
        """Give the memory of the model back."""
        self._unloads += 1
        with self._lock:
            model, self._model = self._model, None
        if model is not None:
            del model
            memory.trim()

    def _loaded(self) -> OnnxModel:
        with self._lock:
            if self._model is None:
                from second_brain.embedding.onnx_model import OnnxModel  # noqa: PLC0415 - numpy, 90 ms

                self._model = OnnxModel(self._locate(), threads=self._threads, hint=self._hint)
            return self._model
