"""Keep the index current: one sync, or for as long as it is wanted."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain import memory
from second_brain.errors import EmbedderUnavailable, IndexUnavailable, InvalidParameter

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator

    from second_brain.config import Config
    from second_brain.embedding import Embedder
    from second_brain.embedding.embedders import Embedders
    from second_brain.graph.settings import Settings as GraphSettings
    from second_brain.index.writer import Writer
    from second_brain.indexing.embed import Embedding, EmbedReport
    from second_brain.indexing.graph import GraphReport
    from second_brain.indexing.indexer import Indexer, Progress, SyncReport
    from second_brain.indexing.worker import Listener
    from second_brain.model import Layout
    from second_brain.vault.redaction import Redaction
    from second_brain.vault.vault import Vault


def _silent(_: Progress) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """What a sync did: to the notes, to the vectors (None when they were not asked for), and to the graph."""

    notes: SyncReport
    vectors: EmbedReport | None
    graph: GraphReport


class Keeper:
    """Writes the index of one vault, with the embedders that it is given; *fresh_vault* has the ignore rules of now."""

    def __init__(
        self,
        config: Config,
        fresh_vault: Callable[[], Vault],
        redaction: Redaction,
        embedders: Embedders,
        graph: GraphSettings,
    ) -> None:
        self._config = config
        self._fresh_vault = fresh_vault
        self._redaction = redaction
        self._embedders = embedders
        self._graph = graph

    @contextlib.contextmanager
    def writer(self, *, rebuild_damaged: bool = False) -> Iterator[Writer]:
        """The one writer of the index, for as long as the block runs."""
        from second_brain.index.opening import writing  # noqa: PLC0415

        with writing(self._config.db_path, rebuild_damaged=rebuild_damaged) as writer:
            yield writer

    def sync(
        self,
        mode: str = "incremental",
        *,
        file_path: str | None = None,
        embed: bool = True,
        report: Callable[[Progress], None] = _silent,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> SyncOutcome:
        """Bring the index up to date: "full", "incremental" or one "file"; then embed what is waiting.

        Raises `InvalidParameter` for another mode or a missing *file_path*, `WriterBusy`, `VaultUnavailable`,
        `IndexUnavailable`.  An embedder that fails stops nothing else; the outcome says so.  *should_stop* is asked ten times a
        second.
        """
        if mode not in {"full", "incremental", "file"}:
            raise InvalidParameter(
                f"There is no sync mode {mode!r}.", parameter="mode", options=("full", "incremental", "file")
            )
        if (mode == "file") != (file_path is not None):
            raise InvalidParameter(
                "The mode 'file' and a file path go together.",
                hint="Use: sync --mode file --file-path PATH",
                parameter="file_path",
            )
        vault = self._fresh_vault()  # first: without one no empty index is left behind
        memory.use_one_heap()
        with self._embedders.lent(threads=2) as embedder, self.writer(rebuild_damaged=mode == "full") as writer:
            indexer = self.indexer(vault, writer, embedder, report)
            if file_path is not None:
                notes = indexer.sync_file(file_path)
            else:
                notes = indexer.sync(full=mode == "full", should_stop=should_stop)
            vectors = self.embedding(writer, embedder, report).run(should_stop) if embed and not notes.stopped else None
            graph = self.update_graph(writer, should_stop)
        return SyncOutcome(notes, vectors, graph)

    def watch(
        self,
        stop: threading.Event,
        listener: Listener,
        *,
        embed: bool = True,
        report: Callable[[Progress], None] = _silent,
    ) -> None:
        """Keep the index current until *stop* is set; see `indexing.worker`.

        An index that is deleted or replaced meanwhile is built anew.
        """
        while not stop.is_set():
            try:
                self._watch(stop, listener, report, embed=embed)
            except IndexUnavailable as error:
                if not error.replaced:
                    raise
                listener.trouble(f"{error.message} A new one is built.")

    def _watch(
        self, stop: threading.Event, listener: Listener, report: Callable[[Progress], None], *, embed: bool
    ) -> None:
        """Keep one database file current until *stop* is set or it is there no more."""
        from second_brain.indexing.worker import Worker  # noqa: PLC0415

        vault = self._fresh_vault()
        memory.use_one_heap()
        with self._embedders.lent() as embedder, self.writer() as writer:
            indexer = self.indexer(vault, writer, embedder, report)
            embedding = self.embedding(writer, embedder, report) if embed else None
            worker = Worker(
                indexer,
                embedding,
                fresh_vault=self._fresh_vault,
                update_graph=lambda: self.update_graph(writer, stop.is_set),
                listener=listener,
                poll_s=self._config.poll_seconds,
            )
            worker.run(stop)

    # -- parts ----------------------------------------------------------------------------------------------------------

    def indexer(self, vault: Vault, writer: Writer, embedder: Embedder, report: Callable[[Progress], None]) -> Indexer:
        """What brings the notes of *vault* into the index."""
        from second_brain.indexing.indexer import Indexer  # noqa: PLC0415
        from second_brain.indexing.preparing import Rules  # noqa: PLC0415

        rules = Rules(self._redaction, self._first_layout(embedder), self._config.inline_tags)
        return Indexer(vault, writer, rules, report=report)

    def embedding(self, writer: Writer, embedder: Embedder, report: Callable[[Progress], None]) -> Embedding:
        """What fills in the vectors."""
        from second_brain.indexing.embed import Embedding  # noqa: PLC0415

        return Embedding(
            writer, embedder, wanted_layout(self._config), inline_tags=self._config.inline_tags, report=report
        )

    def update_graph(self, writer: Writer, should_stop: Callable[[], bool]) -> GraphReport:
        """Bring the stored graph up to date, unless it is turned off."""
        from second_brain.indexing.graph import GraphReport, bring_up_to_date  # noqa: PLC0415

        if not self._graph.enabled:
            return GraphReport()
        return bring_up_to_date(writer, self._graph, should_stop)

    def _first_layout(self, embedder: Embedder) -> Layout:
        """How notes are cut while the index has no model.

        An Ollama is not asked: words never wait for it.  The size that is wished for is what most of its models take; one that
        takes less has the notes cut again, from their stored text, before the first of them is embedded.
        """
        from second_brain.indexing.chunks import layout_for  # noqa: PLC0415

        wanted = wanted_layout(self._config)
        if self._embedders.ask_a_server:
            return wanted
        try:
            return layout_for(wanted.size, wanted.overlap, embedder.max_words)
        except EmbedderUnavailable:
            return wanted


def wanted_layout(config: Config) -> Layout:
    """How notes are to be cut where the model allows it."""
    from second_brain.indexing.chunks import layout_for  # noqa: PLC0415

    return layout_for(config.chunk_size, config.chunk_overlap, config.chunk_size)
