"""From what a person wrote to the value of an option.

Both functions raise `ValueError` with a phrase that follows the key, such as "must be a whole number".  Paths stay
texts here: what they are relative to depends on where they were written.
"""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from second_brain.config.options import Option

_URL = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_EXPECTED = {
    "str": "must be a text",
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "path": "must be a path",
    "url": "must be a URL that begins with http:// or https://",
    "list": "must be a list of texts",
    "table": "must be a table",
}


def from_text(option: Option, text: str) -> Any:
    """The value of a text: an environment variable, a flag, or what a settings field holds.

    A list is separated by commas, or written as a TOML array.
    """
    return accept(option, _READ.get(option.kind, str.strip)(text))


def accept(option: Option, value: Any) -> Any:
    """*value* of its TOML type as the type of the option (tuple for a list), checked."""
    value = _typed(option, value)
    problem = option.check(value) if option.check else ""
    if problem:
        raise ValueError(problem)
    return value


def refuse_misspelt_word(option: Option, text: str, folder: Path) -> None:
    """Refuse *text* where a word or a folder is wanted and it is neither: no separator in it, nothing at *folder*."""
    if option.choices and "/" not in text and os.sep not in text and not folder.is_dir():
        raise ValueError(f"must be one of {', '.join(option.choices)}, or a folder")


def _typed(option: Option, value: Any) -> Any:
    if option.kind == "choice":
        if isinstance(value, str) and value.lower() in option.choices:
            return value.lower()
        raise ValueError(f"must be one of {', '.join(option.choices)}")
    if not _FITS[option.kind](value):
        raise ValueError(_EXPECTED[option.kind])
    if option.kind == "float":
        return float(value)
    if option.kind == "list":
        return tuple(value)
    return value.rstrip("/") if option.kind == "url" else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_FITS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": _is_number,
    "bool": lambda value: isinstance(value, bool),
    "path": lambda value: isinstance(value, str) and bool(value.strip()) and "\0" not in value,
    "url": lambda value: isinstance(value, str) and _URL.fullmatch(value) is not None,
    "list": lambda value: isinstance(value, list | tuple) and all(isinstance(item, str) for item in value),
    "table": lambda value: isinstance(value, dict),
}


def _bool(text: str) -> bool | str:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else text


def _int(text: str) -> int | str:
    return int(text) if re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text) else text


def _float(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _list(text: str) -> Any:
    if text.strip().startswith("["):
        import tomllib  # noqa: PLC0415  # needs 6 ms, seldom needed

        try:
            return tomllib.loads(f"value = {text.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            pass  # a glob may begin with a set: [ab]*.md
    return [item.strip() for item in text.split(",") if item.strip()]


_READ: dict[str, Callable[[str], Any]] = {
    "bool": _bool,
    "int": _int,
    "float": _float,
    "list": _list,
    "str": str,
    "path": str,
}
