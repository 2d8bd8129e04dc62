"""The one object that every face holds, and the one place where the parts are put together.

`SecondBrain` opens what a call needs when it needs it and delegates; it decides nothing itself.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from second_brain.errors import InvalidParameter, NotFound, VaultUnavailable
from second_brain.model import Scope

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

    from second_brain.config import Config
    from second_brain.embedding import Embedder
    from second_brain.embedding.embedders import Embedders
    from second_brain.graph.queries import Connected, LinkFigures, Neighbourhood, Related, VaultMap, Way
    from second_brain.graph.settings import Settings as GraphSettings
    from second_brain.index.reader import Reader
    from second_brain.index.writer import Writer
    from second_brain.indexing.freshness import Freshness
    from second_brain.indexing.worker import Listener
    from second_brain.keeping import Keeper, SyncOutcome
    from second_brain.model import ParsedNote
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


class Warned(Protocol):
    """An answer with warnings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that are to be told with it."""
        ...


Answered = TypeVar("Answered", bound=Warned)


class SecondBrain:
    """One vault and its index, seen through a scope."""

    def __init__(self, config: Config, scope: Scope | None = None, *, embedder: Embedder | None = None) -> None:
        self.config = config
        self.scope = scope or Scope()
        self._reader: Reader | None = None
        self._fresh_reader: Reader | None = None
        self._freshness: Freshness | None = None
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

    def fresh(self) -> tuple[Reader, tuple[str, ...]]:
        """The scoped index with what changed in the vault since laid over it, and what is to be said of it.

        Raises `VaultUnavailable`, and `IndexUnavailable` when there is no index yet.
        """
        from second_brain.index.reader import open_reader  # noqa: PLC0415

        with self._lock:
            if self._fresh_reader is None:
                self._fresh_reader = open_reader(self.config.db_path, self.scope)
            reader, freshness = self._fresh_reader, self._changes_since()
        look = freshness.lay_over(reader)
        self.notes_on_disk.use(look.vault)
        warning = f"{look.left:,} notes changed since the last sync: what is told is how things were then. Run: second-brain sync"
        return reader, (warning,) if look.left else ()

    def _changes_since(self) -> Freshness:
        if self._freshness is None:
            from second_brain.indexing.freshness import Freshness  # noqa: PLC0415
            from second_brain.indexing.preparing import Rules  # noqa: PLC0415
            from second_brain.keeping import wanted_layout  # noqa: PLC0415

            rules = Rules(self.redaction, wanted_layout(self.config), self.config.inline_tags)
            self._freshness = Freshness(self.config.db_path, self.scope, self.fresh_vault, rules)
        return self._freshness

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

    @property
    def graph_settings(self) -> GraphSettings:
        """How notes are compared."""
        from second_brain.graph.settings import settings_of  # noqa: PLC0415

        return settings_of(self.config)

    def embedder_for(self, fingerprint: str) -> Embedder | None:
        """The embedder that made the vectors of *fingerprint*, if it can be had."""
        return self.embedders.that_made(fingerprint)

    def read_parsed(self, path: str) -> ParsedNote | None:
        """A note as it is on disk now, redacted and parsed; None when it is gone.  Raises `VaultUnavailable` and `NoteUnreadable`."""
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

        return self._now(lambda reader: read_note(reader, target, self.read_parsed, **options))

    def links(self, target: str) -> NoteLinks:
        """See `reading.links.links_of`."""
        from second_brain.reading.links import links_of  # noqa: PLC0415

        return self._now(lambda reader: links_of(reader, target))

    def mentions(self, name: str, **options: Any) -> Mentions:
        """See `reading.mentions.find_mentions`; folders to skip and endings of names are the configured ones unless given."""
        from second_brain.reading.mentions import find_mentions  # noqa: PLC0415

        options.setdefault("skip_folders", self.config.skip_folders)
        options.setdefault("name_endings", self.config.name_endings)
        return self._now(lambda reader: find_mentions(reader, name, **options))

    def related(self, target: str, *, top_k: int = 10) -> Related:
        """See `graph.queries.related_notes`."""
        from second_brain.graph.queries import related_notes  # noqa: PLC0415

        return self._now(lambda reader: related_notes(reader, self.graph_settings, target, top_k=top_k))

    def connections(self, note_a: str, note_b: str) -> Connected:
        """See `graph.queries.connection_of`."""
        from second_brain.graph.queries import connection_of  # noqa: PLC0415

        return self._now(lambda reader: connection_of(reader, self.graph_settings, note_a, note_b))

    def map(self, *, min_score: float | None = None) -> VaultMap:
        """See `graph.queries.vault_map`."""
        from second_brain.graph.queries import vault_map  # noqa: PLC0415

        return self._now(lambda reader: vault_map(reader, self.graph_settings, min_score=min_score))

    def neighbourhood(self, target: str, *, depth: int = 1, limit: int = 50) -> Neighbourhood:
        """See `graph.queries.neighbourhood`."""
        from second_brain.graph.queries import neighbourhood  # noqa: PLC0415

        return self._now(lambda reader: neighbourhood(reader, target, depth=depth, limit=limit))

    def way(self, note_a: str, note_b: str, *, max_hops: int = 6) -> Way:
        """See `graph.queries.way_between`."""
        from second_brain.graph.queries import way_between  # noqa: PLC0415

        return self._now(lambda reader: way_between(reader, note_a, note_b, max_hops=max_hops))

    def link_figures(self) -> LinkFigures:
        """See `graph.queries.link_figures`."""
        from second_brain.graph.queries import link_figures  # noqa: PLC0415

        return self._now(link_figures)

    def _now(self, ask: Callable[[Reader], Answered]) -> Answered:
        """What *ask* finds in the vault as it is now, with what is to be said of that; so has the error for an unknown note."""
        reader, warnings = self.fresh()
        try:
            found = ask(reader)
        except NotFound as error:
            error.hint = " ".join((error.hint, *warnings))
            raise
        return replace(found, warnings=(*warnings, *found.warnings))

    def folders_named(self, name: str) -> tuple[str, ...]:
        """The folders as the vault has them that *name* means.  Raises `InvalidParameter` when there is none."""
        from second_brain.search.narrowing import folders_of  # noqa: PLC0415

        return folders_of(self.fresh()[0], self.request(folder=(name,)).query.filters)

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

    @property
    def keeper(self) -> Keeper:
        """What writes the index."""
        from second_brain.keeping import Keeper  # noqa: PLC0415

        return Keeper(self.config, self.fresh_vault, self.redaction, self.embedders, self.graph_settings)

    def writer(self, *, rebuild_damaged: bool = False) -> contextlib.AbstractContextManager[Writer]:
        """See `keeping.Keeper.writer`."""
        return self.keeper.writer(rebuild_damaged=rebuild_damaged)

    def sync(self, mode: str = "incremental", **options: Any) -> SyncOutcome:
        """See `keeping.Keeper.sync`; raises `InvalidParameter` under a scope."""
        self.require_whole_vault("sync")
        return self.keeper.sync(mode, **options)

    def watch(self, stop: threading.Event, listener: Listener, **options: Any) -> None:
        """See `keeping.Keeper.watch`; raises `InvalidParameter` under a scope."""
        self.require_whole_vault("watch")
        self.keeper.watch(stop, listener, **options)

    def require_whole_vault(self, what: str) -> None:
        """Raises `InvalidParameter` under a scope: writing (*what*) concerns the whole vault, and tells of it."""
        if not self.scope.whole_vault:
            raise InvalidParameter(
                f"{what} works on the whole vault, which a scope does not show.",
                hint=f"A scope is for reading; run {what} without it.",
                parameter="scope",
            )

    # -- about the index --------------------------------------------------------------------------------------------------

    def status(self, *, count_edges: bool = True) -> dict[str, Any]:
        """The fields of `rag.status` and more (see `status.status`); read-only, no note text.

        To *count_edges* takes as long as all of them do, half a second for 5,000 notes; else they are None.
        """
        from second_brain.status import status  # noqa: PLC0415

        return status(self.config, self.reader, self.vault, self.graph_settings if count_edges else None)

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
            readers = (self._reader, self._fresh_reader, self._freshness)
            self._reader = self._fresh_reader = self._freshness = None
            embedders, self._embedders = self._embedders, None
            self._notes_on_disk = None
            self._vault = None
        # Outside the lock: a search that is under way holds the reader and may want the lock.
        for reader in readers:
            if reader is not None:
                reader.close()
        if embedders is not None:
            embedders.close()
