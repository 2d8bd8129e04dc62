"""What an option is before a change of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from second_brain.config import paths
from second_brain.config.options import BY_NAME, SECTIONS
from second_brain.config.source import read_source
from second_brain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def written_value(path: Path, key: str) -> Any:
    """The value of *key* in the file as it is written there, else its default; None for neither.

    A file that is not there or broken has none: it may be about to be made or mended.
    """
    option = BY_NAME.get(key)
    default = None if option is None or option.kind == "table" else option.default
    if paths.file_problem(path):  # a pipe would be waited for
        return default
    try:
        values = read_source(path).values
    except ConfigError:
        return default
    section, _, rest = key.partition(".")
    if section in SECTIONS and rest:
        return _column(values.get(section), rest)
    return values.get(key, default)


def _column(table: Mapping[str, Any] | Any, rest: str) -> Any:
    """``NAME.COLUMN`` of a table of entries; the name may hold dots."""
    name, _, column = rest.rpartition(".")
    entry = table.get(name) if isinstance(table, dict) else None
    return entry.get(column) if isinstance(entry, dict) else None
