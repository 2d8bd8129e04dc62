"""The one object that every face holds, and the one place where the parts are put together.

`SecondBrain` opens what a call needs when it needs it and delegates; it decides nothing itself.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from second_brain import memory
from second_brain.errors import (
    EmbedderUnavailable,
    IndexUnavailable,
    InvalidParameter,
    VaultUnavailable,
)
from second_brain.model import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from second_brain.config import Config
    from second_brain.embedding import Embedder
    from second_brain.embedding.embedders import Embedders
    from second_brain.index.reader import Reader
    from second_brain.index.writer import Writer
    from second_brain.indexing.embed import Embedding, EmbedReport
    from second_brain.indexing.indexer import Indexer, Progress, SyncReport
    from second_brain.indexing.worker import Listener
    from second_brain.model import Layout, ParsedNote
    from second_brain.reading.links import NoteLinks
    from second_brain.reading.mentions import Mentions
    from second_brain.reading.notes import NoteText
    from second_brain.search.answer import Answer
    from second_brain.search.engine import Tools
    from second_brain.search.explain import WhyNot
    from second_brain.search.request import Request
    from second_brain.search.vocabulary import Facets
    from second_brain.status import Check
    from second_brain.vault.notes_on_disk import NotesOnDisk
    from second_brain.vault.redaction import Redaction
    from second_brain.vault.vault import Vault


def _silent(_: Progress) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """What a sync did: to the notes, and to the vectors (None when they were not asked for)."""

    notes: SyncReport
    vectors: EmbedReport | None


class SecondBrain:
    """One vault and its index, seen through a scope."""

    def __init__(self, config: Config, scope: Scope | None = None, *, embedder: Embedder | None = None) -> None:
        self.config = config
        self.scope = scope or Scope()
        self._reader: Reader | None = None
        self._vault: Vault | None = None
        self._given_embedder = embedder
        self._embedders: Embedders | None = None
        self._notes_on_disk: NotesOnDisk | None = None
        self._redaction: Redaction | None = None
        self._lock = threading.RLock()

    # -- parts ----------------------------------------------------------------------------------------------------------

    @property
    def reader(self) -> Reader:
        """The scoped index; raises `IndexUnavailable` when there is none yet."""
        with self._lock:
            if self._reader is None:
                from second_brain.index.reader import open_reader  # noqa: PLC0415

                self._reader = open_reader(self.config.db_path, self.scope)
            return self._reader

    @property
    def vault(self) -> Vault:
        """The vault's files; raises `VaultUnavailable`."""
        with self._lock:
            if self._vault is None:
                self._vault = self.fresh_vault()
            return self._vault

    def fresh_vault(self) -> Vault:
        """The vault with the ignore rules as they are now."""
        from second_brain.vault.ignore import IgnoreRules  # noqa: PLC0415
        from second_brain.vault.vault import Vault, read_ignore_file  # noqa: PLC0415

        if self.config.vault_path is None:
            raise VaultUnavailable(
                "No vault is configured.", hint="Name one with --vault FOLDER, or run: second-brain init"
            )
        root = Path(os.path.realpath(self.config.vault_path))
        rules = IgnoreRules(self.config.exclude_globs, read_ignore_file(root))
        return Vault(self.config.vault_path, rules, follow_symlinks=self.config.follow_symlinks)

    @property
    def redaction(self) -> Redaction:
        """The patterns that nothing shows or stores."""
        if self._redaction is None:
            from second_brain.vault.redaction import Redaction  # noqa: PLC0415

            self._redaction = Redaction(self.config.redact_patterns)
        return self._redaction

    @property
    def embedders(self) -> Embedders:
        """The embedder that new vectors come from, and those that made the ones that are there."""
        with self._lock:
            if self._embedders is None:
                from second_brain.embedding import EmbedderSpec  # noqa: PLC0415
                from second_brain.embedding.embedders import Embedders  # noqa: PLC0415

                kind = self.config.embedder_kind()
                folder = Path(self.config.embedder) if kind == "folder" else None
                spec = EmbedderSpec(
                    kind, ollama_url=self.config.ollama_url, ollama_model=self.config.embedding_model, folder=folder
                )
                self._embedders = Embedders(spec, self._given_embedder)
            return self._embedders

    def embedder_for(self, fingerprint: str) -> Embedder | None:
        """The embedder that made the vectors of *fingerprint*, if it can be had."""
        return self.embedders.that_made(fingerprint)

    def read_parsed(self, path: str) -> ParsedNote | None:
        """A note as it is on disk now, redacted and parsed; None when it is gone.  Raises `VaultUnavailable`."""
        return self.notes_on_disk.parsed(path)

    @property
    def notes_on_disk(self) -> NotesOnDisk:
        """The vault's notes as they are on disk now."""
        with self._lock:
            if self._notes_on_disk is None:
                from second_brain.vault.notes_on_disk import NotesOnDisk  # noqa: PLC0415

                self._notes_on_disk = NotesOnDisk(self.vault, self.redaction, inline_tags=self.config.inline_tags)
            return self._notes_on_disk

    @property
    def tools(self) -> Tools:
        """What a search may use."""
        from second_brain.search.engine import Settings, Tools  # noqa: PLC0415

        return Tools(
            self.notes_on_disk.outline,
            self.embedder_for,
            Settings(self.config.snippet_chars, self.config.result_budget, exclude_status=self.config.exclude_status),
        )

    # -- asking -----------------------------------------------------------------------------------------------------------

    def request(self, **arguments: Any) -> Request:
        """Check the arguments of a search (see `search.request.from_arguments`); the ranking defaults to the configured one."""
        from second_brain.search.dates import local_now  # noqa: PLC0415
        from second_brain.search.request import from_arguments  # noqa: PLC0415

        arguments.setdefault("ranking", self.config.ranking)
        return from_arguments(now=local_now(), **arguments)

    def search(self, request: Request, *, explain: bool = False) -> Answer:
        """See `search.engine.search`; *explain* fills the evidence of each hit."""
        from second_brain.search.engine import search  # noqa: PLC0415

        tools = self.tools
        return search(self.reader, request, replace(tools, settings=replace(tools.settings, explain=explain)))

    def why_not(self, request: Request, target: str) -> WhyNot:
        """Why the note *target* is not among the hits of *request*, which is checked first."""
        from second_brain.index.resolve import resolve  # noqa: PLC0415
        from second_brain.search import narrowing  # noqa: PLC0415
        from second_brain.search.explain import why_not  # noqa: PLC0415

        with self.reader.snapshot():
            narrowing.check(self.reader, request.query.filters)
        return why_not(self.reader, request, resolve(self.reader, target).path, self.tools)

    def rag(self, *, answer: bool, **arguments: Any) -> dict[str, Any]:
        """The passage-level retrieval of `rag.search`, or of `rag.query` with *answer*; see `search.rag`."""
        from second_brain.search.rag import rag_query, rag_search  # noqa: PLC0415

        ask = rag_query if answer else rag_search
        return ask(
            self.reader,
            exclude_status=self.config.exclude_status,
            embedder_for=self.embedder_for,
            now=time.time(),
            **arguments,
        )

    def read(self, target: str, **options: Any) -> NoteText:
        """See `reading.notes.read_note`."""
        from second_brain.reading.notes import read_note  # noqa: PLC0415

        return read_note(self.reader, target, self.read_parsed, **options)

    def links(self, target: str) -> NoteLinks:
        """See `reading.links.links_of`."""
        from second_brain.reading.links import links_of  # noqa: PLC0415

        return links_of(self.reader, target)

    def mentions(self, name: str, **options: Any) -> Mentions:
        """See `reading.mentions.find_mentions`; folders to skip and endings of names are the configured ones unless given."""
        from second_brain.reading.mentions import find_mentions  # noqa: PLC0415

        options.setdefault("skip_folders", self.config.skip_folders)
        options.setdefault("name_endings", self.config.name_endings)
        return find_mentions(self.reader, name, **options)

    def notes(self) -> int:
        """How many notes can be seen."""
        from second_brain.index import catalog  # noqa: PLC0415

        with self.reader.snapshot():
            return catalog.note_count(self.reader)

    def facets(self) -> Facets:
        """Folders and tags with counts."""
        from second_brain.search.vocabulary import facets  # noqa: PLC0415

        return facets(self.reader)

    def schema_block(self) -> str:
        """The map of the vault for a tool description."""
        from second_brain.search.vocabulary import schema_block  # noqa: PLC0415

        return schema_block(self.reader, most_tags=self.config.schema_tags)

    # -- keeping current --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writer(self, *, rebuild_damaged: bool = False) -> Iterator[Writer]:
        """The one writer of the index, for as long as the block runs."""
        from second_brain.index.opening import writing  # noqa: PLC0415

        with writing(self.config.db_path, rebuild_damaged=rebuild_damaged) as writer:
            yield writer

    def _indexer(self, vault: Vault, writer: Writer, embedder: Embedder, report: Callable[[Progress], None]) -> Indexer:
        from second_brain.indexing.indexer import Indexer  # noqa: PLC0415
        from second_brain.indexing.preparing import Rules  # noqa: PLC0415

        rules = Rules(self.redaction, self._first_layout(embedder), self.config.inline_tags)
        return Indexer(vault, writer, rules, report=report)

    def _first_layout(self, embedder: Embedder) -> Layout:
        """How notes are cut while the index has no model.

        An Ollama is not asked: words never wait for it.  The size that is wished for is what most of its models take; one that
        takes less has the notes cut again, from their stored text, before the first of them is embedded.
        """
        from second_brain.indexing.chunks import layout_for  # noqa: PLC0415

        wanted = self._wanted_layout()
        if self._given_embedder is None and self.config.embedder_kind() == "ollama":
            return wanted
        try:
            return layout_for(wanted.size, wanted.overlap, embedder.max_words)
        except EmbedderUnavailable:
            return wanted

    def _wanted_layout(self) -> Layout:
        from second_brain.indexing.chunks import layout_for  # noqa: PLC0415

        return layout_for(self.config.chunk_size, self.config.chunk_overlap, self.config.chunk_size)

    def _embedding(self, writer: Writer, embedder: Embedder, report: Callable[[Progress], None]) -> Embedding:
        from second_brain.indexing.embed import Embedding  # noqa: PLC0415

        return Embedding(writer, embedder, self._wanted_layout(), inline_tags=self.config.inline_tags, report=report)

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
        self.require_whole_vault("sync")
        vault = self.fresh_vault()  # first: without one no empty index is left behind
        memory.use_one_heap()
        with self.embedders.lent(threads=2) as embedder, self.writer(rebuild_damaged=mode == "full") as writer:
            indexer = self._indexer(vault, writer, embedder, report)
            if file_path is not None:
                notes = indexer.sync_file(file_path)
            else:
                notes = indexer.sync(full=mode == "full", should_stop=should_stop)
            vectors = (
                self._embedding(writer, embedder, report).run(should_stop) if embed and not notes.stopped else None
            )
        return SyncOutcome(notes, vectors)

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

        self.require_whole_vault("watch")
        vault = self.fresh_vault()
        memory.use_one_heap()
        with self.embedders.lent() as embedder, self.writer() as writer:
            indexer = self._indexer(vault, writer, embedder, report)
            embedding = self._embedding(writer, embedder, report) if embed else None
            worker = Worker(
                indexer,
                embedding,
                fresh_vault=self.fresh_vault,
                listener=listener,
                poll_s=self.config.poll_seconds,
            )
            worker.run(stop)

    def require_whole_vault(self, what: str) -> None:
        """Raises `InvalidParameter` under a scope: writing (*what*) concerns the whole vault, and tells of it."""
        if not self.scope.whole_vault:
            raise InvalidParameter(
                f"{what} works on the whole vault, which a scope does not show.",
                hint=f"A scope is for reading; run {what} without it.",
                parameter="scope",
            )

    # -- about the index --------------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """The fields of `rag.status` and more (see `status.status`); read-only, no note text."""
        from second_brain.status import status  # noqa: PLC0415

        return status(self.config, self.reader, self.vault)

    def health(self) -> dict[str, bool]:
        """The three keys of `rag.health` (see `status.health`)."""
        from second_brain.status import health  # noqa: PLC0415

        return health(self.config, self.scope)

    def doctor(self) -> list[Check]:
        """What could keep the program from working here, checked one by one."""
        from second_brain.status import doctor  # noqa: PLC0415

        return doctor(self.config, self.scope, self.fresh_vault, self.embedders.configured)

    def close(self) -> None:
        """Release the file and the models; the object may be used again."""
        with self._lock:
            reader, self._reader = self._reader, None
            embedders, self._embedders = self._embedders, None
            self._notes_on_disk = None
            self._vault = None
        # Outside the lock: a search that is under way holds the reader and may want the lock.
        if reader is not None:
            reader.close()
        if embedders is not None:
            embedders.close()
