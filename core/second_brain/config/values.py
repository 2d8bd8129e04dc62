"""From what a person wrote to the value of an option.

Both functions raise `ValueError` with a phrase that follows the key, such as "must be a whole number".  Paths stay
texts here: what they are relative to depends on where they were written.
"""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any

from second_brain.config import paths
from second_brain.errors import without_password

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from second_brain.config.options import Option

_URL = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
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


def shown(option: Option, value: Any) -> str:
    """*value* for a message, as a configuration file has it; what could be a password of a URL is left out."""
    import json  # noqa: PLC0415  # only for a message

    if not isinstance(value, str):
        return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False, default=str)
    if option.kind == "url":
        value = without_password(value) if "://" in value else re.sub(r".*@", "***@", value)
    return repr(value)


def is_unicode(text: str) -> bool:
    """Whether *text* can be written as UTF-8: undecodable bytes of an argument or a file name cannot."""
    return text.isascii() or not _SURROGATE.search(text)


def refuse_misspelt_word(option: Option, text: str, folder: Path) -> None:
    """Refuse *text* where a word or a folder is wanted and it is neither: no separator in it, nothing at *folder*."""
    if option.choices and "/" not in text and os.sep not in text and not paths.is_folder(folder):
        raise ValueError(f"must be one of {', '.join(option.choices)}, or a folder")


def _typed(option: Option, value: Any) -> Any:
    if option.kind == "choice":
        if isinstance(value, str) and value.lower() in option.choices:
            return value.lower()
        raise ValueError(f"must be one of {', '.join(option.choices)}")
    if not _FITS[option.kind](value):
        raise ValueError(_EXPECTED[option.kind])
    if option.kind == "path" and "\0" in value:
        raise ValueError(f"{_EXPECTED['path']} without a null character")
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
    "path": lambda value: isinstance(value, str) and bool(value.strip()),
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
