"""Every option, declared once as data.

The loader, the writer, the command line, the settings window and docs/configuration.md derive from these declarations;
what an option means to the program is said in its one sentence and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from second_brain.config import checks

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["str", "int", "float", "bool", "path", "url", "list", "choice", "table"]

PROFILES = ("core", "retrieval", "vault-graph", "rag", "all")
RANKINGS = ("best", "meaning", "words")
MAX_INSTRUCTIONS = 600
MIN_CHUNK_SIZE = 20
LATER = "(used by a later release)"
"""In the sentence of an option that is read and checked and changes nothing yet."""


@dataclass(frozen=True, slots=True)
class Option:
    """One key.  `check` gets the converted value and returns what is wrong with it, "" when nothing is.

    `choices` are the only values of a choice and the words that are no folder of a path.  `section` is the table whose
    entries carry the key, "" at the top level.  A wrong value of a `lenient` option counts as not given, with a
    warning.
    """

    name: str
    kind: Kind
    default: Any
    help: str
    env: str = ""
    section: str = ""
    advanced: bool = False
    check: Callable[[Any], str] | None = None
    choices: tuple[str, ...] = ()
    lenient: bool = False

    @property
    def key(self) -> str:
        """The full key as `set_value` takes it, ``NAME`` standing for the entry of a table."""
        return f"{self.section}.NAME.{self.name}" if self.section else self.name

    @property
    def flag(self) -> str:
        """The option as a command-line flag: ``--chunk-size``, but ``--vault`` and ``--db`` for their paths."""
        return "--" + self.name.removesuffix("_path").replace("_", "-")


DEFAULT_EXCLUDED = (
    ".obsidian/**",
    ".git/**",
    "Templates/**",
    "_types/**",
    "_templates/**",
    "**/_templates*/**",
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
)

_VAULT = (
    Option("vault_path", "path", None, "The folder of the vault (or of any Markdown notes); it is only ever read."),
    Option(
        "db_path",
        "path",
        None,
        "The index database, never inside the vault; without it every vault has its own file in the data folder.",
        env="SECOND_BRAIN_DB",
    ),
    Option(
        "exclude_globs",
        "list",
        DEFAULT_EXCLUDED,
        "Notes that are not indexed: one segment matches a file name anywhere, a longer pattern the end of a path; "
        "[] takes all notes.",
    ),
    Option("inline_tags", "bool", True, "Whether #tags in the text count as tags, beside those of the frontmatter."),
    Option(
        "follow_symlinks",
        "bool",
        False,
        "Whether links to folders outside the vault, and to notes inside it, are followed; links to single files outside never are.",
        advanced=True,
    ),
    Option(
        "redact_patterns",
        "list",
        (),
        "Regular expressions; what they match never enters the index.",
        check=checks.patterns,
    ),
    Option(
        "watch_enabled",
        "bool",
        True,
        f"Whether long-running processes follow changes of the vault {LATER}; watch follows them in any case.",
    ),
    Option(
        "poll_seconds",
        "float",
        5.0,
        "Seconds between two looks at the vault where file events cannot be had.",
        advanced=True,
        check=checks.above(0),
    ),
)

_SEARCH = (
    Option(
        "ranking",
        "choice",
        "best",
        "How searches rank: best (words and meaning together), meaning, or words.",
        choices=RANKINGS,
    ),
    Option("exclude_status", "list", (), "Values of the frontmatter key status whose notes searches leave out."),
    Option("max_context_chunks", "int", 8, "The most passages that one query answers with.", check=checks.at_least(1)),
    Option(
        "snippet_chars",
        "int",
        400,
        "The most characters of a snippet.",
        env="SECOND_BRAIN_SNIPPET_CHARS",
        advanced=True,
        check=checks.at_least(1),
        lenient=True,
    ),
    Option(
        "schema_tags",
        "int",
        30,
        f"How many tags the description of the vault lists {LATER}.",
        env="SECOND_BRAIN_SCHEMA_TAGS",
        advanced=True,
        check=checks.at_least(0),
        lenient=True,
    ),
    Option(
        "result_budget",
        "int",
        4000,
        "About how many tokens the passages of one search may have in all.",
        env="SECOND_BRAIN_RESULT_BUDGET",
        advanced=True,
        check=checks.at_least(1),
        lenient=True,
    ),
    Option(
        "skip_folders",
        "list",
        (),
        "Folders in which mentions of a note are not looked for.",
        env="VAULT_SKIP_FOLDERS",
        advanced=True,
        check=checks.folders,
    ),
    Option(
        "name_endings",
        "list",
        (),
        "Endings that may follow a name in a plain-text mention, such as the s of a genitive.",
        env="VAULT_NAME_ENDINGS",
        advanced=True,
    ),
)

_EMBEDDING = (
    Option(
        "embedder",
        "path",
        "auto",
        "What computes meaning: builtin, ollama, the folder of a model, or auto (ollama when a model or URL of it is "
        "named, else builtin).",
        choices=("auto", "builtin", "ollama"),
    ),
    Option(
        "ollama_url",
        "url",
        "http://127.0.0.1:11434",
        "Where Ollama answers; the text of notes goes there and nowhere else.",
        env="SECOND_BRAIN_OLLAMA_URL",
        advanced=True,  # naming it chooses Ollama, so that `init` must not
    ),
    Option(
        "embedding_model",
        "str",
        "nomic-embed-text",
        "The model that Ollama embeds with.",
        env="SECOND_BRAIN_EMBED_MODEL",
        advanced=True,
        check=checks.not_blank,
    ),
    Option("chunk_size", "int", 500, "The most words of a chunk.", check=checks.at_least(MIN_CHUNK_SIZE)),
    Option("chunk_overlap", "int", 80, "How many words of a chunk the next one repeats.", check=checks.at_least(0)),
)

_GRAPH = (
    Option("graph_enabled", "bool", True, "Whether the graph of related notes is computed.", advanced=True),
    Option(
        "graph_knn_k",
        "int",
        8,
        "The most neighbours by meaning for each note.",
        advanced=True,
        check=checks.at_least(0),
    ),
    Option(
        "graph_semantic_min",
        "float",
        0.35,
        "The least cosine similarity of a neighbour by meaning.",
        advanced=True,
        check=checks.between(-1, 1),
    ),
    Option(
        "graph_min_edge_score",
        "float",
        0.15,
        "The least score of an edge; a link or a common mention keeps an edge whatever its score.",
        advanced=True,
        check=checks.between(0, 1),
    ),
    Option(
        "graph_weight_semantic",
        "float",
        0.5,
        "Weight of meaning in the score; the four weights should sum to 1.",
        advanced=True,
        check=checks.at_least(0),
    ),
    Option(
        "graph_weight_link",
        "float",
        0.25,
        "Weight of links in the score.",
        advanced=True,
        check=checks.at_least(0),
    ),
    Option(
        "graph_weight_tag",
        "float",
        0.15,
        "Weight of shared tags in the score.",
        advanced=True,
        check=checks.at_least(0),
    ),
    Option(
        "graph_weight_comention",
        "float",
        0.10,
        "Weight of common mentions in the score.",
        advanced=True,
        check=checks.at_least(0),
    ),
    Option(
        "graph_comention_cap",
        "int",
        3,
        "Common mentions beyond this number add nothing.",
        advanced=True,
        check=checks.at_least(1),
    ),
    Option(
        "graph_comention_max_fanout",
        "int",
        20,
        "A note with links to more notes than this makes no common mentions.",
        advanced=True,
        check=checks.at_least(0),
    ),
)

_PROGRAM = (
    Option(
        "log_level",
        "choice",
        "warning",
        "What is logged: debug, info, warning, or error.",
        advanced=True,
        choices=("debug", "info", "warning", "error"),
    ),
    Option("log_file", "path", None, "A file for the log, outside the vault, beside standard error.", advanced=True),
    Option("hotkey", "str", "", f"The global key that opens quick find, empty for none {LATER}.", advanced=True),
    Option(
        "endpoint_enabled",
        "bool",
        False,
        f"Whether the desktop application serves agents over loopback HTTP {LATER}.",
        advanced=True,
    ),
    Option(
        "endpoint_port",
        "int",
        0,
        f"The loopback port of that endpoint, 0 for any free one {LATER}.",
        advanced=True,
        check=checks.between(0, 65535),
    ),
)

_TABLES = (
    Option("vaults", "table", {}, "Several vaults by name; the first is taken unless --vault or vault_path chooses."),
    Option("scopes", "table", {}, "Named parts of a vault, for --scope and for agents."),
)

VAULT_OPTIONS = (
    Option("path", "path", None, "The folder of this vault.", section="vaults"),
    Option("db", "path", None, "Its database, when it shall not lie in the data folder.", section="vaults"),
)

SCOPE_OPTIONS = (
    Option("vault", "str", "", "The vault that the scope belongs to, empty for each.", section="scopes"),
    Option(
        "folders", "list", (), "Its notes lie in or below one of these folders.", section="scopes", check=checks.folders
    ),
    Option("tags", "list", (), "Its notes carry all of these tags.", section="scopes"),
    Option("excluded", "list", (), "Its notes lie in none of these folders.", section="scopes", check=checks.folders),
    Option(
        "instructions",
        "str",
        "",
        f"What agents are told about the scope, at most {MAX_INSTRUCTIONS} characters {LATER}.",
        section="scopes",
        check=checks.at_most_characters(MAX_INSTRUCTIONS),
    ),
    Option("profile", "choice", "core", f"The tools that agents get {LATER}.", section="scopes", choices=PROFILES),
    Option("ranking", "choice", None, "As the option ranking, for this scope.", section="scopes", choices=RANKINGS),
    Option("allow_sync", "bool", False, f"Whether agents may start an update of the index {LATER}.", section="scopes"),
)

OPTIONS: tuple[Option, ...] = (*_VAULT, *_SEARCH, *_EMBEDDING, *_GRAPH, *_PROGRAM, *_TABLES)
SECTIONS: dict[str, tuple[Option, ...]] = {"vaults": VAULT_OPTIONS, "scopes": SCOPE_OPTIONS}
RETIRED = ("qdrant_path", "fts_path", "sync_state_path", "collection_name")
BY_NAME: dict[str, Option] = {option.name: option for option in OPTIONS}
