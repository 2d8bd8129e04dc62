"""Give every passage its vector, in small steps that can be stopped and resumed at any time.

Nothing is embedded inside a transaction.  A passage that alone cannot be embedded is left out and named; when nothing can be
embedded the embedder is unavailable, and the next run goes on where this one stopped.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from second_brain.errors import EmbedderUnavailable
from second_brain.index.writer import NOT_EMBEDDED
from second_brain.indexing.chunks import split
from second_brain.indexing.indexer import Progress
from second_brain.vault.markdown import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from second_brain.embedding import Embedder
    from second_brain.index.writer import WaitingChunk, Writer
    from second_brain.model import Layout

BATCH = 32
CUT_BATCH = 400


@dataclass(slots=True)
class EmbedReport:
    """`embedded` passages in `seconds`; `waiting` are left; `unavailable`: why it stopped, "" otherwise."""

    embedded: int = 0
    waiting: int = 0
    seconds: float = 0.0
    unavailable: str = ""
    errors: list[str] = field(default_factory=list)


class Embedding:
    """The run that fills one model's vectors.  Make a new one when the embedder changes."""

    def __init__(
        self,
        writer: Writer,
        embedder: Embedder,
        layout: Layout,
        *,
        inline_tags: bool = True,
        report: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self._writer = writer
        self._embedder = embedder
        self._layout = layout
        self._inline_tags = inline_tags
        self._report = report
        self._refused: dict[bytes, str] = {}  # text hash -> why

    def run(self, should_stop: Callable[[], bool] = lambda: False) -> EmbedReport:
        """Embed what is waiting until done, stopped, or the embedder fails; never raises `EmbedderUnavailable`."""
        outcome = EmbedReport()
        started = time.monotonic()
        try:
            self._run(outcome, should_stop)
        except EmbedderUnavailable as error:
            outcome.unavailable = error.sentences
        outcome.seconds = time.monotonic() - started
        return outcome

    def rest(self) -> None:
        """Give the model's memory back; the next run loads it again."""
        self._embedder.close()

    def _run(self, outcome: EmbedReport, should_stop: Callable[[], bool]) -> None:
        layout = self._writer.layout(self._layout)
        model = self._writer.begin_model(self._embedder.fingerprint, self._embedder.dimension, layout)
        outcome.waiting = self._cut_missing(layout, should_stop)
        if outcome.waiting:
            return
        waiting = self._writer.waiting(model)
        outcome.waiting = total = len(waiting)
        for start in range(0, total, BATCH):
            if should_stop():
                return
            chunks = self._writer.texts_to_embed(waiting[start : start + BATCH])
            self._embed(model, chunks, outcome)
            outcome.waiting = max(0, total - start - BATCH)
            self._report(Progress("meaning", total - outcome.waiting, total))
        if not should_stop():
            self._writer.forget_refused(model)
            self._writer.finish_model(model)

    def _cut_missing(self, layout: int, should_stop: Callable[[], bool]) -> int:
        """Cut notes that are in the index but not yet in this layout, from the stored text; returns how many are left."""
        missing = self._writer.notes_without_chunks(layout)
        for start in range(0, len(missing), CUT_BATCH):
            if should_stop():
                return len(missing) - start
            cuts = []
            for doc, path in missing[start : start + CUT_BATCH]:
                text = self._writer.stored_text(doc)
                note = parse(path, text, inline_tags=self._inline_tags)
                cuts.append((doc, text, split(note, self._layout)))
            self._writer.put_chunks(layout, [cut for cut in cuts if cut[2]])
        return 0

    def _embed(self, model: int, chunks: Sequence[WaitingChunk], outcome: EmbedReport) -> None:
        wanted = [chunk for chunk in chunks if chunk.text_hash not in self._refused]
        try:
            pairs = list(zip(wanted, self._vectors(wanted), strict=True)) if wanted else []
        except EmbedderUnavailable as error:
            pairs = self._one_by_one(wanted, error)
        self._writer.put_vectors(model, pairs)
        self._tell_refused(chunks, outcome)
        outcome.embedded += len(pairs)

    def _vectors(self, chunks: Sequence[WaitingChunk]) -> NDArray[np.float32]:
        """One row per chunk; an embedder that does not keep what its protocol promises counts as unavailable."""
        vectors = np.asarray(self._embedder.embed_documents([chunk.embedded for chunk in chunks]))
        if vectors.shape != (len(chunks), self._embedder.dimension):
            raise EmbedderUnavailable(
                f"{self._embedder.name} gave vectors of the shape {vectors.shape} for {len(chunks)} passages.",
                hint="Choose another model.",
            )
        if not np.isfinite(vectors).all():
            raise EmbedderUnavailable(
                f"{self._embedder.name} gave a vector that is no number.", hint="Choose another model."
            )
        return vectors

    def _one_by_one(
        self, chunks: Sequence[WaitingChunk], reason: EmbedderUnavailable
    ) -> list[tuple[WaitingChunk, NDArray[np.float32]]]:
        """What of a failed batch can be embedded; raises *reason* when the embedder fails on any text."""
        try:
            probe = self._embedder.embed_query("probe")
        except EmbedderUnavailable:
            raise reason from None
        if len(probe) != self._embedder.dimension or not np.isfinite(probe).all():
            raise reason
        pairs = []
        for chunk in chunks:
            try:
                pairs.append((chunk, self._vectors([chunk])[0]))
            except EmbedderUnavailable as error:
                self._refused[chunk.text_hash] = error.message
        return pairs

    def _tell_refused(self, chunks: Sequence[WaitingChunk], outcome: EmbedReport) -> None:
        reasons = {chunk.doc: self._refused[chunk.text_hash] for chunk in chunks if chunk.text_hash in self._refused}
        if reasons:
            self._writer.put_refused(reasons)
            outcome.errors += [f"{self._writer.path_of(doc)}: {NOT_EMBEDDED}: {why}" for doc, why in reasons.items()]
