"""Making and changing configuration files.

No file is ever made in a vault.  A change keeps comments and order, is checked before it is written, and replaces the
file in one step, so that a reader never meets half of one; a lock outside the folder keeps two writers apart.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from second_brain.config import guard, paths, template, values, vault_names
from second_brain.config.loader import check_together
from second_brain.config.options import BY_NAME, RETIRED, SECTIONS, Option
from second_brain.config.source import Source, nearest, read_source, read_text, unknown
from second_brain.errors import ConfigError, UnusableValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tomlkit import TOMLDocument

_LOCK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class InitResult:
    """What `init` made; `in_vault` tells why it went to the platform's folders, `backup` where the former file is kept."""

    config_path: Path
    data_dir: Path
    vault_path: Path
    overwritten: bool
    in_vault: bool
    backup: Path | None = None


_LIMITS = ("folders", "tags", "excluded")


def init(
    directory: Path, *, vault: Path | None = None, config_path: Path | None = None, force: bool = False
) -> InitResult:
    """A new configuration for *vault* (else for *directory* itself), and the folder of its database.

    In or below a vault (that of the configuration, one of Obsidian's, or one that the account's configuration names) both
    go to the platform's folders; elsewhere ``rag_config.toml`` and ``data/`` go to *directory*, or the file to
    *config_path*.  With *force* an existing file is kept as a backup.  Raises `ConfigError` when the file exists without
    *force*, or anything would lie in a vault.
    """
    directory = paths.tidy(directory)
    _check_folder(directory)
    target = paths.tidy(vault) if vault else directory
    _check_folder(target)
    ordinary = paths.platform_config_file()
    vaults = (target, paths.obsidian_vault_around(directory), *guard.vaults_named_in(ordinary))
    in_vault = guard.vault_around(directory, vaults) is not None
    if config_path is not None:
        path = directory / config_path
        vaults = (*vaults, paths.obsidian_vault_around(path.parent))
    else:
        path = ordinary if in_vault else directory / paths.LOCAL_FILE
    local = path.name == paths.LOCAL_FILE and path != ordinary
    data_dir = path.parent / paths.LOCAL_DATA if local else paths.platform_data_folder()
    guard.refuse_in_vault(
        "The data folder", data_dir, vaults, way_out=f"set {guard.account_folder('data')} to a folder outside it"
    )
    with _locked(path, vaults):
        overwritten, backup = _write_new(path, template.render(target), force=force)
    _make_folder(data_dir)
    return InitResult(path, data_dir, target, overwritten, in_vault, backup)


def set_value(path: Path, key: str, value: Any, *, vault: Path | None = None) -> Any:
    """Give *key* a value, typed or as text, and return it as it will be read; a missing file is made.

    Keys of tables are written ``vaults.NAME.path`` and ``scopes.NAME.tags``.  A relative path is meant from the working
    directory.  Raises `ConfigError` for an unknown key, a value that is not acceptable, or a file inside *vault* or a
    vault that it names; the file is then as before.
    """
    keys, option = _declared(key)
    accepted = _accepted(option, key, value)
    named = _vault_named_by(keys, accepted, path)
    with _locked(path, (vault, named, None if os.path.lexists(path) else paths.obsidian_vault_around(path.parent))):
        before = _read(path)
        text = _uncommented(before, keys[0]) if len(keys) == 1 else before
        document = _parse(path, text)
        table: Any = document
        for name in keys[:-1]:
            table = _child_table(table, name, key)
        table[keys[-1]] = list(accepted) if isinstance(accepted, tuple) else accepted
        _check(path, document)
        if named is not None:
            vault_names.refuse_hidden(path, document.unwrap())
        _replace(path, document.as_string())
    return accepted


def unset(path: Path, key: str, *, vault: Path | None = None) -> bool:
    """Take *key* out, so that its default holds; whole entries (``scopes.work``) too.  False when it was not there.

    Raises `ConfigError` for the last limit of a scope, which would show the whole vault without it.
    """
    keys = _split(key)
    with _locked(path, (vault,)):
        if not path.exists():
            return False
        document = _parse(path, _read(path))
        table: Any = document
        for name in keys[:-1]:
            table = table.get(name) if hasattr(table, "get") else None
        if not hasattr(table, "get") or keys[-1] not in table:
            return False
        del table[keys[-1]]
        _refuse_opened_scope(keys, table)
        _check(path, document)
        _replace(path, document.as_string())
    return True


