"""Vectors for passages and queries, from a model on this machine.

Importing this package loads neither numpy nor a model nor a client library: a search by words never pays for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from second_brain.embedding.base import DEFAULT_OLLAMA_URL, Embedder, words_that_fit
from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DEFAULT_OLLAMA_URL", "Embedder", "EmbedderSpec", "embedder_for", "make_embedder", "words_that_fit"]

TIMEOUT_S = 30.0
QUERY_TIMEOUT_S = 10.0
"""Somebody waits for the answer to a query; by words there is one at once.  Loading a model takes Ollama some seconds."""

_OLLAMA_FINGERPRINT = re.compile(r"ollama:(?P<model>.+):(?P<dimension>\d+):(?P<prefixes>[^:]+)")


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """Which embedder; the configuration resolves ``auto`` before, what is left of it means builtin.

    `threads` compute one text of a builtin or folder model.
    """

    kind: Literal["auto", "builtin", "ollama", "folder"] = "auto"
    ollama_url: str = DEFAULT_OLLAMA_URL
    ollama_model: str = ""
    folder: Path | None = None
    threads: int = 1


def make_embedder(spec: EmbedderSpec) -> Embedder:
    """The embedder of *spec*; nothing is loaded or asked yet.

    Raises `EmbedderUnavailable` when the specification lacks the name of the Ollama model or the folder.
    """
    if spec.kind == "ollama":
        if not spec.ollama_model:
            raise EmbedderUnavailable(
                "No Ollama model is named.", hint="Set ollama_model, nomic-embed-text for example."
            )
        return _ollama(spec.ollama_url, spec.ollama_model)
    if spec.kind == "folder":
        if spec.folder is None:
            raise EmbedderUnavailable(
                "No folder with a model is named.", hint="Set embedder to a folder with model.onnx and tokenizer.json."
            )
        from second_brain.embedding.folder import FolderEmbedder  # noqa: PLC0415 - lazy: numpy

        return FolderEmbedder(spec.folder, threads=spec.threads)
    return _builtin(spec.threads)


def embedder_for(fingerprint: str, spec: EmbedderSpec) -> Embedder | None:
    """The embedder that made the vectors under *fingerprint*, to ask queries of, if it can be made again.

    Builtin and Ollama models can, the latter at the URL of *spec*; a folder cannot be found from its hash.  The first version
    (``v1:MODEL``) asked Ollama without prefixes; where it did not store the model's name, it is the one of *spec*.
    """
    embedder: Embedder | None = None
    if fingerprint.startswith("v1:"):
        name = fingerprint.removeprefix("v1:") or spec.ollama_model
        return _ollama(spec.ollama_url, name, plain=True, timeout_s=QUERY_TIMEOUT_S) if name else None
    if fingerprint.startswith("builtin:"):
        embedder = _builtin(spec.threads)
    elif found := _OLLAMA_FINGERPRINT.fullmatch(fingerprint):
        embedder = _ollama(spec.ollama_url, found["model"], int(found["dimension"]), timeout_s=QUERY_TIMEOUT_S)
    return embedder if embedder is not None and embedder.fingerprint == fingerprint else None


def _builtin(threads: int) -> Embedder:
    from second_brain.embedding.builtin import BuiltinEmbedder  # noqa: PLC0415 - lazy: numpy

    return BuiltinEmbedder(threads=threads)


def _ollama(
    url: str, model: str, dimension: int | None = None, *, plain: bool = False, timeout_s: float = TIMEOUT_S
) -> Embedder:
    from second_brain.embedding.ollama import OllamaEmbedder  # noqa: PLC0415 - lazy: numpy

    return OllamaEmbedder(url, model, dimension=dimension, plain=plain, timeout_s=timeout_s)
