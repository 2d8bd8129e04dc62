"""From flags, environment, file and defaults to one `Config`.

A flag goes before the environment, the environment before the file, the file before the default.  What is wrong is
refused with its place; what is merely useless (a retired or unknown key) becomes a warning.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from second_brain.config import guard, paths, scopes, values
from second_brain.config.configuration import Config, NamedScope, VaultEntry
from second_brain.config.options import BY_NAME, OPTIONS, SCOPE_OPTIONS, SECTIONS, VAULT_OPTIONS, Option
from second_brain.config.source import Source, find_config, nearest, notices, read_source, unknown, unknown_columns
from second_brain.errors import ConfigError, UnusableValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_NAME_A_VAULT = "Give the folder of the vault, or a name from the table vaults of the configuration."


@dataclass(frozen=True, slots=True)
class _Place:
    """Everything that decides about a value, and the warnings on the way."""

    flags: Mapping[str, Any]
    env: Mapping[str, str]
    source: Source
    cwd: Path
    warnings: list[str] = field(default_factory=list)

    def base(self, origin: str) -> Path:
        """What relative paths of this origin are relative to."""
        return self.source.path.parent if origin == "file" and self.source.path else self.cwd

    def path(self, text: str, origin: str) -> Path:
        """An absolute path; the shell has already expanded the variables of a flag."""
        written = origin != "flag"
        if written:
            missing = paths.unset_variables(text, self.env)
            self.warnings.extend(f"{text}: the environment variable {name} is not set." for name in missing)
        return paths.absolute(text, base=self.base(origin), cwd=self.cwd, env=self.env, variables=written)


def load(
    *,
    config_path: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    vault: str | None = None,
) -> Config:
    """The configuration for one vault.

    *flags* maps option names to values (typed or text; None is "not given").  *env* is the process's environment
    unless given; an empty variable counts as not set.  *vault* is a name of the table ``vaults``, the name of the
    configured vault or a folder.  The platform's folders always come from the process.

    Raises `ConfigError` naming the key and its place.
    """
    env = os.environ if env is None else env
    cwd = paths.tidy(paths.working_directory() if cwd is None else cwd)
    found = find_config(config_path, env, cwd)
    place = _Place(flags or {}, env, read_source(found) if found else Source(), cwd)
    _refuse_unknown_flags(place.flags)
    place.warnings.extend(notices(place.source))
    settings, origin = _settle(place)
    check_together(settings, place.source)
    _warn_weights(settings, place)
    settings["vaults"] = _vaults(place, settings["vaults"])
    chosen = _choose_vault(place, settings, origin, vault)
    settings["scopes"] = _scopes(place, settings, chosen.name)
    settings["db_path"] = _database(place, settings, origin, chosen)
    vaults = (chosen.path, settings["vault_path"], *(entry.path for entry in settings["vaults"].values()))
    settings["vault_path"] = chosen.path
    # One that no configuration names is a vault all the same.
    vaults += tuple(
        paths.obsidian_vault_around(path.parent)
        for path in (settings["db_path"], settings["log_file"])
        if path is not None
    )
    guard.refuse_files_in_vault(settings, origin, vaults)
    _refuse_no_database(place, settings["db_path"], origin["db_path"], chosen)
    return Config(
        **settings, vault_name=chosen.name, source=found, warnings=tuple(dict.fromkeys(place.warnings)), origin=origin
    )


def check_together(settings: Mapping[str, Any], source: Source) -> None:
    """What only several options together can break.  Raises `ConfigError`."""
    size, overlap = settings["chunk_size"], settings["chunk_overlap"]
    if overlap >= size:
        place = f"{source.place('chunk_overlap')}: " if source.path else ""
        raise ConfigError(
            f"{place}chunk_overlap ({overlap}) must be smaller than chunk_size ({size}).",
            hint="Set chunk_overlap to a smaller number first.",
            parameter="chunk_overlap",
        )


# --- one option at a time


def _settle(place: _Place) -> tuple[dict[str, Any], dict[str, str]]:
    settings: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for option in OPTIONS:
        settings[option.name], origin[option.name] = _first_given(option, place)
    return settings, origin


def _first_given(option: Option, place: _Place) -> tuple[Any, str]:
    for origin, where, raw in _candidates(option, place):
        try:
            text = isinstance(raw, str) and origin != "file"
            value = values.from_text(option, raw) if text else values.accept(option, _plain(raw))
            return _placed(option, value, origin, place), origin
        except ValueError as problem:
            if not (option.lenient and origin != "flag"):
                raise _refusal(where, option, problem, raw) from problem
            place.warnings.append(f"{where} {problem}, not {values.shown(option, raw)}; it is ignored.")
    return option.default, "default"


def _candidates(option: Option, place: _Place) -> Iterable[tuple[str, str, Any]]:
    """(origin, how to name it, raw value) of each place that gives the option, strongest first."""
    flag = place.flags.get(option.name)
    if flag is not None:
        yield "flag", option.flag, flag
    variable = place.env.get(option.env, "") if option.env else ""
    if variable.strip():
        yield "env", f"The environment variable {option.env}", variable
    if option.name in place.source.values:
        yield "file", f"{place.source.place(option.name)}: {option.name}", place.source.values[option.name]


def _plain(raw: Any) -> Any:
    return str(raw) if isinstance(raw, Path) else raw


def _placed(option: Option, value: Any, origin: str, place: _Place) -> Any:
    """A path made absolute; words that a path option knows stay words, as text."""
    if option.kind != "path" or value in option.choices:
        return value
    path = place.path(value, origin)
    values.refuse_misspelt_word(option, value, path)
    return str(path) if option.choices else path


def _refusal(where: str, option: Option, problem: ValueError, raw: Any) -> ConfigError:
    default = (
        "" if option.default is None else f", or take it out for the default ({values.shown(option, option.default)})"
    )
    kind = UnusableValue if option.kind == "path" and not option.choices else ConfigError
    return kind(
        f"{where} {problem}; it is {values.shown(option, raw)}.",
        hint=f"Mend it{default}. {option.help}",
        parameter=option.key,
        options=option.choices,
    )


def _refuse_unknown_flags(flags: Mapping[str, Any]) -> None:
    for key in flags:
        if key not in BY_NAME:
            raise ConfigError(f"{unknown(key, BY_NAME)}.", parameter=key, options=nearest(key, BY_NAME))


def _warn_weights(settings: Mapping[str, Any], place: _Place) -> None:
    total = sum(value for name, value in settings.items() if name.startswith("graph_weight_"))
    if abs(total - 1) > 0.001:  # noqa: PLR2004  # rounding of the written figures
        place.warnings.append(f"The four graph_weight_ options sum to {total:g}; they should sum to 1.")


# --- tables


def _entries(place: _Place, section: str, table: Any) -> Iterable[tuple[str, dict[str, Any]]]:
    for name, entry in table.items():
        where = place.source.place(section, name)
        if not isinstance(entry, dict):
            raise ConfigError(f"{where}: {section}.{name} must be a table.", parameter=f"{section}.{name}")
        yield name, {option.name: _column(option, name, entry, place) for option in SECTIONS[section]}


def _column(option: Option, name: str, entry: Mapping[str, Any], place: _Place) -> Any:
    if option.name not in entry:
        return option.default
    raw = entry[option.name]
    try:
        return _placed(option, values.accept(option, raw), "file", place)
    except ValueError as problem:
        where = f"{place.source.place(option.section, name, option.name)}: {option.section}.{name}.{option.name}"
        raise _refusal(where, option, problem, raw) from problem


def _vaults(place: _Place, table: Any) -> dict[str, VaultEntry]:
    vaults = {}
    for name, entry in _entries(place, "vaults", table):
        if entry["path"] is None:
            raise ConfigError(
                f"{place.source.place('vaults', name)}: vaults.{name} has no path.",
                hint=VAULT_OPTIONS[0].help,
                parameter=f"vaults.{name}.path",
            )
        vaults[name] = VaultEntry(name, entry["path"], entry["db"])
    return vaults


def _scopes(place: _Place, settings: Mapping[str, Any], vault_name: str) -> dict[str, NamedScope]:
    from second_brain.model import Scope  # noqa: PLC0415  # only when the configuration has scopes, or a scope is asked for

    # A misspelt restriction would open what it should close, so that here a warning is not enough.
    for name, column in unknown_columns(place.source, "scopes"):
        known = [option.name for option in SCOPE_OPTIONS]
        raise ConfigError(
            f"{place.source.place('scopes', name, column)}: scopes.{name}: {unknown(column, known)}.",
            hint="A scope with an unknown key is refused, because it could show more than it should.",
            parameter=f"scopes.{name}.{column}",
            options=nearest(column, known) or tuple(known),
        )
    vault_names = {*settings["vaults"], vault_name}
    named = {}
    for name, entry in _entries(place, "scopes", settings["scopes"]):
        if entry["vault"] and entry["vault"] not in vault_names:
            raise ConfigError(
                f"{place.source.place('scopes', name, 'vault')}: scopes.{name}.vault is {entry['vault']!r}, "
                "and no vault has that name.",
                hint="Name a vault of the table vaults, or leave the key out for each vault.",
                parameter=f"scopes.{name}.vault",
                options=tuple(sorted(vault_names - {""})),
            )
        scope = Scope(
            folders=tuple(map(scopes.plain_folder, entry.pop("folders"))),
            excluded=tuple(map(scopes.plain_folder, entry.pop("excluded"))),
            tags=entry.pop("tags"),
        )
        named[name] = NamedScope(name, scope, **{**entry, "ranking": entry["ranking"] or ""})
    return named


# --- the vault and its database


@dataclass(frozen=True, slots=True)
class _Chosen:
    """`entry` is set for a vault of the table, `main` for the vault of the option ``vault_path``."""

    path: Path | None
    name: str
    entry: VaultEntry | None = None
    main: bool = False


def _choose_vault(place: _Place, settings: Mapping[str, Any], origin: dict[str, str], vault: str | None) -> _Chosen:
    vaults: Mapping[str, VaultEntry] = settings["vaults"]
    main = _named(settings["vault_path"], vaults, main=True)
    if vault is None:
        if main.path is not None or not vaults:
            return main
        origin["vault_path"] = "file"
        first = next(iter(vaults.values()))
        return _Chosen(first.path, first.name, first)
    origin["vault_path"] = "flag"
    if vault in vaults:
        return _named(vaults[vault].path, vaults, main=_equal(vaults[vault].path, main.path), name=vault)
    folder = place.path(vault, "flag")
    if main.path is not None and (vault == main.name or _equal(folder, main.path)):
        return main
    if vault.strip() and paths.is_folder(folder):
        return _named(folder, vaults, main=False)
    problem = paths.folder_problem(folder)
    if problem:
        raise UnusableValue(
            f"The vault {paths.shown(folder)} {problem} (--vault).", hint=_NAME_A_VAULT, parameter="vault"
        )
    known = tuple(dict.fromkeys(name for name in (*vaults, main.name) if name))
    raise ConfigError(
        f"No vault is called {vault!r}, and there is no folder {folder}.",
        hint=_NAME_A_VAULT,
        parameter="vault",
        options=known,
    )


def _named(path: Path | None, vaults: Mapping[str, VaultEntry], *, main: bool, name: str = "") -> _Chosen:
    """The vault at *path* with its entry in the table, if it has one: looked up by name, else by path."""
    if path is None:
        return _Chosen(None, "", main=main)
    entry = vaults.get(name) or next((entry for entry in vaults.values() if _equal(entry.path, path)), None)
    return _Chosen(path, entry.name if entry else path.name or "vault", entry, main)


def _equal(path: Path, other: Path | None) -> bool:
    return other is not None and os.path.realpath(path) == os.path.realpath(other)


def _database(place: _Place, settings: Mapping[str, Any], origin: dict[str, str], chosen: _Chosen) -> Path:
    given: Path | None = settings["db_path"]
    if given is not None and origin["db_path"] in ("flag", "env"):
        return given
    if chosen.entry and chosen.entry.db:
        origin["db_path"] = "file"
        return chosen.entry.db
    if given is not None and chosen.main:
        return given
    if given is not None:
        place.warnings.append(
            f"db_path is the database of vault_path; the vault {chosen.name} has its own (see vaults.{chosen.name}.db)."
        )
    origin["db_path"] = "default"
    return _database_beside(place.source.path, chosen) or paths.default_database(chosen.path)


def _database_beside(source: Path | None, chosen: _Chosen) -> Path | None:
    """The database in ``data/`` beside a ``rag_config.toml``, unless that is inside the vault."""
    if source is None or source.name != paths.LOCAL_FILE or not chosen.main:
        return None
    folder = source.parent / paths.LOCAL_DATA
    if not paths.is_folder(folder) or (chosen.path is not None and paths.inside(folder, chosen.path)):
        return None
    return folder / paths.DATABASE


def _refuse_no_database(place: _Place, path: Path, origin: str, chosen: _Chosen) -> None:
    """SQLite would wait for a pipe, and lock beside a folder; it takes names in Unicode only."""
    problem = paths.file_problem(path) or ("" if values.is_unicode(str(path)) else "is not valid Unicode")
    if not problem:
        return
    keys = ("vaults", chosen.entry.name, "db") if chosen.entry and chosen.entry.db else ("db_path",)
    option = BY_NAME["db_path"]
    named_by = {"flag": option.flag, "env": option.env, "default": guard.account_folder("data")}
    raise UnusableValue(
        f"The database {paths.shown(path)} {problem} ({named_by.get(origin) or place.source.place(*keys)}).",
        hint=f"Name a file, which may be new, by {option.flag} or db_path, or leave that out for the default.",
        parameter="db_path",
    )