def _refuse_opened_scope(keys: tuple[str, ...], table: Any) -> None:
    if keys[0] == "scopes" and keys[-1] in _LIMITS and not any(table.get(limit) for limit in _LIMITS):
        name = ".".join(keys[1:-1])
        raise ConfigError(
            f"Without {keys[-1]} the scope {name} would show the whole vault.",
            hint=f"Set another limit first, or take the scope out: second-brain config unset scopes.{name}",
            parameter=".".join(keys),
        )


# --- where `init` may write


def _check_folder(folder: Path) -> None:
    problem = paths.folder_problem(folder)
    if problem:
        raise UnusableValue(
            f"The vault {paths.shown(folder)} {problem}.", hint="Name a folder of notes.", parameter="vault_path"
        )
    if not paths.is_folder(folder):
        raise ConfigError(
            f"There is no folder {folder}.", hint="Make it first, or name another one.", parameter="vault_path"
        )


# --- keys and values


def _split(key: str) -> tuple[str, ...]:
    """("chunk_size",) or ("scopes", "work", "tags"); the name of an entry may hold dots."""
    section, _, rest = key.partition(".")
    if section not in SECTIONS or not rest:
        return (key,)
    name, _, column = rest.rpartition(".")
    known = {option.name for option in SECTIONS[section]}
    return (section, name, column) if name and column in known else (section, rest)


def _declared(key: str) -> tuple[tuple[str, ...], Option]:
    keys = _split(key)
    option = BY_NAME.get(key)
    if len(keys) == 3:  # noqa: PLR2004  # section, entry, column
        option = next(option for option in SECTIONS[keys[0]] if option.name == keys[2])
    if option is not None and option.kind != "table":
        return keys, option
    section = key.partition(".")[0]
    known = tuple(option.key for option in SECTIONS[section]) if section in SECTIONS else tuple(BY_NAME)
    problem = f"{key} has no effect any more" if key in RETIRED else unknown(key, known)
    raise ConfigError(
        f"{problem}.",
        hint="See docs/configuration.md for all options.",
        parameter=key,
        options=known if section in SECTIONS else nearest(key, known),
    )


def _accepted(option: Option, key: str, value: Any) -> Any:
    raw = str(value) if isinstance(value, Path) else value
    if not values.is_unicode(f"{key}{raw}"):
        raise ConfigError(
            f"{key}: what is not valid Unicode cannot be written into a configuration; it is {raw!r}.",
            hint="Rename the folder or file that it stands for, or write it in UTF-8.",
            parameter=key,
        )
    try:
        accepted = values.from_text(option, raw) if isinstance(raw, str) else values.accept(option, raw)
        return _rooted(option, accepted) if option.kind == "path" and accepted not in option.choices else accepted
    except ValueError as problem:
        raise ConfigError(
            f"{key} {problem}; it is {values.shown(option, raw)}.",
            hint=option.help,
            parameter=key,
            options=option.choices,
        ) from problem


def _rooted(option: Option, text: str) -> str:
    """A relative path made absolute, for the file lies elsewhere; what will be expanded stays as written."""
    values.refuse_misspelt_word(option, text, Path(text))
    expanded = text.startswith("~") or "$" in text or "%" in text or Path(text).is_absolute()
    return text if expanded else paths.literal(paths.tidy(text))


def _vault_named_by(keys: tuple[str, ...], accepted: Any, path: Path) -> Path | None:
    """The vault that a change adds to the configuration."""
    if keys != ("vault_path",) and (keys[0], keys[-1]) != ("vaults", "path"):
        return None
    return paths.absolute(accepted, base=path.parent, cwd=paths.working_directory(), env=os.environ)


def _child_table(table: Any, name: str, key: str) -> Any:
    import tomlkit  # noqa: PLC0415  # 30 ms, only when a file is changed

    if name not in table:
        table[name] = tomlkit.table(is_super_table=name in SECTIONS)
    if not hasattr(table[name], "get"):
        raise ConfigError(f"{name} is not a table, so that {key} cannot be set.", parameter=key)
    return table[name]


