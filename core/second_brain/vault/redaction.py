"""Take out what must never be stored or shown, before anything else sees a note's text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from second_brain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "[redacted]"


class Redaction:
    """The configured patterns.  Lines keep their numbers: a match over several lines leaves its line breaks behind."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._patterns = tuple(_compiled(pattern) for pattern in patterns)
        self.patterns = tuple(patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def apply(self, text: str) -> str:
        """*text* with every match replaced by a mark."""
        for pattern in self._patterns:
            text = pattern.sub(_mark, text)
        return text


def _mark(match: re.Match[str]) -> str:
    return MARK + "\n" * match.group().count("\n") if match.group() else ""


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(
            f"redact_patterns: {pattern!r} is not a valid regular expression: {error}.",
            hint="Correct the pattern in the configuration file.",
            parameter="redact_patterns",
        ) from error
