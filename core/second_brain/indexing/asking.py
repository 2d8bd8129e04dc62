"""An embedder as a run of embedding asks it: interruptible, and held to what its protocol promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from second_brain.errors import EmbedderUnavailable
from second_brain.indexing.chunks import layout_for
from second_brain.indexing.stopping import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from second_brain.embedding import Embedder
    from second_brain.model import Layout

T = TypeVar("T")


class Asking:
    """Calls *pulse* while the embedder computes; when that raises, the embedder is told to end.

    Every failure is `EmbedderUnavailable`.
    """

    def __init__(self, embedder: Embedder, pulse: Callable[[], None]) -> None:
        self._embedder = embedder
        self._pulse = pulse

    def facts(self, wanted: Layout) -> tuple[str, int, Layout]:
        """Fingerprint, dimension, and the layout *wanted* or the smaller one that the model takes."""
        embedder = self._embedder
        return self._asked(
            lambda: (
                embedder.fingerprint,
                embedder.dimension,
                layout_for(wanted.size, wanted.overlap, embedder.max_words),
            )
        )

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text, shape (texts, dimension), each of length 1."""
        import numpy as np  # noqa: PLC0415 - a run that finds nothing to embed does without

        from second_brain.index.vector_checks import UNIT_WITHIN  # noqa: PLC0415 - likewise

        rows = np.asarray(self._asked(lambda: self._embedder.embed_documents(texts)))
        if rows.shape != (len(texts), self._embedder.dimension):
            raise EmbedderUnavailable(
                f"{self._embedder.name} gave vectors of the shape {rows.shape} for {len(texts)} passages.",
                hint="Choose another model.",
            )
        if not np.isfinite(rows).all():
            raise EmbedderUnavailable(
                f"{self._embedder.name} gave a vector that is no number.", hint="Choose another model."
            )
        if (np.abs(np.linalg.norm(rows, axis=1) - 1.0) > UNIT_WITHIN).any():
            raise EmbedderUnavailable(
                f"{self._embedder.name} gave a vector that is not of length 1.", hint="Choose another model."
            )
        return rows

    def works(self) -> bool:
        """Whether the embedder embeds a text that nothing can be wrong with."""
        try:
            probe = self._asked(lambda: self._embedder.embed_query("probe"))
        except EmbedderUnavailable:
            return False
        import numpy as np  # noqa: PLC0415

        return len(probe) == self._embedder.dimension and bool(np.isfinite(probe).all())

    def _asked(self, question: Callable[[], T]) -> T:
        return interruptible(question, self._pulse, cancel=self._embedder.close)
