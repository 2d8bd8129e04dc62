"""`init`, `config` and `vaults`: making and changing the configuration file.

What changes the file never reads it as a configuration first, so that a broken one can be mended.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli import completing
from second_brain.cli.command_lines import typable
from second_brain.cli.commands import command, examples, group, pass_session
from second_brain.cli.output import harmless
from second_brain.errors import InvalidParameter, NotFound, without_password

if TYPE_CHECKING:
    from second_brain.cli.session import Session


_DECIDES_WHAT_IS_STORED = ("inline_tags", "redact_patterns")
"""A change of these makes every note be read again (see `indexing.preparing.Rules.form`)."""


@command("init", short_help="Write a configuration file that explains every option.")
@click.option("--force", is_flag=True, help="Write the file anew even if it exists; a copy of it is kept beside it.")
@examples("cd ~/my-vault && second-brain init", "second-brain init --vault ~/Notes --force")
@pass_session
def init_(session: Session, *, force: bool) -> None:
    """Write a configuration for the vault in this folder (or --vault), and make the folder of its database.

    In or below a vault both go to your account's folders, for nothing is ever written into a vault: so they do without
    --vault, which makes this folder the vault. Elsewhere rag_config.toml and data/ are made here. An existing file is
    kept unless --force is given, and then a copy of it as rag_config.toml.bak.
    """
    from second_brain.config import paths, writer  # noqa: PLC0415 - cheap start

    made = writer.init(
        paths.working_directory(), vault=session.vault_folder, config_path=session.config_path, force=force
    )
    if session.as_json:
        session.out.json(
            {
                "initialized": True,
                "config_path": str(made.config_path),
                "data_dir": str(made.data_dir),
                "overwritten": made.overwritten,
                "backup_path": None if made.backup is None else str(made.backup),
                "vault_path": str(made.vault_path),
                "in_vault": made.in_vault,
            }
        )
        return
    out = session.out
    out.line(f"vault          {harmless(str(made.vault_path))}")
    out.line(f"configuration  {harmless(str(made.config_path))}{' (overwritten)' if made.overwritten else ''}")
    if made.backup is not None:
        out.line(f"former one     {harmless(str(made.backup))}")
    out.line(f"data           {harmless(str(made.data_dir))}")
    if made.in_vault:
        out.line("Nothing was written into the vault: its configuration and index live outside of it.")
    _next(session, "second-brain sync")


def _next(session: Session, line: str) -> None:
    """The command that comes next, for the configuration file of this run."""
    file = session.config_path
    session.out.line("Next: " + harmless(typable(line, [] if file is None else ["--config", str(file)])))


@group("config", short_help="Show and change the configuration.")
@examples("second-brain config show", "second-brain config set chunk_size 300", "second-brain config path")
def config_() -> None:
    """Show and change the configuration. docs/configuration.md explains every key."""


def _file_to_change(session: Session) -> Path:
    """The file in use, or the one to make; read as little as possible, for it may be broken."""
    from second_brain.config import paths  # noqa: PLC0415 - cheap start
    from second_brain.config.source import find_config  # noqa: PLC0415

    cwd = paths.working_directory()
    if session.config_path is not None:
        return cwd / session.config_path
    return find_config(None, os.environ, cwd) or paths.platform_config_file()


def _plain(value: Any) -> Any:
    """A value of the configuration as JSON has it, without the password of a URL."""
    if isinstance(value, tuple):
        return list(value)
    return without_password(str(value)) if isinstance(value, str | Path) else value


def _shown(value: Any) -> str:
    import json  # noqa: PLC0415 - cheap start

    if value is None:
        return "(not set)"
    return json.dumps(_plain(value), ensure_ascii=False)


def _values(session: Session) -> dict[str, Any]:
    """Every value by the key that `config set` takes, those of vaults and scopes last."""
    from second_brain.config import OPTIONS  # noqa: PLC0415 - cheap start

    config = session.config
    found = {option.name: getattr(config, option.name) for option in OPTIONS if option.kind != "table"}
    for name, vault in config.vaults.items():
        found |= {f"vaults.{name}.{key}": getattr(vault, key) for key in _columns("vaults")}
    for name, named in config.scopes.items():
        for key in _columns("scopes"):
            found[f"scopes.{name}.{key}"] = getattr(named if hasattr(named, key) else named.scope, key)
    return found


def _columns(section: str) -> list[str]:
    from second_brain.config.options import SECTIONS  # noqa: PLC0415 - cheap start

    return [option.name for option in SECTIONS[section]]


def _origin(session: Session, key: str) -> str:
    return session.config.origin[key.partition(".")[0]]


@config_.command("show", short_help="Print every value and where it came from.")
@examples("second-brain config show", "second-brain config show --json")
@pass_session
def show_(session: Session) -> None:
    """Print every option, vault and scope with its values and what decided them: flag, env, file or default."""
    values, config = _values(session), session.config
    if session.as_json:
        found = {name: {"value": _plain(value), "origin": _origin(session, name)} for name, value in values.items()}
        session.out.json({"config_path": _plain(config.source), "values": found})
        return
    out = session.out
    out.line(f"# {config.source or 'no configuration file; init writes one'}")
    for name, value in values.items():
        origin = _origin(session, name)
        note = out.style(f"  # {origin}", "dim") if origin != "default" else ""
        out.line(f"{name} = {harmless(_shown(value))}{note}")


@config_.command("get", short_help="Print one value.")
@click.argument("key", shell_complete=completing.option_key)
@examples("second-brain config get chunk_size", "second-brain config get vault_path --json")
@pass_session
def get_(session: Session, *, key: str) -> None:
    """Print the value of KEY as it holds now; a list one item a line, what is not set as nothing."""
    from second_brain.config.source import nearest  # noqa: PLC0415 - cheap start

    values = _values(session)
    if key not in values:
        raise InvalidParameter(
            f"{key or 'An empty text'} is no option.",
            hint="List them with: second-brain config show",
            parameter="key",
            options=nearest(key, values),
        )
    value = _plain(values[key])
    if session.as_json:
        session.out.json({"key": key, "value": value, "origin": _origin(session, key)})
    elif isinstance(value, list):
        session.out.lines(map(harmless, value))
    elif value is not None:
        session.out.line(harmless(str(value).lower() if isinstance(value, bool) else str(value)))


@config_.command("set", short_help="Give one key a value.")
@click.argument("key", shell_complete=completing.option_key)
@click.argument("value", shell_complete=completing.option_value)
@examples(
    "second-brain config set chunk_size 300",
    'second-brain config set exclude_status "archived, done"',
    "second-brain config set scopes.work.folders Projects,Areas/Job",
)
@pass_session
def set_(session: Session, *, key: str, value: str) -> None:
    """Write KEY = VALUE into the configuration file; comments stay. A list is separated by commas.

    Keys of tables are written vaults.NAME.path and scopes.NAME.folders. A file that does not exist is made.
    """
    from second_brain.config import writer  # noqa: PLC0415 - cheap start
    from second_brain.config.former import written_value  # noqa: PLC0415

    path = _file_to_change(session)
    former = written_value(path, key)
    kept = writer.set_value(path, key, value, vault=session.vault_folder)
    _changed(session, path, key, kept, f"{key} = {_shown(kept)}")
    if not session.as_json and former is not None and _shown(former) != _shown(kept):
        session.out.line(harmless(f"It was {_shown(former)} before."))
        if key in _DECIDES_WHAT_IS_STORED:
            session.out.line("The next sync reads all notes again.")


@config_.command("unset", short_help="Take one key out, so that its default holds.")
@click.argument("key", shell_complete=completing.option_key)
@examples("second-brain config unset chunk_size", "second-brain config unset scopes.work")
@pass_session
def unset_(session: Session, *, key: str) -> None:
    """Take KEY out of the configuration file, so that its default holds; whole entries such as scopes.work too."""
    from second_brain.config import writer  # noqa: PLC0415 - cheap start

    path = _file_to_change(session)
    was_there = writer.unset(path, key, vault=session.vault_folder)
    _changed(session, path, key, None, f"{key} was taken out" if was_there else f"{key} was not set")


def _changed(session: Session, path: Path, key: str, value: Any, text: str) -> None:
    if session.as_json:
        session.out.json({"config_path": str(path), "key": key, "value": _plain(value)})
    else:
        session.out.line(harmless(f"{text}  ({path})"))


@config_.command("path", short_help="Print which file is used.")
@examples("second-brain config path")
@pass_session
def path_(session: Session) -> None:
    """Print the configuration file that is in use, or the one that set would make."""
    path = _file_to_change(session)
    if session.as_json:
        session.out.json({"config_path": str(path), "exists": os.path.isfile(path)})  # noqa: PTH113 - raises nothing
        return
    session.out.line(harmless(str(path)))
    if not os.path.lexists(path):
        session.out.note("It does not exist yet: second-brain init writes one.")


@group("vaults", short_help="List, add and remove vaults.")
@examples("second-brain vaults list", "second-brain vaults add work ~/Work/Notes", "second-brain vaults remove work")
def vaults_() -> None:
    """List the configured vaults, add one under a name, or take one out of the configuration."""


@vaults_.command("list", short_help="Print the configured vaults.")
@examples("second-brain vaults list", "second-brain vaults list --json")
@pass_session
def list_(session: Session) -> None:
    """Print every configured vault with its folder; the one that commands take by default is marked."""
    from second_brain.config import paths  # noqa: PLC0415 - cheap start

    config = session.config
    rows = {name: entry.path for name, entry in config.vaults.items()}
    if config.vault_path is not None:
        rows.setdefault(config.vault_name, config.vault_path)
    if session.as_json:
        session.out.json({"chosen": config.vault_name, "vaults": {name: str(path) for name, path in rows.items()}})
        return
    if not rows:
        session.out.line(session.typable("No vault is configured. Add one with: second-brain vaults add NAME PATH"))
    for name, path in rows.items():
        mark = "*" if name == config.vault_name else " "
        missing = "" if paths.is_folder(path) else "  (this folder does not exist)"
        session.out.line(harmless(f"{mark} {name:<16} {path}{missing}"))


@vaults_.command("add", short_help="Configure a vault under a name.")
@click.argument("name")
@click.argument("path", shell_complete=completing.words(kind="dir"))
@examples("second-brain vaults add work ~/Work/Notes")
@pass_session
def add_(session: Session, *, name: str, path: str) -> None:
    """Configure the folder PATH as the vault NAME; from then on --vault NAME chooses it."""
    from second_brain.config import paths, writer  # noqa: PLC0415 - cheap start

    for parameter, text in (("name", name), ("path", path)):
        if not text.strip():
            raise InvalidParameter(
                f"The {parameter} of the vault is empty.", hint="Use: vaults add NAME PATH", parameter=parameter
            )
    folder = paths.typed(path)
    if not paths.is_folder(folder):
        raise NotFound(f"There is no folder {paths.shown(folder)}.", hint="Check the path.", parameter="path")
    file = _file_to_change(session)
    kept = writer.set_value(file, f"vaults.{name}.path", paths.literal(paths.tidy(folder)))
    _changed(session, file, f"vaults.{name}.path", kept, f"The vault {name} is {folder}")
    if not session.as_json:
        _next(session, f"second-brain sync --vault {shlex.quote(name)}")


@vaults_.command("remove", short_help="Take a vault out of the configuration.")
@click.argument("name", shell_complete=completing.listed_vault)
@examples("second-brain vaults remove work")
@pass_session
def remove_(session: Session, *, name: str) -> None:
    """Take the vault NAME out of the configuration. Its notes and its index stay as they are."""
    from second_brain.config import writer  # noqa: PLC0415 - cheap start

    file = _file_to_change(session)
    if not writer.unset(file, f"vaults.{name}"):
        raise NotFound(
            f"No vault of the table vaults is called {name!r}.",
            hint="List them with: second-brain vaults list",
            parameter="name",
        )
    _changed(session, file, f"vaults.{name}", None, f"The vault {name} was taken out; its notes and index stay")
