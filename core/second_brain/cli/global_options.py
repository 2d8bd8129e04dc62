"""The options that every command takes, in front of it and behind it; they fill the session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from second_brain.cli import completing
from second_brain.cli.session import Session

GLOBAL_HINT = "Global options (--config, --vault, --scope, --json, …) may stand here too: second-brain --help"


class _Given(click.ParamType[Any]):
    """A text, or with *kind* what it makes of it, that says something: an empty value is a slip of a script, never meant."""

    name = "text"

    def __init__(self, kind: type[str | Path] = str) -> None:
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail("it is empty. Give a value, or leave the option out.", param, ctx)
        return self._kind(value)


_OURS = "global_"
"""So begin the names of the global options, for a command may have an argument of that name."""


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
    text, path, file = _Given(), _Given(Path), completing.words(kind="file")
    embedders = completing.words("auto", "builtin", "ollama", kind="dir")
    vault = 'A configured vault, a folder, or "demo".'
    name = "The configured vault of that name (the server's name, for agents)."
    scope = "See only this folder or configured scope; several folders widen."
    which = "auto, builtin, ollama, or a model's folder."
    return [
        _option("config", "config_path", "The configuration file.", type=path, metavar="PATH", shell_complete=file),
        _option("vault", "vault", vault, type=text, metavar="NAME|PATH", shell_complete=completing.vault),
        _option("db", "db_path", "The index database.", type=path, metavar="PATH", shell_complete=file),
        _option("name", "name", name, type=text, metavar="NAME", shell_complete=completing.vault_name),
        _option(
            "scope", "scopes", scope, type=text, metavar="FOLDER|NAME", multiple=True, shell_complete=completing.scope
        ),
        _option("embedder", "embedder", which, type=text, metavar="WHICH", shell_complete=embedders),
        _option("json", "as_json", "Print one JSON object instead of text.", is_flag=True),
        _option("verbose", "verbose", "Log more; show details of unexpected errors.", short="-v", is_flag=True),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version and end.",
        ),
    ]


def _option(typed: str, field: str, text: str, *, short: str = "", **settings: Any) -> click.Option:
    """The option ``--typed``, remembered as the session's *field*."""
    names = [*filter(None, [short]), f"--{typed}", f"{_OURS}{field}"]
    return click.Option(names, help=text, expose_value=False, callback=_remember, **settings)
