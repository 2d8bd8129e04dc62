"""Take out what must never be stored or shown, before anything else sees a note's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.errors import ConfigError, NotRedacted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import regex

MARK = "[redacted]"
LIMIT_S = 3.0


class Redaction:
    """The configured patterns.  Lines keep their numbers: a match over several lines leaves its line breaks behind."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._patterns = tuple(_compiled(pattern) for pattern in patterns)
        self.patterns = tuple(patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def apply(self, text: str) -> str:
        """*text* with every match replaced by a mark.

        Raises `NotRedacted` when a pattern cannot be decided in `LIMIT_S`: what is not redacted is not to be seen.
        """
        for pattern in self._patterns:
            try:
                text = pattern.sub(_mark, text, timeout=LIMIT_S)
            except TimeoutError:
                raise NotRedacted(
                    f"redact_patterns: {pattern.pattern!r} takes longer than {LIMIT_S:.0f} s on this note.",
                    hint="Simplify the pattern: nested repetitions such as (a+)+ never end.",
                ) from None
        return text


def _mark(match: regex.Match[str]) -> str:
    return MARK + "\n" * match.group().count("\n") if match.group() else ""


def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # noqa: PLC0415 - 13 ms that a vault without patterns does not need

    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ConfigError(
            f"redact_patterns: {pattern!r} is not a valid regular expression: {error}.",
            hint="Correct the pattern in the configuration file.",
            parameter="redact_patterns",
        ) from error
