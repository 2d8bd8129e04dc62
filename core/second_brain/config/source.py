"""Reading a configuration file, and telling its reader where it went wrong."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from second_brain.config import paths
from second_brain.config.options import BY_NAME, RETIRED, SECTIONS
from second_brain.errors import ConfigError, UnusableValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """A file as read; without a file `path` is None and `values` is empty."""

    path: Path | None = None
    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def place(self, *keys: str) -> str:
        """``FILE, line N`` of the key (``"chunk_size"``, or ``"scopes", "work", "tags"``), as far as it can be told."""
        line = _line(self.text, keys)
        return f"{self.path}, line {line}" if line else str(self.path)


def find_config(config_path: Path | None, env: Mapping[str, str], cwd: Path) -> Path | None:
    """The file to read: given, named by a variable, in the working directory, or the platform's; None without any.

    A file that was asked for must exist: raises `ConfigError`.
    """
    if config_path is not None:
        return _existing(cwd / config_path, "--config")
    named = env.get("SECOND_BRAIN_CONFIG", "").strip()
    if named:
        return _existing(paths.absolute(named, base=cwd, cwd=cwd, env=env), "SECOND_BRAIN_CONFIG")
    for path in (cwd / paths.LOCAL_FILE, paths.platform_config_file()):
        if os.path.isfile(path):  # noqa: PTH113  # False where Path.is_file would raise: a folder that may not be entered
            return path
    return None


def read_source(path: Path) -> Source:
    """The file as text and values.  Raises `ConfigError` for what cannot be read or is no TOML, with the line."""
    import tomllib  # noqa: PLC0415  # 6 ms, only when there is a file

    text = read_text(path)
    try:
        return Source(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}.",
            hint="Mend that line; a text stands in double quotes, a Windows path in single quotes.",
            parameter="config",
        ) from error


def read_text(path: Path) -> str:
    """The text of a configuration file without its byte order mark and carriage returns.  Raises `ConfigError`."""
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Check that it is a file and that you may read it, or name another one by --config.",
            parameter="config",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.", parameter="config"
        ) from error


def notices(source: Source) -> Iterable[str]:
    """A sentence for the retired keys and one for each key that no option has."""
    retired = [key for key in RETIRED if key in source.values]
    if retired:
        yield f"{source.path}: ignored, for the whole index is one file (db_path): {', '.join(retired)}."
    for key in source.values:
        if key not in BY_NAME and key not in RETIRED:
            yield f"{source.place(key)}: {unknown(key, BY_NAME)}; it is ignored."
    for section in SECTIONS:
        for name, column in unknown_columns(source, section):
            if section != "scopes":
                known = [option.name for option in SECTIONS[section]]
                yield f"{source.place(section, name, column)}: {unknown(column, known)}; it is ignored."


def unknown_columns(source: Source, section: str) -> list[tuple[str, str]]:
    """The (entry, key) of a table that are not declared."""
    known = {option.name for option in SECTIONS[section]}
    table = source.values.get(section)
    if not isinstance(table, dict):
        return []
    return [
        (name, column) for name, entry in table.items() if isinstance(entry, dict) for column in entry.keys() - known
    ]


def unknown(key: str, known: Iterable[str]) -> str:
    """``KEY is no option; did you mean OTHER?`` without the full stop."""
    close = nearest(key, known)
    return f"{key} is no option" + (f" (did you mean {close[0]}?)" if close else "")


def nearest(key: str, known: Iterable[str]) -> tuple[str, ...]:
    """The names most like *key*, best first, at most three."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415  # only on a mistake

    matches = process.extract(key, list(known), scorer=fuzz.WRatio, processor=str.lower, limit=3, score_cutoff=60)
    return tuple(match[0] for match in matches)


def _existing(path: Path, named_by: str) -> Path:
    problem = "" if str(path) == os.devnull else paths.file_problem(path)
    if problem:
        raise UnusableValue(
            f"The configuration {paths.shown(path)} {problem} ({named_by}).",
            hint="Name a file, or make one with: second-brain init",
            parameter="config",
        )
    if os.path.exists(path):  # noqa: PTH110  # as above
        return path
    raise ConfigError(
        f"There is no configuration file {path} ({named_by}).",
        hint="Check the path, or make the file with: second-brain init",
        parameter="config",
    )


def _line(text: str, keys: tuple[str, ...]) -> int:
    """The line of a key; of its table's header when the key stands elsewhere; 0 when neither is found."""
    table, found = ".".join(keys[:-1]), 0
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[([^\[\]]+)\]", line)
        if header:
            current = re.sub(r"[\s\"']", "", header[1])
            above = (current and current in (table, ".".join(keys))) or current.startswith(".".join((*keys, "")))
            found = found or (number if above else 0)
        elif current == table and re.match(rf"\s*[\"']?{re.escape(keys[-1])}[\"']?\s*=", line):
            return number
    return found
