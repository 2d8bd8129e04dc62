"""One estimate of tokens for every budget."""

from __future__ import annotations

import math
import re

_CJK = r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
_CYRILLIC = r"[\u0400-\u052f]"
_OTHER = r"[\u0590-\u1fff\ua000-\uabff]"
_GERMAN = r"[äöüßÄÖÜẞ]"
_TURKISH = r"[ğışİŞĞç]"

LATIN, GERMAN, TURKISH, CYRILLIC, CJK = 4.0, 3.0, 2.0, 1.2, 0.75
"""Characters per token."""


def estimate(text: str) -> int:
    """Tokens that a language model counts for *text*, roughly, rounded up."""
    if text.isascii():
        return math.ceil(len(text) / LATIN)
    cjk = len(re.findall(_CJK, text))
    dense = len(re.findall(_CYRILLIC, text)) + len(re.findall(_OTHER, text))
    rest = len(text) - cjk - dense
    # A few letters tell the language of the Latin rest.
    share = rest / 200
    latin = (
        TURKISH
        if len(re.findall(_TURKISH, text)) > share
        else GERMAN
        if len(re.findall(_GERMAN, text)) > share
        else LATIN
    )
    return math.ceil(cjk / CJK + dense / CYRILLIC + rest / latin)
