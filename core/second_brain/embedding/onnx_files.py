"""The files of a sentence embedding model on disk."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from pathlib import Path

Pooling = Literal["mean", "cls"]


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """A model on disk; `max_tokens` includes the special tokens, `sha256` of the model is checked when given."""

    model: Path
    tokenizer: Path
    max_tokens: int
    pooling: Pooling = "mean"
    sha256: str = ""


def file_sha256(*paths: Path, hint: str) -> str:
    """The sha256 of the files one after the other, hex; 16 ms for the 23 MB of the builtin model."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as stream:
                while part := stream.read(1 << 20):
                    digest.update(part)
        except OSError as error:
            raise EmbedderUnavailable(f"The file {path} cannot be read: {error}", hint=hint) from error
    return digest.hexdigest()
