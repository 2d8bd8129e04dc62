"""Bytes of a note to text: one newline, no BOM, no NUL, no lone surrogate, and a word about what had to be guessed."""

from __future__ import annotations

import codecs

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 4096
_NUL_SHARE = 0.3  # of every second byte; Latin text in UTF-16 has nearly all, stray NULs in UTF-8 nearly none


def decode(raw: bytes) -> tuple[str, str]:
    """The text of *raw* and a problem, "" when nothing had to be guessed or replaced."""
    text, problem = _decoded(raw)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", "\ufffd"), problem


def _decoded(raw: bytes) -> tuple[str, str]:
    for bom, encoding in _BOMS:
        if raw.startswith(bom):
            return _strict_or_replaced(raw[len(bom) :], encoding)
    if encoding := _utf16_without_bom(raw):
        text, problem = _strict_or_replaced(raw, encoding)
        return text, problem or f"no byte order mark; read as {encoding}"
    try:
        return raw.decode("utf-8"), ""
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace"), "not UTF-8; read as cp1252"


def _strict_or_replaced(raw: bytes, encoding: str) -> tuple[str, str]:
    try:
        return raw.decode(encoding), ""
    except UnicodeDecodeError:
        return raw.decode(encoding, "replace"), f"broken {encoding}; unreadable characters were replaced"


def _utf16_without_bom(raw: bytes) -> str:
    sample = raw[:_SAMPLE]
    half = len(sample) // 2
    if not half or b"\0" not in sample:
        return ""
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    if odd > _NUL_SHARE and even < odd / 4:
        return "utf-16-le"
    if even > _NUL_SHARE and odd < even / 4:
        return "utf-16-be"
    return ""
