"""Which files of a vault are notes.

Three sieves, all of them case-sensitive but for the extension: only ``.md`` files outside hidden folders, not excluded
by the configured globs, not ignored by a ``.secondbrainignore`` at the root (gitignore syntax).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from second_brain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pathspec

IGNORE_FILE = ".secondbrainignore"

_NEVER = re.compile(r"(?!)")


class IgnoreRules:
    """The rules of one vault.

    A glob of one segment is a file name at any depth; a longer one matches the end of a path; ``**`` stands for any
    number of segments, ``*`` and ``?`` stay inside one; a trailing ``/`` means the folder and all below.  "", "." and
    "/" are ignored, "**" excludes everything.  Raises `ConfigError` for a line of the ignore file that is no pattern.
    """

    def __init__(self, exclude_globs: Sequence[str] = (), ignore_text: str = "") -> None:
        globs = [segments for glob in exclude_globs if (segments := _segments(glob))]
        self._excluded = _any_of(_pattern(segments) for segments in globs)
        self._pruned = _any_of(_folder_pattern(segments[:-1]) for segments in globs if segments[-1] == "**")
        self._ignored = _gitignore(ignore_text)
        # A later "!" line may bring back what an earlier one hides, so only the files themselves can tell.
        self._ignored_prunes = not any(line.startswith("!") for line in ignore_text.splitlines())

    def allows(self, path: str) -> bool:
        """True when the vault-relative *path* names a note; the disk is not asked."""
        if path[-3:].lower() != ".md" or path.startswith(".") or "/." in path:
            return False
        return not (self._excluded.fullmatch(path) or (self._ignored and self._ignored.match_file(path)))

    def allows_folder(self, path: str) -> bool:
        """False only when no file below the folder *path* can be a note."""
        if path.startswith(".") or "/." in path or self._pruned.fullmatch(path):
            return False
        return not (self._ignored and self._ignored_prunes and self._ignored.match_file(f"{path}/"))


def _segments(glob: str) -> list[str]:
    segments = [segment for segment in glob.split("/") if segment not in ("", ".")]
    if segments and glob.endswith("/"):
        segments.append("**")
    return segments


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for the whole path: the end of it, from the start of a segment on, fits a pattern."""
    alternatives = "|".join(patterns)
    return re.compile(f"(?s:(?:.*/)?(?:{alternatives}))") if alternatives else _NEVER


def _pattern(segments: Sequence[str]) -> str:
    last = len(segments) - 1
    parts = []
    for index, segment in enumerate(segments):
        if segment == "**":
            parts.append(".+" if index == last else "(?:.*/)?")
        else:
            parts.append(_segment_pattern(segment) + ("" if index == last else "/"))
    return "".join(parts)


def _folder_pattern(segments: Sequence[str]) -> str:
    """Every folder that fits, and all below; without segments, all."""
    return f"{_pattern(segments)}(?:/.*)?" if segments else ".*"


def _segment_pattern(segment: str) -> str:
    """The expression of one segment: ``*``, ``?`` and ``[...]`` as in a shell, the rest literal."""
    out = []
    position = 0
    while position < len(segment):
        character = segment[position]
        position += 1
        closing = segment.find("]", position + 1 + segment.startswith("!", position)) if character == "[" else -1
        if character == "*":
            out.append("[^/]*")
        elif character == "?":
            out.append("[^/]")
        elif closing >= 0:
            out.append(_class_pattern(segment[position:closing]))
            position = closing + 1
        else:
            out.append(re.escape(character))
    return re.sub(r"(?:\[\^/\]\*)+", "[^/]*", "".join(out))


def _class_pattern(inside: str) -> str:
    negated = inside.startswith("!")
    body = inside[negated:].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
    body = re.sub(r"([&~|])", r"\\\1", body)
    pattern = f"(?!/)[{'^' * negated}{body}]"
    try:
        re.compile(pattern)
    except re.error:  # a reversed range such as [z-a]
        return re.escape(f"[{inside}]")
    return pattern


def _gitignore(text: str) -> pathspec.GitIgnoreSpec | None:
    lines = text.splitlines()
    if not any(lines):
        return None
    import pathspec  # noqa: PLC0415 - 20 ms that vaults without an ignore file do not need

    for number, line in enumerate(lines, 1):
        try:
            pathspec.GitIgnoreSpec.from_lines([line])
        except ValueError as error:
            raise ConfigError(
                f"Line {number} of {IGNORE_FILE} is not a gitignore pattern: {line}",
                hint="Correct or remove that line; the syntax is that of .gitignore.",
                parameter=IGNORE_FILE,
            ) from error
    spec = pathspec.GitIgnoreSpec.from_lines(lines)
    return spec if any(pattern.include is not None for pattern in spec.patterns) else None
