"""Where things lie: expansion of written paths, the platform's folders, and what may not be inside a vault."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

APP = "second-brain"
LOCAL_FILE = "rag_config.toml"
LOCAL_DATA = "data"
DATABASE = "second-brain.db"

_VARIABLE = re.compile(
    r"\$(?:(?P<literal>\$)|(?P<bare>\w+)|\{(?P<braced>\w+)\})" + ("|%(?P<nt>\\w+)%" * (os.name == "nt"))
)


def platform_config_file() -> Path:
    """The configuration that is read when no other is found."""
    import platformdirs  # noqa: PLC0415  # 12 ms, only when a default path is needed

    return platformdirs.user_config_path(APP, appauthor=False) / "config.toml"


def platform_data_folder() -> Path:
    """The folder of the default databases."""
    import platformdirs  # noqa: PLC0415

    return platformdirs.user_data_path(APP, appauthor=False)


def platform_cache_folder() -> Path:
    """The folder for what may be lost at any time."""
    import platformdirs  # noqa: PLC0415

    return platformdirs.user_cache_path(APP, appauthor=False)


def short_hash(path: Path) -> str:
    """Eight hex digits that stay the same for the same real path."""
    import hashlib  # noqa: PLC0415

    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:8]


def default_database(vault: Path | None) -> Path:
    """The database of a vault in the data folder.

    It follows from the vault's folder alone, so that naming a vault in the configuration does not lose its index.
    """
    if vault is None:
        return platform_data_folder() / DATABASE
    safe = re.sub(r"[^\w.-]+", "-", Path(os.path.realpath(vault)).name).strip("-.")[:40] or "vault"
    return platform_data_folder() / f"{safe}-{short_hash(vault)}.db"


def absolute(text: str, *, base: Path, cwd: Path, env: Mapping[str, str], variables: bool = True) -> Path:
    """*text* with ``$CWD``, environment variables and ``~`` expanded, relative to *base*.

    ``$$`` is a literal dollar sign; a variable that is not set stays as written (see `unset_variables`).
    """
    if variables:
        text = _VARIABLE.sub(lambda match: _value(match, cwd, env), text)
    return tidy(base / _home(text, env))


def tidy(path: Path | str) -> Path:
    """*path* absolute and without ``..``, links not followed: people see the names that they wrote."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # Path.resolve follows links


def literal(path: Path) -> str:
    """*path* as `absolute` reads it back unchanged."""
    return str(path).replace("$", "$$")


def unset_variables(text: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that *text* names and *env* has not."""
    names = (_name(match) for match in _VARIABLE.finditer(text))
    return tuple(name for name in names if name and name != "CWD" and name not in env)


def inside(path: Path, folder: Path) -> bool:
    """Whether *path* is *folder* or lies below it, links followed; neither need exist."""
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return any(parent == root or _same(parent, root) for parent in (real, *real.parents))


def obsidian_vault_around(directory: Path) -> Path | None:
    """The nearest folder at or above *directory* that holds ``.obsidian``."""
    real = Path(os.path.realpath(directory))
    return next((folder for folder in (real, *real.parents) if (folder / ".obsidian").is_dir()), None)


def _same(path: Path, other: Path) -> bool:
    """The same folder under two spellings, as a file system that ignores case has them."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def _home(text: str, env: Mapping[str, str]) -> str:
    home = env.get("USERPROFILE" if os.name == "nt" else "HOME")
    if home and (text == "~" or text.startswith(("~/", "~" + os.sep))):
        return home + text[1:]
    try:
        return str(Path(text).expanduser())
    except RuntimeError:  # a user that does not exist, or no home: the text is a name
        return text


def _name(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return groups["bare"] or groups["braced"] or groups.get("nt") or ""


def _value(match: re.Match[str], cwd: Path, env: Mapping[str, str]) -> str:
    if match["literal"]:
        return "$"
    name = _name(match)
    return str(cwd) if name == "CWD" else env.get(name, match[0])
