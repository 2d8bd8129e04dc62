"""How the index, the vault and the machine are: figures for people and programs, never the text of a note."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from second_brain.errors import EmbedderUnavailable, SecondBrainError
from second_brain.graph.queries import edge_count
from second_brain.index import catalog, checking, vectors, worker_file
from second_brain.index.connection import real
from second_brain.index.reader import open_reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from second_brain.config import Config
    from second_brain.embedding import Embedder
    from second_brain.embedding.ollama import OllamaState
    from second_brain.graph.settings import Settings as GraphSettings
    from second_brain.index.reader import Reader
    from second_brain.model import Scope
    from second_brain.vault.vault import Vault


def status(config: Config, reader: Reader, vault: Vault, graph: GraphSettings | None) -> dict[str, Any]:
    """The 15 fields of `rag.status`, then ours.  Compares the vault's files with the index by size and time, reads none."""
    scan = vault.scan()
    with reader.snapshot():
        known = catalog.stamps(reader)
        model = vectors.active_model(reader)
        done, total = vectors.embedded(reader, model) if model else (0, catalog.newest_chunk_count(reader))
        worker = worker_state(reader)
        files = {path: stat for path, stat in scan.files.items() if reader.scope.whole_vault or path in known}
        problems = catalog.problems(reader)
        # A running worker that finds nothing new says so itself, and leaves the index alone.
        last_sync = max(float(catalog.meta(reader, "last_sync") or 0), worker.get("last_sync") or 0.0)
        links = len(catalog.links(reader))
        edges = edge_count(reader, graph) if graph else None
        built = float(catalog.meta(reader, "graph_built") or 0)
    return {
        "watch_enabled": config.watch_enabled,
        "watcher_state": "enabled" if config.watch_enabled else "disabled",
        "watcher_last_event": worker.get("last_event"),
        "max_context_chunks": config.max_context_chunks,
        "model": model.fingerprint if model and (done or reader.scope.whole_vault) else "",
        "model_available": bool(done),
        "index_size": total,
        "last_sync_timestamp": last_sync if last_sync and reader.scope.whole_vault else None,
        "last_tracked_files": len(known),
        "stale_files": sum(
            1 for path, stat in files.items() if path in known and known[path] != (stat.mtime_ns, stat.size)
        ),
        "untracked_files": sum(1 for path in files if path not in known),
        "missing_files": sum(1 for path in known if path not in files),
        "graph_nodes": len(known),
        "graph_edges": edges,
        "graph_last_built": built if built and reader.scope.whole_vault else None,
        "notes": len(known),
        "links": links,
        "passages": total,
        "embedded": done,
        "pending": total - done,
        "problems": [{"path": path, "reason": reason} for path, reason in problems],
        "worker": worker,
        "database": str(config.db_path),
        "database_bytes": reader.bytes_on_disk() if reader.scope.whole_vault else None,
        "vault": str(vault.root),
    }


def worker_state(reader: Reader) -> dict[str, Any]:
    """What a running worker last said of itself; {} when none runs, and inside a scope."""
    return worker_file.told(reader.path) if reader.scope.whole_vault else {}


def health(config: Config, scope: Scope) -> dict[str, bool]:
    """The keys of `rag.health`: "qdrant" stands for the vector store, "ollama" for a reachable Ollama, "fts" for the word index."""
    words = store = False
    try:
        reader = open_reader(config.db_path, scope)
    except SecondBrainError:
        return {"qdrant": False, "ollama": _ollama_reachable(config), "fts": False}
    try:
        with reader.snapshot():
            words = catalog.note_count(reader) >= 0
            reader.load_vector_functions()
            model = vectors.active_model(reader)
            store = model is not None and (scope.whole_vault or vectors.embedded(reader, model)[0] > 0)
    except SecondBrainError:
        pass
    finally:
        reader.close()
    return {"qdrant": store, "ollama": _ollama_reachable(config), "fts": words}


def _ollama_reachable(config: Config) -> bool:
    return config.embedder_kind() == "ollama" and _ollama(config).reachable


def _ollama(config: Config) -> OllamaState:
    from second_brain.embedding.ollama import OllamaEmbedder  # noqa: PLC0415 - imports the client

    return OllamaEmbedder(config.ollama_url, config.embedding_model).ping()


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that `doctor` looked at; `detail` says what was seen, or what is wrong and the way out."""

    name: str
    passed: bool
    detail: str


def doctor(config: Config, scope: Scope, vault: Callable[[], Vault], embedder: Callable[[], Embedder]) -> list[Check]:
    """Look at everything that could keep the program from working here; of the notes only those inside *scope* count."""
    return [
        Check("program", True, f"Python {sys.version.split()[0]} on {sys.platform}"),
        _tried("vector extension", _vector_extension),
        _tried("vault", lambda: _vault(vault(), scope)),
        _tried("index", lambda: _index(config, scope)),
        _tried("index folder", lambda: _writable(real(config.db_path))),
        _tried("embedder", lambda: _embedder(config, embedder())),
        *_watch_limit(),
    ]


def _tried(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except SecondBrainError as error:
        return Check(name, False, error.sentences)


def _vector_extension() -> str:
    from second_brain.index.connection import extension_version  # noqa: PLC0415

    return extension_version()


def _vault(vault: Vault, scope: Scope) -> str:
    scan = vault.scan()
    if not scope.whole_vault:
        return str(vault.root)
    unreadable = f", {len(scan.problems)} cannot be read" if scan.problems else ""
    return f"{_count(len(scan.files), 'note')} in {_count(scan.folders, 'folder')}{unreadable}: {vault.root}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else noun + 's'}"


def _index(config: Config, scope: Scope) -> str:
    reader = open_reader(config.db_path, scope)
    try:
        checking.check_file(reader.path)
        with reader.snapshot():
            return f"{_count(catalog.note_count(reader), 'note')}: {config.db_path}"
    finally:
        reader.close()


def _writable(path: Path) -> str:
    folder = next(parent for parent in path.parents if parent.exists())
    if not os.access(folder, os.W_OK):
        from second_brain.errors import IndexUnavailable  # noqa: PLC0415

        raise IndexUnavailable(f"The folder {folder} cannot be written.", hint="Choose another place with --db.")
    return str(folder)


def _embedder(config: Config, embedder: Embedder) -> str:
    try:
        if config.embedder_kind() == "ollama" and (problem := _ollama(config).problem):
            raise EmbedderUnavailable(
                problem, hint="Start it with: ollama serve. Or check ollama_url."
            )  # within seconds
        embedder.embed_query("probe")
        return f"{embedder.name}, {embedder.dimension} dimensions"
    finally:
        embedder.close()


def _watch_limit() -> list[Check]:
    """Linux only: how many folders can be watched."""
    try:
        with open("/proc/sys/fs/inotify/max_user_watches", encoding="ascii") as file:  # noqa: PTH123 - not a vault path
            limit = int(file.read())
    except (OSError, ValueError):
        return []
    enough = limit >= 8_192  # noqa: PLR2004 - the kernel's former default
    way_out = "" if enough else "; raise fs.inotify.max_user_watches, folders beyond it are polled"
    return [Check("watch limit", enough, f"{limit} folders{way_out}")]
