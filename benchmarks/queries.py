"""Queries taken from a vault, the same for the same notes: what a person might type, and pieces to quote."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_WORD = re.compile(r"[^\W_]{2,}")
_MOST_WORDS = 4
_TYPO_LETTERS = 6


@dataclass(frozen=True, slots=True)
class Queries:
    """`plain` without any sign of our grammar; `quoted` are pieces of lines in double quotes; `warm_up` is neither."""

    plain: tuple[str, ...]
    quoted: tuple[str, ...]
    warm_up: tuple[str, ...]


def derive(notes: Mapping[str, str], *, count: int = 120, seed: int = 7) -> Queries:
    """*count* plain queries and a third as many quoted ones from *notes* (path -> text), all different."""
    choose = random.Random(seed)
    paths = sorted(notes)
    kinds: Sequence[Callable[[str, str, random.Random], str]] = (_title, _heading, _body, _body, _typo, _cjk)
    plain = _collect(paths, notes, kinds, count + 10, choose)
    quoted = _collect(paths, notes, (_piece,), count // 3, choose)
    return Queries(plain[10:], tuple(f'"{piece}"' for piece in quoted), plain[:10])


def _collect(
    paths: Sequence[str],
    notes: Mapping[str, str],
    kinds: Sequence[Callable[[str, str, random.Random], str]],
    count: int,
    choose: random.Random,
) -> tuple[str, ...]:
    """Kinds in turn, each from a random note; a note that has nothing of the kind is passed over."""
    found: dict[str, None] = {}
    for attempt in range(count * 50):
        if len(found) == count:
            break
        path = choose.choice(paths)
        query = kinds[len(found) % len(kinds)](path, notes[path], choose)
        if not query and attempt % 20 == 19:  # this vault may have nothing of the kind at all
            query = _body(path, notes[path], choose)
        if query:
            found[query] = None
    return tuple(found)


def _run(words: Sequence[str], choose: random.Random) -> str:
    """One to four words that stand together."""
    if not words:
        return ""
    size = choose.randint(1, min(_MOST_WORDS, len(words)))
    start = choose.randint(0, len(words) - size)
    return " ".join(words[start : start + size])


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if not _CJK.search(word)]


def _title(path: str, text: str, choose: random.Random) -> str:
    del text
    return _run(_words(path.rpartition("/")[2].removesuffix(".md")), choose)


def _heading(path: str, text: str, choose: random.Random) -> str:
    del path
    headings = re.findall(r"(?m)^#{1,6} +(.+)$", text)
    return _run(_words(choose.choice(headings)), choose) if headings else ""


def _body(path: str, text: str, choose: random.Random) -> str:
    del path
    lines = [line for line in text.splitlines() if len(line) > 20]
    return _run(_words(choose.choice(lines)), choose) if lines else ""


def _typo(path: str, text: str, choose: random.Random) -> str:
    """A long word with two neighbouring letters changed over."""
    del path
    words = [word for word in _words(text) if len(word) >= _TYPO_LETTERS and word.isalpha()]
    if not words:
        return ""
    word = choose.choice(words)
    at = choose.randint(1, len(word) - 3)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _cjk(path: str, text: str, choose: random.Random) -> str:
    del path
    runs = _CJK.findall(text)
    return choose.choice(runs)[: choose.randint(2, 5)] if runs else ""


def _piece(path: str, text: str, choose: random.Random) -> str:
    """A piece of a line, 3 to 30 characters, cut anywhere."""
    del path
    lines = [line.strip() for line in text.splitlines() if len(line.strip()) >= 4]
    if not lines:
        return ""
    line = choose.choice(lines)
    start = choose.randint(0, len(line) - 3)
    piece = line[start : start + choose.randint(3, 30)].strip()
    return piece if len(piece) >= 3 and '"' not in piece and "\\" not in piece else ""
