"""Nothing is ever written into a vault: whoever is about to write a file asks here first."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from second_brain.config import paths
from second_brain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def vault_around(path: Path, vaults: Iterable[Path | None]) -> Path | None:
    """The first of *vaults* that *path* would lie in, links followed; None entries are skipped."""
    return next((vault for vault in vaults if vault is not None and paths.inside(path, vault)), None)


def refuse_in_vault(
    what: str, path: Path, vaults: Iterable[Path | None], *, way_out: str, parameter: str = "config"
) -> None:
    """Raises `ConfigError` when *path* (*what*, as "The database") would lie in one of *vaults*; *way_out* ends the hint."""
    vault = vault_around(path, vaults)
    if vault is not None:
        raise ConfigError(
            f"{what} {paths.shown(path)} would lie inside the vault {paths.shown(vault)}.",
            hint=f"A vault is never written to: {way_out}.",
            parameter=parameter,
        )


def refuse_files_in_vault(
    settings: Mapping[str, Any], origin: Mapping[str, str], vaults: tuple[Path | None, ...]
) -> None:
    """What a run with these settings writes: the database with the files beside it, and the log.

    Raises `ConfigError` naming the setting; *origin* tells for each where it came from.
    """
    database: Path = settings["db_path"]
    files = (("db_path", "The database", database), ("db_path", "The lock", Path(f"{database}.lock")))
    for key, what, path in (*files, ("log_file", "The log", settings["log_file"])):
        if path is None:
            continue
        folder = f"set {account_folder('data')} to a folder outside it, or " if origin[key] == "default" else ""
        refuse_in_vault(
            what,
            path,
            vaults,
            way_out=f"{folder}name a place outside it ({'--db, or ' if key == 'db_path' else ''}{key} in the "
            f"configuration; now it comes from: {origin[key]})",
            parameter=key,
        )


def refuse_configuration_in_vault(path: Path, locks: Path, vaults: Iterable[Path | None]) -> None:
    """What making or changing the configuration *path* writes: the file, its copies beside it, and a lock in *locks*."""
    known = tuple(vaults)
    ordinary = paths.platform_config_file()
    place = f"set {account_folder('config')} to a folder outside it, or name" if path == ordinary else "name"
    instead = "" if path == ordinary else f", or leave --config out for {ordinary}"
    refuse_in_vault("The configuration", path, known, way_out=f"{place} a file outside it by --config{instead}")
    refuse_in_vault(
        "The lock of the configuration",
        locks,
        known,
        way_out=f"set {account_folder('cache')} to a folder outside it",
    )


def account_folder(kind: str) -> str:
    """How a person changes where the account's "config", "data" or "cache" lies."""
    if sys.platform in ("win32", "darwin"):
        return f"the {kind} folder of your account"
    return f"XDG_{kind.upper()}_HOME"


def vaults_named_in(file: Path) -> tuple[Path, ...]:
    """The vaults of a configuration file, as far as it can be read: a broken one names none, and may be mended."""
    import tomllib  # noqa: PLC0415  # 6 ms, only when a file is changed

    try:
        values = tomllib.loads(file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
    except (OSError, ValueError):
        return ()
    table = values.get("vaults")
    entries = table.values() if isinstance(table, dict) else ()
    texts = [values.get("vault_path"), *(entry.get("path") for entry in entries if isinstance(entry, dict))]
    known = [text for text in texts if isinstance(text, str) and text.strip() and "\0" not in text]
    cwd = paths.working_directory()
    return tuple(paths.absolute(text, base=file.parent, cwd=cwd, env=os.environ) for text in known)