def _check(path: Path, document: TOMLDocument) -> None:
    numbers = {name: document.get(name, BY_NAME[name].default) for name in ("chunk_size", "chunk_overlap")}
    if all(isinstance(number, int) for number in numbers.values()):
        check_together(numbers, Source(path, document.as_string()))


# --- files


def _read(path: Path) -> str:
    return read_text(path) if path.exists() else ""


def _parse(path: Path, text: str) -> TOMLDocument:
    import tomlkit  # noqa: PLC0415
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        read_source(path)  # tells it with the line, as for every reader
        raise ConfigError(f"{path} cannot be changed: {error}.", hint="Edit it by hand.", parameter="config") from error


def _uncommented(text: str, name: str) -> str:
    """*text* with the commented default of *name* made a value, so that a new value stands under its sentence."""
    table = re.search(r"^\s*\[", text, re.MULTILINE)
    top, rest = (text[: table.start()], text[table.start() :]) if table else (text, "")
    if re.search(rf"^\s*{name}\s*=", top, re.MULTILINE):
        return text
    return re.sub(rf"^#[ \t]?{name}[ \t]*=.*$", f"{name} = 0", top, count=1, flags=re.MULTILINE) + rest


def _write_new(path: Path, text: str, *, force: bool) -> tuple[bool, Path | None]:
    """Write *text*; returns whether a file was overwritten, and where it is kept now if it said something else."""
    existed = path.exists()
    if existed and not force:
        raise ConfigError(
            f"The configuration {path} exists already.",
            hint="--force writes it anew and keeps a copy of it; one option is changed by: "
            "second-brain config set KEY VALUE",
            parameter="force",
        )
    backup = _kept_copy(path) if existed else None
    _replace(path, text)
    return existed, backup


def _kept_copy(path: Path) -> Path:
    """A copy of the file beside it under the first free name, ``NAME.bak`` or ``NAME.bak2``."""
    real = Path(os.path.realpath(path))
    for number in count(1):
        copy = real.with_name(f"{real.name}.bak{number if number > 1 else ''}")
        try:
            with copy.open("xb") as file:
                file.write(real.read_bytes())
            copy.chmod(real.stat().st_mode & 0o7777)
        except FileExistsError:
            continue
        except OSError as error:
            raise _cannot_write(copy, error) from error
        return copy
    raise AssertionError  # the numbers do not end


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _replace(path: Path, text: str) -> None:
    """The file with new content, in one step; a link stays a link, the mode stays, new files follow the umask."""
    path = Path(os.path.realpath(path))
    _make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        content = _newlines_of(path, text).encode()
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"{path} cannot hold a name that is not valid Unicode.", hint="Rename that folder.", parameter="config"
        ) from error
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _newlines_of(path: Path, text: str) -> str:
    """*text* with the newlines that the file has now."""
    return text.replace("\n", "\r\n") if path.exists() and b"\r\n" in path.read_bytes() else text


def _cannot_write(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"{path} cannot be written: {error.strerror or error}.",
        hint="Check the permissions and the free space, or name another place by --config.",
        parameter="config",
    )


@contextmanager
def _locked(path: Path, vaults: Iterable[Path | None] = ()) -> Iterator[None]:
    """One writer per configuration file, and none where it or its lock would lie in one of *vaults*.

    The lock lies in the cache folder, so that none is left beside the file.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415  # only when a file is changed

    problem = paths.file_problem(path)
    if problem:
        raise UnusableValue(
            f"The configuration {paths.shown(path)} {problem}.", hint="Name a file by --config.", parameter="config"
        )
    folder = paths.platform_cache_folder() / "locks"
    guard.refuse_configuration_in_vault(path, folder, (*vaults, *guard.vaults_named_in(path)))
    _make_folder(folder)
    try:
        with FileLock(folder / f"{paths.short_hash(path)}.lock", timeout=_LOCK_SECONDS):
            yield
    except Timeout as error:
        raise ConfigError(
            f"Another program is changing {path}.", hint="Try again in a moment.", parameter="config"
        ) from error
