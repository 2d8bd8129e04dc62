"""The configuration file that `init` writes: every option with its sentence, the advanced ones commented out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from second_brain.config import paths
from second_brain.config.options import OPTIONS, SCOPE_OPTIONS, VAULT_OPTIONS, Option

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = """\
# Configuration of Second Brain.  A flag goes before an environment variable, a variable before this file.
# Paths may hold $CWD, environment variables and ~ ($$ is a dollar sign); relative ones start at this file's folder.
# Lines that begin with "# NAME =" show a default or an example: take the "# " away to change it.
"""
_EXAMPLES: dict[str, Any] = {
    "db_path": "~/indexes/notes.db",
    "log_file": "~/second-brain.log",
    "path": "~/Notes",
    "db": "~/indexes/notes.db",
    "vault": "notes",
    "folders": ("Projects", "Areas/Home"),
    "tags": ("status/active",),
    "excluded": ("Projects/Private",),
    "instructions": "Notes about current work.",
    "ranking": "best",
}


def render(vault: Path) -> str:
    """The text of a new configuration for *vault*."""
    plain = (option for option in OPTIONS if option.kind != "table")
    top = "\n".join(_block(option, vault) for option in plain)
    return f"{_HEAD}\n{top}\n{_table('vaults', 'notes', VAULT_OPTIONS)}\n{_table('scopes', 'work', SCOPE_OPTIONS)}"


def toml_value(value: Any) -> str:
    """*value* as it stands in TOML."""
    import tomlkit  # noqa: PLC0415  # only when a file is written

    text: str = tomlkit.item(list(value) if isinstance(value, tuple) else value).as_string()
    return text


def _block(option: Option, vault: Path) -> str:
    value = paths.literal(vault) if option.name == "vault_path" else option.default
    if value is None:
        value = _EXAMPLES[option.name]
    written = not option.advanced and (option.name == "vault_path" or option.default is not None)
    return f"# {option.help}\n{'' if written else '# '}{option.name} = {toml_value(value)}\n"


def _table(section: str, name: str, options: tuple[Option, ...]) -> str:
    help_text = next(option.help for option in OPTIONS if option.name == section)
    lines = [f"# {help_text}", f"# [{section}.{name}]"]
    for option in options:
        value = _EXAMPLES.get(option.name, option.default)
        lines.append(f"# {option.name} = {toml_value(value)}  # {option.help}")
    return "\n".join(lines) + "\n"
