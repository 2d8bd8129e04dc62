"""Where the YAML head of a note ends, found without reading the YAML of most."""

from __future__ import annotations

import re

_KEY = r"[^\W\d][\w.-]{0,40}(?: [\w.-]{1,12}){0,3}:(?:[ \t].*)?"
# Each line is one of a mapping, or below a key, blank or a comment.  Whatever else they hold, the whole is a mapping or a broken
# one, and both make a head.
_MAPPING = re.compile(rf"(?:[ \t]*(?:#.*)?\n)*{_KEY}\n(?:(?:{_KEY}|[ \t#-].*|)\n)*")


def block(text: str) -> tuple[str, int]:
    """What stands between the fences, and the line of the closing one ("" and 0 without fences)."""
    if not text.startswith("---"):
        return "", 0
    start = text.find("\n") + 1
    if not start or text[3 : start - 1].strip(" \t"):
        return "", 0
    position, line = start, 2
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if text.startswith(("---", "..."), position) and not text[position + 3 : end].strip(" \t"):
            return text[start:position], line
        position, line = end + 1, line + 1
    return "", 0


def end_line(text: str) -> int:
    """The line of the closing fence, as `frontmatter.parse` has it: 0 when what stands between two rules is no head."""
    source, line = block(text)
    if not source.strip() or _MAPPING.fullmatch(source):
        return line
    from second_brain.vault import frontmatter  # noqa: PLC0415 - loads YAML, which most notes do not need for this

    return frontmatter.parse(text).end_line


def has_body(text: str) -> bool:
    """Whether anything stands below the head; `parse` gives blocks for such notes and for no other."""
    start = 0
    for _ in range(end_line(text)):
        start = text.find("\n", start) + 1 or len(text)
    return bool(text[start:].strip())
