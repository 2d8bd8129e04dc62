"""What an embedder is, whoever makes the vectors.

Nothing here imports numpy: the package stays cheap for a search by words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

DEFAULT_OLLAMA_URL = "http://127.0.0.1:11434"

_WORDS_PER_TOKEN = 0.7  # running text of European languages has 0.7 to 0.8 words a token
_MOST_WORDS = 2_000


class Embedder(Protocol):
    """Turns text into unit vectors; texts that mean the same lie close together.

    Nothing is ever truncated: a text longer than the model takes is embedded in pieces, and its vector is the
    normalised mean of theirs, weighted by length.  Every failure is `EmbedderUnavailable` with a hint, also from the
    attributes that may have to ask the model first (`fingerprint`, `dimension`, `max_tokens`, `max_words` of any but
    the builtin one).  Calls from several threads are safe.
    """

    @property
    def fingerprint(self) -> str:
        """Equal for two embedders exactly when their vectors may be compared; the key of stored vectors."""
        ...

    @property
    def name(self) -> str:
        """How a person calls it."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def max_tokens(self) -> int:
        """What the model takes at once, its special tokens included."""
        ...

    @property
    def max_words(self) -> int:
        """How many words of running text surely fit into `max_tokens`."""
        ...

    @property
    def languages(self) -> frozenset[str] | None:
        """The ISO 639-1 codes that the model covers; None for many or unknown ones: restrict nothing."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text, shape (len(texts), dimension)."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question, shape (dimension,)."""
        ...

    def close(self) -> None:
        """Give back memory and connections; the next call takes them again.

        Ends what other threads have under way as soon as it can, with `EmbedderUnavailable`.
        """
        ...


def words_that_fit(max_tokens: int) -> int:
    """How many words of running text surely fit into *max_tokens*."""
    return min(_MOST_WORDS, int(max_tokens * _WORDS_PER_TOKEN))
