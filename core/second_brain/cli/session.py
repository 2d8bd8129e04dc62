"""What all commands share: what the global options say, and the configuration and library that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from second_brain.cli.command_lines import typable, with_options
from second_brain.cli.output import Output
from second_brain.errors import ConfigError, InvalidParameter

if TYPE_CHECKING:
    from logging import Handler

    from second_brain.config import Config, NamedScope
    from second_brain.service import SecondBrain

DEMO = "demo"


@dataclass(slots=True)
class Session:
    """One run of the program.  The global options fill it; the configuration is read when a command first asks.

    `options` are those of the command by the names of its arguments, as in ``{"top_k": "--top-k"}``.
    """

    config_path: Path | None = None
    vault: str | None = None
    name: str | None = None
    flags: dict[str, Any] = field(default_factory=dict)
    scopes: list[str] = field(default_factory=list)
    as_json: bool = False
    verbose: bool = False
    out: Output = field(default_factory=Output)
    options: dict[str, str] = field(default_factory=dict)
    _chosen: str | None = None
    _config: Config | None = None
    _scope: NamedScope | None = None
    _brain: SecondBrain | None = None
    _asked: bool = False
    _log: list[Handler] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.out.typable = self.typable

    def typable(self, text: str) -> str:
        """*text* whose commands can be typed here, and concern the vault and the index of this run."""
        given = {
            "--config": self.config_path,
            "--vault": self.vault or self._chosen,
            "--db": self.flags.get("db_path"),
            "--embedder": self.flags.get("embedder"),
        }
        return typable(text, [str(part) for item in given.items() if item[1] is not None for part in item])

    def as_typed(self, text: str, parameter: str | None) -> str:
        """*text* of an error about *parameter* with the options of this command in the place of argument names."""
        return with_options(text, self.options, parameter)

    @property
    def config(self) -> Config:
        """The configuration for the chosen vault; its warnings are told once."""
        if self._config is None:
            self._config = self._load()
            for warning in self._config.warnings:
                self.out.warn(warning)
            self._log = start_logging(self._config, self.out, verbose=self.verbose)
        return self._config

    @property
    def scope(self) -> NamedScope:
        """What ``--scope`` selects."""
        config = self.config
        if self._scope is None:
            from second_brain.config import select_scope  # noqa: PLC0415 - cheap start

            self._scope = select_scope(self.scopes, config.scopes)
        return self._scope

    @property
    def brain(self) -> SecondBrain:
        """The library inside the scope."""
        if self._brain is None:
            from second_brain.service import SecondBrain  # noqa: PLC0415 - cheap start

            self._brain = SecondBrain(self.config, self.scope.scope)
        return self._brain

    @property
    def asking(self) -> SecondBrain:
        """The library for questions.  That the scope holds no note is told first: its name may be misspelt."""
        from second_brain.config.paths import shown  # noqa: PLC0415 - cheap start

        brain = self.brain
        if not self._asked and not brain.scope.whole_vault and not brain.notes():
            self.out.warn(f"No note lies in the scope {shown(self.scope_text)}.{self._near_scope()}")
        self._asked = True
        return brain

    @property
    def scope_text(self) -> str:
        """What the scope shows, in words."""
        scope = self.scope.scope
        parts = [
            *scope.folders,
            *(f"#{tag}" for tag in scope.tags),
            *(f"without {folder}" for folder in scope.excluded),
        ]
        return (f"{self.scope.name}: " if self.scope.name else "") + ", ".join(parts)

    def _near_scope(self) -> str:
        """The configured scope that may be meant; folders are not suggested, for those outside must stay unknown."""
        from second_brain.config.source import nearest  # noqa: PLC0415 - only on a mistake

        near = [
            name
            for value in self.scopes
            if value not in self.config.scopes
            for name in nearest(value, self.config.scopes)
        ]
        if near:
            return f" Did you mean the scope {near[0]}?"
        return "" if self.scope.name else " A folder is written from the vault's root, just as it is called there."

    @property
    def root(self) -> Path | None:
        """The vault's folder, for links to its files."""
        return self.config.vault_path

    def close(self) -> None:
        """Release the database, the models and the log."""
        if self._brain is not None:
            self._brain.close()
        for handler in self._log:
            handler.close()

    @property
    def vault_folder(self) -> Path | None:
        """What ``--vault`` names, as a folder: for commands that read no configuration."""
        if self.vault is None:
            return None
        from second_brain.config import paths  # noqa: PLC0415 - cheap start

        return paths.typed(self.vault)

    def _load(self) -> Config:
        from second_brain.config import load  # noqa: PLC0415 - cheap start

        config = load(config_path=self.config_path, flags=self.flags)
        vault = self.vault or self._vault_of_name(config) or self._vault_of_scope(config)
        if vault is None:
            return config
        self._chosen = vault
        flags = self.flags
        if vault == DEMO and DEMO not in config.vaults and not Path(DEMO).is_dir():
            vault = str(demo_vault())
            flags = {"db_path": demo_database(), **flags}
        return load(config_path=self.config_path, flags=flags, vault=vault)

    def _vault_of_name(self, config: Config) -> str | None:
        """The configured vault that ``--name`` means; beside ``--db`` or ``--vault`` it is only the name of a server."""
        if self.name is None or "db_path" in self.flags:
            return None
        known = tuple(dict.fromkeys(name for name in (*config.vaults, config.vault_name) if name))
        if self.name not in known:
            raise ConfigError(
                f"No configured vault is called {self.name!r}.",
                hint="List them with: second-brain vaults list",
                parameter="name",
                options=known,
            )
        return self.name

    def _vault_of_scope(self, config: Config) -> str | None:
        if "db_path" in self.flags:
            return None
        named = [config.scopes[name].vault for name in self.scopes if name in config.scopes]
        return named[0] or None if named else None


