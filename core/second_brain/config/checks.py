"""What can be wrong with a value, as phrases: each check returns "" or what follows the key, "must be at least 20"."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from second_brain.config.scopes import folder_problem

if TYPE_CHECKING:
    from collections.abc import Callable

# One character of each sort, so that a pattern that matches an empty place shows itself.
_PROBE = "a B,0\n_-é.\t"


def at_least(low: float) -> Callable[[float], str]:
    """Refuse numbers below *low*."""
    return lambda value: "" if value >= low else f"must be at least {low}"


def above(low: float) -> Callable[[float], str]:
    """Refuse *low* and numbers below it."""
    return lambda value: "" if value > low else f"must be greater than {low}"


def between(low: float, high: float) -> Callable[[float], str]:
    """Refuse numbers outside *low* to *high*, both allowed."""
    return lambda value: "" if low <= value <= high else f"must lie between {low} and {high}"


def at_most_characters(limit: int) -> Callable[[str], str]:
    """Refuse texts of more than *limit* characters."""
    return lambda value: "" if len(value) <= limit else f"has {len(value)} characters, at most {limit} are allowed"


def not_blank(value: str) -> str:
    """Refuse a text without a visible character."""
    return "" if value.strip() else "must not be empty"


def folders(values: tuple[str, ...]) -> str:
    """Refuse what is no folder form of a scope."""
    problems = ((value, folder_problem(value)) for value in values)
    return next((f"has the folder {value!r}, which {problem}" for value, problem in problems if problem), "")


def patterns(values: tuple[str, ...]) -> str:
    """Refuse what is no regular expression, and those that match an empty place: they would redact everywhere."""
    problems = ((value, _pattern_problem(value)) for value in values)
    return next((f"has the pattern {value!r}, which {problem}" for value, problem in problems if problem), "")


def _pattern_problem(pattern: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set" is no reason to refuse
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression: {error}"
    if any(match.start() == match.end() for text in ("", _PROBE) for match in compiled.finditer(text)):
        return "matches an empty text"
    return ""
