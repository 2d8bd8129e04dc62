"""That no vault of the table ``vaults`` hides the vault of ``vault_path``, which is listed under its folder's name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from second_brain.config import paths
from second_brain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def refuse_hidden(file: Path, values: Mapping[str, Any]) -> None:
    """Raises `ConfigError` when *values* of the configuration *file* name another folder like the default vault.

    An entry for the default vault's own folder gives it a name (and a database), and hides nothing.
    """
    main = _folder(file, values.get("vault_path"))
    table = values.get("vaults")
    if main is None or not isinstance(table, dict):
        return
    texts = {name: entry.get("path") for name, entry in table.items() if isinstance(entry, dict)}
    entries = {name: folder for name, text in texts.items() if (folder := _folder(file, text)) is not None}
    if main.name not in entries or any(_same(folder, main) for folder in entries.values()):
        return
    raise ConfigError(
        f"{main.name} is the name of the default vault {main} already, and {entries[main.name]} would hide it.",
        hint="Choose another name for one of them, such as: second-brain vaults add OTHER-NAME PATH",
        parameter="vaults",
    )


def _folder(file: Path, text: Any) -> Path | None:
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        return None
    return paths.absolute(text, base=file.parent, cwd=paths.working_directory(), env=os.environ)


def _same(first: Path, second: Path) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)
