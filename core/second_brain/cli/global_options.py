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
    text, path = _Given(), _Given(Path)
    shared: dict[str, Any] = {"expose_value": False, "callback": _remember}
    return [
        click.Option(
            ["--config", "global_config_path"],
            type=path,
            metavar="PATH",
            help="The configuration file.",
            shell_complete=completing.words(kind="file"),
            **shared,
        ),
        click.Option(
            ["--vault", "global_vault"],
            type=text,
            metavar="NAME|PATH",
            help='A configured vault, a folder, or "demo".',
            shell_complete=completing.vault,
            **shared,
        ),
        click.Option(
            ["--db", "global_db_path"],
            type=path,
            metavar="PATH",
            help="The index database.",
            shell_complete=completing.words(kind="file"),
            **shared,
        ),
        click.Option(
            ["--name", "global_name"],
            type=text,
            metavar="NAME",
            help="The configured vault of that name (the server's name, for agents).",
            shell_complete=completing.vault_name,
            **shared,
        ),
        click.Option(
            ["--scope", "global_scopes"],
            type=text,
            multiple=True,
            metavar="FOLDER|NAME",
            help="See only this folder or configured scope; several folders widen.",
            shell_complete=completing.scope,
            **shared,
        ),
        click.Option(
            ["--embedder", "global_embedder"],
            type=text,
            metavar="WHICH",
            help="auto, builtin, ollama, or a model's folder.",
            shell_complete=completing.words("auto", "builtin", "ollama", kind="dir"),
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
