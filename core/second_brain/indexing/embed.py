"""Give every passage its vector, in small steps that can be stopped and resumed at any time.

Nothing is embedded inside a transaction.  A passage that alone cannot be embedded is left out and named; one that met a bad
moment of the embedder (too slow, an error of its own) is tried again in the next run.  When nothing can be embedded the embedder
is unavailable, and the next run goes on where this one stopped.

Only here is the embedder asked what it takes, and nothing is embedded before it told: until then notes are cut by a guess (see
`service`), and should the guess be wrong they are cut again from their stored text, without a vector lost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from second_brain.errors import EmbedderUnavailable
from second_brain.index.writer import NOT_EMBEDDED
from second_brain.indexing.asking import Asking
from second_brain.indexing.indexer import Progress
from second_brain.indexing.stopping import PULSE_S, StoppedError
from second_brain.vault.head import has_body

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from second_brain.embedding import Embedder
    from second_brain.index.writer import WaitingChunk, Writer
    from second_brain.model import Chunk, Layout

BATCH = 32
SMALLEST_BATCH = 4
BATCH_S = 2.0
"""A batch that took longer makes the next one smaller: a stop throws away what is not finished."""

CUT_BATCH = 400
MOST_POSTPONED = 3
"""So many texts may wait for a better moment while a new model takes over: a stuck text is no reason to keep the old one."""

MOST_REFUSED = 0.1
"""A new model that refuses more than this share of what it embeds does not take over."""

BAD_MOMENTS = 3
"""So many texts one after the other that the embedder is too slow or too ill for, and the run waits for better times."""


@dataclass(slots=True)
class EmbedReport:
    """`embedded` passages in `seconds`; `waiting` are left, some of which met a bad moment of the embedder.

    `unavailable`: why it could not go on, "" otherwise.  `kept_former`: why the model does not take over although it is done, ""
    otherwise.  `stopped`: it was told to stop.
    """

    embedded: int = 0
    waiting: int = 0
    seconds: float = 0.0
    unavailable: str = ""
    kept_former: str = ""
    stopped: bool = False
    errors: list[str] = field(default_factory=list)


class Embedding:
    """The run that fills one model's vectors.  Make a new one when the embedder changes.

    Notes are cut by *layout*, or smaller where the model takes less.
    """

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
        self._batch = BATCH
        self._late: set[int] = set()  # chunks that met a bad moment come last, so that they hold up no other

    def run(
        self, should_stop: Callable[[], bool] = lambda: False, meanwhile: Callable[[], bool] = lambda: False
    ) -> EmbedReport:
        """Embed what is waiting until done, stopped, or the embedder fails; never raises `EmbedderUnavailable`.

        *should_stop* is asked ten times a second, also while the embedder computes; so is *meanwhile*, which may write to the
        index and then returns true.
        """
        run = _Run(should_stop, meanwhile)
        outcome = run.outcome
        started = time.monotonic()
        try:
            self._run(run, Asking(self._embedder, run.pulse))
        except StoppedError:
            outcome.stopped = True
        except EmbedderUnavailable as error:
            outcome.unavailable = error.sentences
        outcome.seconds = time.monotonic() - started
        return outcome

    def rest(self) -> None:
        """Give the model's memory back; the next run loads it again."""
        self._embedder.close()

    def _run(self, run: _Run, asking: Asking) -> None:
        fingerprint, dimension, cut = asking.facts(self._layout)
        layout = self._writer.layout(cut)
        model = self._writer.begin_model(fingerprint, dimension, layout)
        complete = False
        while not complete:
            self._cut_missing(layout, cut, run)
            complete = self._fill(model, run, asking)
        self._writer.forget_refused(model)
        self._take_over(model, run)

    def _take_over(self, model: int, run: _Run) -> None:
        """Let *model* answer, unless it has too few vectors for that."""
        left = self._writer.texts_to_embed(self._writer.waiting(model))
        run.outcome.waiting = sum(chunk.text_hash in run.postponed for chunk in left)
        answering, fingerprint = self._writer.answering()
        if answering != model:
            if len({chunk.text_hash for chunk in left} & run.postponed) > MOST_POSTPONED:
                return
            refused = len(left) - run.outcome.waiting
            embedded = self._writer.embedded(model)
            too_many = refused > max(MOST_POSTPONED, MOST_REFUSED * embedded) or (refused and not embedded)
            if too_many and fingerprint not in ("", self._embedder.fingerprint):
                run.outcome.kept_former = (
                    f"{self._embedder.name} embeds {embedded} of {embedded + len(left)} passages; the former model goes on"
                    " answering. Choose another model."
                )
                return
        self._writer.finish_model(model)

    def _cut_missing(self, layout: int, cut: Layout, run: _Run) -> None:
        """Cut notes that are in the index but not yet in this layout, from the stored text."""
        missing = self._writer.notes_without_chunks(layout)
        for start in range(0, len(missing), CUT_BATCH):
            run.outcome.waiting = len(missing) - start
            cuts = []
            for doc, path in missing[start : start + CUT_BATCH]:
                run.pulse_if_due()
                text = self._writer.stored_text(doc)
                if has_body(text):  # many notes are nothing but frontmatter, and are asked about in every run
                    cuts.append((doc, text, self._cut(path, text, cut)))
            if cuts:
                self._writer.put_chunks(layout, cuts)
        run.outcome.waiting = 0

    def _cut(self, path: str, text: str, layout: Layout) -> list[Chunk]:
        from second_brain.indexing.chunks import split  # noqa: PLC0415
        from second_brain.vault.markdown import parse  # noqa: PLC0415

        return split(parse(path, text, inline_tags=self._inline_tags), layout)

    def _fill(self, model: int, run: _Run, asking: Asking) -> bool:
        """Embed what waits; false when the index was changed on the way, so that something else may wait by now."""
        waiting = sorted(self._writer.waiting(model), key=self._late.__contains__)
        run.outcome.waiting = total = len(waiting)
        while run.outcome.waiting:
            run.pulse()
            if run.index_changed():
                return False
            start = total - run.outcome.waiting
            part = waiting[start : start + self._batch]
            began = time.monotonic()
            self._embed(model, self._writer.texts_to_embed(part), run, asking)
            self._batch = _next_batch(len(part), time.monotonic() - began)
            run.outcome.waiting -= len(part)
            self._report(Progress("meaning", total - run.outcome.waiting, total))
        run.pulse()
        return not run.index_changed()

    def _embed(self, model: int, chunks: Sequence[WaitingChunk], run: _Run, asking: Asking) -> None:
        tried = self._refused.keys() | run.postponed
        # A text that stands in many notes is asked for once in a batch, and is one bad text if it is one.
        wanted = list({chunk.text_hash: chunk for chunk in reversed(chunks) if chunk.text_hash not in tried}.values())[
            ::-1
        ]
        vectors: dict[bytes, NDArray[np.float32]] = {}
        try:
            if wanted:
                rows = asking.vectors([chunk.embedded for chunk in wanted])
                vectors |= zip((chunk.text_hash for chunk in wanted), rows, strict=True)
                run.bad_moments = 0
        except EmbedderUnavailable as error:
            if not asking.works():
                raise
            self._one_by_one(wanted, vectors, run, asking, error)
        finally:
            pairs = [(chunk, vectors[chunk.text_hash]) for chunk in chunks if chunk.text_hash in vectors]
            self._writer.put_vectors(model, pairs)
            run.outcome.embedded += len(pairs)
            self._late |= {chunk.id for chunk in chunks if chunk.text_hash in run.postponed}
        self._tell_refused(chunks, run.outcome)

    def _one_by_one(
        self,
        chunks: Sequence[WaitingChunk],
        vectors: dict[bytes, NDArray[np.float32]],
        run: _Run,
        asking: Asking,
        reason: EmbedderUnavailable,
    ) -> None:
        """Add to *vectors* what of a failed batch can be embedded; raises when the embedder turns out to be ill."""
        for chunk in sorted(chunks, key=lambda chunk: chunk.id in self._late):
            try:
                vectors[chunk.text_hash] = self._alone(chunk, asking)
                run.bad_moments = 0
            except EmbedderUnavailable as error:
                if not asking.works():
                    raise
                if not error.passing:
                    self._refused[chunk.text_hash] = error.message
                    continue
                run.postponed.add(chunk.text_hash)
                run.outcome.errors.append(f"{self._writer.path_of(chunk.doc)}: {NOT_EMBEDDED} yet: {error.message}")
                run.bad_moments += 1
                if run.bad_moments >= BAD_MOMENTS:
                    raise reason from error

    def _alone(self, chunk: WaitingChunk, asking: Asking) -> NDArray[np.float32]:
        """The vector of *chunk*; what fails for a reason of its own is tried a second time before it is believed."""
        vector: NDArray[np.float32]
        try:
            vector = asking.vectors([chunk.embedded])[0]
        except EmbedderUnavailable as error:
            if error.passing or not asking.works():
                raise
            vector = asking.vectors([chunk.embedded])[0]
        return vector

    def _tell_refused(self, chunks: Sequence[WaitingChunk], outcome: EmbedReport) -> None:
        reasons = {chunk.doc: self._refused[chunk.text_hash] for chunk in chunks if chunk.text_hash in self._refused}
        if reasons:
            self._writer.put_refused(reasons)
            outcome.errors += [f"{self._writer.path_of(doc)}: {NOT_EMBEDDED}: {why}" for doc, why in reasons.items()]


def _next_batch(passages: int, seconds: float) -> int:
    """How many passages to embed next, when so many took so long."""
    return max(SMALLEST_BATCH, min(BATCH, int(passages * BATCH_S / max(seconds, 1e-3))))


class _Run:
    """What one run knows: its outcome, what it postponed, and whether it is to go on."""

    def __init__(self, should_stop: Callable[[], bool], meanwhile: Callable[[], bool]) -> None:
        self.outcome = EmbedReport()
        self.postponed: set[bytes] = set()  # text hashes
        self.bad_moments = 0  # one after the other
        self._should_stop = should_stop
        self._meanwhile = meanwhile
        self._changed = False
        self._pulse_at = time.monotonic() + PULSE_S

    def pulse(self) -> None:
        """Do what is to be done meanwhile; raises `StoppedError` when the run is to stop."""
        if self._should_stop():
            raise StoppedError
        self._changed |= self._meanwhile()
        self._pulse_at = time.monotonic() + PULSE_S

    def pulse_if_due(self) -> None:
        """`pulse`, at most ten times a second."""
        if time.monotonic() >= self._pulse_at:
            self.pulse()

    def index_changed(self) -> bool:
        """Whether the index was changed since this was asked last."""
        changed, self._changed = self._changed, False
        return changed
