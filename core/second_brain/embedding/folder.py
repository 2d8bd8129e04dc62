"""An embedding model of the user's own: a folder with ``model.onnx`` and ``tokenizer.json``.

That is how sentence-transformers models are published for ONNX.  Length and pooling come from the model's own
configuration files where the folder has them.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from second_brain.embedding.base import words_that_fit
from second_brain.embedding.onnx_files import OnnxFiles, Pooling, file_sha256
from second_brain.embedding.onnx_runner import OnnxRunner
from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_POOLINGS: dict[str, Pooling] = {"mean_tokens": "mean", "cls_token": "cls", "mean": "mean", "cls": "cls"}
_DEFAULT_TOKENS = 512
_MOST_TOKENS = 2_048  # attention needs memory by the square: 200 MB here, 3 GB for 8,192 tokens
_FEWEST_TOKENS = 16
_EXTERNAL_WEIGHTS = ("model.onnx_data", "model.onnx.data")  # where exporters put weights beyond 2 GB
_OFFSET_POSITIONS = frozenset({"camembert", "mpnet", "roberta", "xlm-roberta"})  # two positions stand for padding


class FolderEmbedder:
    """The model in the folder *path*; making one is cheap, files are read on first need.

    `fingerprint` hashes the model and `dimension` loads it, both once.  No language is known to be missing.
    """

    languages: frozenset[str] | None = None

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        self._path = path
        self._hint = f"Put model.onnx and tokenizer.json of one model into {path}, or set embedder = builtin."
        self._runner = OnnxRunner(self._files, threads=threads, hint=self._hint)
        self._lock = threading.Lock()
        self._fingerprint = ""
        self.name = f"the model in {path}"

    @property
    def fingerprint(self) -> str:
        """``folder:<first 16 hex digits of the model's sha256>:<dimension>:<pooling>``."""
        with self._lock:
            if not self._fingerprint:
                dimension = self._runner.dimension
                weights = [file for name in _EXTERNAL_WEIGHTS if (file := self._path / name).is_file()]
                digest = file_sha256(self._path / "model.onnx", *weights, hint=self._hint)[:16]
                self._fingerprint = f"folder:{digest}:{dimension}:{self._pooling()}"
            return self._fingerprint

    @property
    def dimension(self) -> int:
        """As the model says."""
        return self._runner.dimension

    @property
    def max_tokens(self) -> int:
        """The smallest of the limits in the folder's configuration files, at most 2,048; 512 without any."""
        bert = self._json("sentence_bert_config.json").get("max_seq_length")
        tokenizer = self._json("tokenizer_config.json").get("model_max_length")
        config = self._json("config.json")
        positions = config.get("max_position_embeddings")
        if isinstance(positions, int) and config.get("model_type") in _OFFSET_POSITIONS:
            positions -= 2
        limits = [limit for limit in (bert, tokenizer, positions) if isinstance(limit, int) and limit >= _FEWEST_TOKENS]
        return min([*limits, _MOST_TOKENS]) if limits else _DEFAULT_TOKENS

    @property
    def max_words(self) -> int:
        """How many words of running text surely fit."""
        return words_that_fit(self.max_tokens)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text."""
        return self._runner.embed_all(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question, embedded as a document is."""
        return self._runner.embed(text)

    def close(self) -> None:
        """Unload the model."""
        self._runner.unload()

    def _files(self) -> OnnxFiles:
        return OnnxFiles(
            self._path / "model.onnx", self._path / "tokenizer.json", self.max_tokens, pooling=self._pooling()
        )

    def _pooling(self) -> Pooling:
        """How token vectors become one, as ``1_Pooling/config.json`` says in its older or newer form; else the mean."""
        config = self._json("1_Pooling/config.json")
        flags = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
        mode = str(config.get("pooling_mode") or "+".join(flags) or "mean").removeprefix("pooling_mode_")
        if mode not in _POOLINGS:
            raise EmbedderUnavailable(
                f"The model in {self._path} pools its tokens by {mode}; we can do mean and cls.", hint=self._hint
            )
        return _POOLINGS[mode]

    def _json(self, name: str) -> dict[str, Any]:
        """An optional configuration file, {} when the folder has none."""
        file = self._path / name
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise EmbedderUnavailable(f"The file {file} cannot be read: {error}", hint=self._hint) from error
        if not isinstance(content, dict):
            raise EmbedderUnavailable(f"The file {file} holds no JSON object.", hint=self._hint)
        return content
