"""Texts as models can take them."""

from __future__ import annotations


def encodable(text: str) -> str:
    """*text* with lone surrogates (from odd file names and terminals) as ``?``: no model takes them."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def halves(text: str) -> tuple[str, str]:
    """*text* cut at the white space nearest to its middle, or in the middle of a text without any.

    Together both hold every character but the white space at the cut; a half is empty only when *text* has fewer than
    two characters that are not white space.
    """
    text = text.strip()
    middle = len(text) // 2
    before = max(text.rfind(mark, 0, middle) for mark in " \n\t")
    after = min((at for mark in " \n\t" if (at := text.find(mark, middle)) >= 0), default=len(text))
    cut = before if middle - before <= after - middle else after
    if not 0 < cut < len(text):
        cut = middle
    return text[:cut].rstrip(), text[cut:].lstrip()
