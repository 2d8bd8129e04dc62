"""Where things lie: expansion of written paths, the platform's folders, and what may not be inside a vault."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

APP = "second-brain"
LOCAL_FILE = "rag_config.toml"
LOCAL_DATA = "data"
DATABASE = "second-brain.db"

_LONGEST_SHOWN = 240
_NO_FILE = {
    stat.S_IFDIR: "is a folder",
    stat.S_IFIFO: "is a pipe, and would be waited for",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
}
_IMPOSSIBLE = {
    errno.ENAMETOOLONG: "is too long a name",
    errno.ELOOP: "is a link that leads back to itself",
    errno.ENOTDIR: "lies below a file",
}

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


def working_directory() -> Path:
    """The working directory, or the home folder when it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()


def typed(text: str) -> Path:
    """*text* of a command line as an absolute path: its shell has already expanded the variables."""
    cwd = working_directory()
    return absolute(text, base=cwd, cwd=cwd, env=os.environ, variables=False)


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


def file_problem(path: Path) -> str:
    """Why no file of ours can be at *path*, as a phrase ("is a folder"); "" when one is there or can be made."""
    mode, problem = _looked_at(path)
    if problem or not mode:
        return problem
    return "" if stat.S_ISREG(mode) else _NO_FILE.get(stat.S_IFMT(mode), "is no ordinary file")


def folder_problem(path: Path) -> str:
    """Why *path* is no folder, as a phrase; "" when it is one, or nothing is there."""
    mode, problem = _looked_at(path)
    return problem or ("is a file, not a folder" if mode and not stat.S_ISDIR(mode) else "")


def is_folder(path: Path) -> bool:
    """Whether a folder is there; a name that no file can have is none."""
    return stat.S_ISDIR(_looked_at(path)[0])


def shown(path: Path | str) -> str:
    """*path* for a message, shortened in the middle when it fills more than a few lines."""
    text = str(path)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN // 2]}…{text[-_LONGEST_SHOWN // 4 :]}"


def obsidian_vault_around(directory: Path) -> Path | None:
    """The nearest folder at or above *directory* that holds ``.obsidian``."""
    real = Path(os.path.realpath(directory))
    return next((folder for folder in (real, *real.parents) if is_folder(folder / ".obsidian")), None)


def _looked_at(path: Path) -> tuple[int, str]:
    """The mode of what is at *path*, links followed (0: nothing is, or it cannot be told), and what is wrong with it."""
    try:
        return path.stat().st_mode, ""
    except OSError as error:
        return 0, _IMPOSSIBLE.get(error.errno or 0, "")
    except ValueError:
        return 0, "holds a null character"


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