def demo_vault() -> Path:
    """The folder of the vault that comes with the program."""
    from importlib import resources  # noqa: PLC0415 - only when it is asked for

    folder = Path(str(resources.files("second_brain_resources") / "demo_vault"))
    if not folder.is_dir():
        raise InvalidParameter(
            "The demo vault is missing from this installation.",
            hint="Name a folder of Markdown notes instead.",
            parameter="vault",
        )
    return folder


def demo_database() -> Path:
    """The demo vault's own database, whatever the environment names for others."""
    from second_brain.config.paths import default_database  # noqa: PLC0415 - platformdirs

    return default_database(demo_vault())


def start_logging(config: Config, out: Output, *, verbose: bool) -> list[Handler]:
    """Log to standard error, and to the configured file; never the text of a note.  The handlers are the caller's.

    A file that cannot be written keeps no command from its work: *out* warns of it.
    """
    if config.log_file is None and config.log_level == "warning" and not verbose:
        return []  # what Python does without handlers is the same, and costs nothing
    import logging  # noqa: PLC0415 - cheap start

    from second_brain.config import paths  # noqa: PLC0415 - cheap start

    logger = logging.getLogger("second_brain")
    for former in logger.handlers:
        former.close()
    logger.handlers.clear()
    logger.setLevel("INFO" if verbose and config.log_level == "warning" else config.log_level.upper())
    handlers: list[Handler] = [logging.StreamHandler()]
    if config.log_file is not None:
        problem = paths.file_problem(config.log_file)
        try:
            if not problem:
                config.log_file.parent.mkdir(parents=True, exist_ok=True)
                handlers.append(logging.FileHandler(config.log_file, encoding="utf-8", errors="replace", delay=False))
        except OSError as error:
            problem = error.strerror or str(error)
        if problem:
            log = paths.shown(config.log_file)
            out.warn(f"The log {log} cannot be written: {problem}. Set log_file to another file, or take it out.")
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)
    logger.propagate = False
    return handlers
