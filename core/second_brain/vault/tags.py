"""What may be a tag, as Obsidian sees it: letters of any script, digits, emoji, ``_``, ``-`` and ``/``."""

from __future__ import annotations

import re
import unicodedata

# Everything but white space, control characters and punctuation (ASCII, Latin-1, general, CJK, full-width).  The
# joiners U+200C and U+200D stay, for Indic scripts, Persian and composed emoji.
_CHARACTER = (
    r"[^\s\x00-\x1f\x7f-\x9f"
    r"!-,.:-@\[-^`{-~"
    r"\xa1-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7"
    r"\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f"
    r"\u3000-\u3004\u3008-\u3020\u3030\u303d-\u303f\u30fb"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff40\uff5b-\uff65\ufffd]"
)
INLINE_TAG = re.compile(rf"#({_CHARACTER}+)")

_NAME = re.compile(rf"{_CHARACTER}+")
_NOT_ONLY = re.compile(r"[^\d/_-]|\d[\d/_-]*[/_-]|[/_-]+\d")


def tag_name(text: str) -> str:
    """*text* without its ``#`` and trailing ``/``, or "" when it is no tag, such as ``1984`` or ``two words``."""
    name = text.strip().lstrip("#").rstrip("/")
    return name if _NAME.fullmatch(name) and _NOT_ONLY.search(name) else ""


def fold(name: str) -> str:
    """The form in which names are compared."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
