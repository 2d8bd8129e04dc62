"""What the program runs with: the values of all options for one vault, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from second_brain.model import Scope

EmbedderKind = Literal["builtin", "ollama", "folder"]


@dataclass(frozen=True, slots=True)
class VaultEntry:
    """A vault of the table ``vaults``; `db` is None when it has the default database."""

    name: str
    path: Path
    db: Path | None = None


@dataclass(frozen=True, slots=True)
class NamedScope:
    """A scope as agents get it.  `vault` "" means each vault, `ranking` "" that of the configuration or endpoint."""

    name: str
    scope: Scope
    vault: str = ""
    instructions: str = ""
    profile: str = "core"
    ranking: str = ""
    allow_sync: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every option with its value, absolute paths, for the chosen vault.

    `source` is the file that was read.  `origin` tells for each option what decided: "flag", "env", "file" or
    "default".  Instances can be pickled for the indexing process.
    """

    # the chosen vault
    vault_path: Path | None
    vault_name: str
    db_path: Path
    exclude_globs: tuple[str, ...]
    inline_tags: bool
    follow_symlinks: bool
    redact_patterns: tuple[str, ...]
    watch_enabled: bool
    poll_seconds: float
    # searching
    ranking: str
    exclude_status: tuple[str, ...]
    max_context_chunks: int
    snippet_chars: int
    schema_tags: int
    result_budget: int
    skip_folders: tuple[str, ...]
    name_endings: tuple[str, ...]
    # embedding
    embedder: str
    ollama_url: str
    embedding_model: str
    chunk_size: int
    chunk_overlap: int
    # the graph of notes
    graph_enabled: bool
    graph_knn_k: int
    graph_semantic_min: float
    graph_min_edge_score: float
    graph_weight_semantic: float
    graph_weight_link: float
    graph_weight_tag: float
    graph_weight_comention: float
    graph_comention_cap: int
    graph_comention_max_fanout: int
    # the program
    log_level: str
    log_file: Path | None
    hotkey: str
    endpoint_enabled: bool
    endpoint_port: int
    # several vaults, several readers
    vaults: Mapping[str, VaultEntry] = field(default_factory=dict)
    scopes: Mapping[str, NamedScope] = field(default_factory=dict)
    # about the configuration itself
    source: Path | None = None
    warnings: tuple[str, ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict)

    def embedder_kind(self) -> EmbedderKind:
        """What `embedder` comes to; "folder" means that `embedder` is the absolute path of a model's folder.

        ``auto`` is Ollama only when someone named a model or an address of it, be it the default one.
        """
        if self.embedder == "auto":
            named = any(self.origin.get(key, "default") != "default" for key in ("ollama_url", "embedding_model"))
            return "ollama" if named else "builtin"
        if self.embedder == "builtin":
            return "builtin"
        return "ollama" if self.embedder == "ollama" else "folder"
