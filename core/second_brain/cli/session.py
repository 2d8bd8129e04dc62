"""What all commands share: the global options, and the configuration and library that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.output import Output
from second_brain.errors import ConfigError, InvalidParameter

if TYPE_CHECKING:
    from logging import Handler

    from second_brain.config import Config, NamedScope
    from second_brain.service import SecondBrain

DEMO = "demo"
GLOBAL_HINT = "Global options (--config, --vault, --scope, --json, …) may stand here too: second-brain --help"


@dataclass(slots=True)
class Session:
    """One run of the program.  The global options fill it; the configuration is read when a command first asks."""

    config_path: Path | None = None
    vault: str | None = None
    name: str | None = None
    flags: dict[str, Any] = field(default_factory=dict)
    scopes: list[str] = field(default_factory=list)
    as_json: bool = False
    verbose: bool = False
    out: Output = field(default_factory=Output)
    _config: Config | None = None
    _scope: NamedScope | None = None
    _brain: SecondBrain | None = None
    _log: list[Handler] = field(default_factory=list)

    @property
    def config(self) -> Config:
        """The configuration for the chosen vault; its warnings are told once."""
        if self._config is None:
            self._config = self._load()
            for warning in self._config.warnings:
                self.out.warn(warning)
            self._log = start_logging(self._config, verbose=self.verbose)
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
    def root(self) -> Path | None:
        """The vault's folder, for links to its files."""
        return self.config.vault_path

    def close(self) -> None:
        """Release the database, the models and the log."""
        if self._brain is not None:
            self._brain.close()
        for handler in self._log:
            handler.close()

    def _load(self) -> Config:
        from second_brain.config import load  # noqa: PLC0415 - cheap start

        config = load(config_path=self.config_path, flags=self.flags)
        vault = self.vault or self._vault_of_name(config) or self._vault_of_scope(config)
        if vault is None:
            return config
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


def start_logging(config: Config, *, verbose: bool) -> list[Handler]:
    """Log to standard error, and to the configured file; never the text of a note.  The handlers are the caller's."""
    if config.log_file is None and config.log_level == "warning" and not verbose:
        return []  # what Python does without handlers is the same, and costs nothing
    import logging  # noqa: PLC0415 - cheap start

    logger = logging.getLogger("second_brain")
    logger.handlers.clear()
    logger.setLevel("INFO" if verbose and config.log_level == "warning" else config.log_level.upper())
    handlers: list[Handler] = [logging.StreamHandler()]
    if config.log_file is not None:
        try:
            config.log_file.parent.mkdir(parents=True, exist_ok=True)
            handlers.append(logging.FileHandler(config.log_file, encoding="utf-8", errors="replace", delay=False))
        except OSError as error:
            raise ConfigError(
                f"The log {config.log_file} cannot be written: {error.strerror or error}.",
                hint="Set log_file to another file, or take it out.",
                parameter="log_file",
            ) from error
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)
    logger.propagate = False
    return handlers


_OURS = "global_"
"""So begin the names of the global options, for a command may have an argument of that name."""

# --- global options --------------------------------------------------------------------------------------------------


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep a global option, wherever it stood; one behind the subcommand goes before one in front of it."""
    session = ctx.find_object(Session)
    if session is None or value is None or value in ((), False):
        return
    name = (param.name or "").removeprefix(_OURS)
    if name == "scopes":
        session.scopes += value
    elif name in ("db_path", "embedder"):
        session.flags[name] = value
    else:
        setattr(session, name, value)


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value and not ctx.resilient_parsing:
        from second_brain import __version__  # noqa: PLC0415

        click.echo(f"second-brain {__version__}")
        ctx.exit()


def global_options() -> list[click.Parameter]:
    """Fresh copies of the options that every command takes."""
    path = click.Path(path_type=Path)
    shared: dict[str, Any] = {"expose_value": False, "callback": _remember}
    return [
        click.Option(
            ["--config", "global_config_path"], type=path, metavar="PATH", help="The configuration file.", **shared
        ),
        click.Option(
            ["--vault", "global_vault"], metavar="NAME|PATH", help='A configured vault, a folder, or "demo".', **shared
        ),
        click.Option(["--db", "global_db_path"], type=path, metavar="PATH", help="The index database.", **shared),
        click.Option(
            ["--name", "global_name"],
            metavar="NAME",
            help="The configured vault of that name (the server's name, for agents).",
            **shared,
        ),
        click.Option(
            ["--scope", "global_scopes"],
            multiple=True,
            metavar="FOLDER|NAME",
            help="See only this folder or configured scope; several folders widen.",
            **shared,
        ),
        click.Option(
            ["--embedder", "global_embedder"],
            metavar="WHICH",
            help="auto, builtin, ollama, or a model's folder.",
            **shared,
        ),
        click.Option(
            ["--json", "global_as_json"], is_flag=True, help="Print one JSON object instead of text.", **shared
        ),
        click.Option(
            ["-v", "--verbose", "global_verbose"],
            is_flag=True,
            help="Log more; show details of unexpected errors.",
            **shared,
        ),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version and end.",
        ),
    ]
