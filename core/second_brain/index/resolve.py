"""Which note of the scope a person or an agent means by a name, in whatever form it was typed or copied.

Nothing is ever opened by an argument: a name only selects one of the visible rows, and the caller opens that row's path.
A name that climbs (``..``), is absolute or holds control characters selects nothing but a note of exactly that path, and is told
so in the same words as any unknown name.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING
from urllib.parse import unquote

from second_brain.errors import Ambiguous, NotFound
from second_brain.index.schema import value_key
from second_brain.index.text import fold
from second_brain.model import folder_of, stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from second_brain.index.reader import Reader

LONGEST = 2_000
"""No name is longer, in characters; what is longer names nothing."""

_QUOTED = 200
_CUTS = 8
_NEAR_LENGTH = 100
_NEAR_SCORE = 70.0
_NEAR_COUNT = 5

_BLANKS = " \t\r\n\u00a0"
_WIKILINK = re.compile(r"!?\[\[(.*)\]\]", re.DOTALL)
_LABEL_LINE = re.compile(r":L?(\d{1,7})(?:-L?\d{1,7})?$")
_ABSOLUTE = re.compile(r"[A-Za-z]:/|//")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A note and the place in it that the name asked for: `fragment` is "", a heading as typed, or ``^id`` of a block."""

    path: str
    fragment: str = ""
    line: int | None = None


def resolve(reader: Reader, name: str, *, source: str = "") -> Resolved:
    """The visible note that *name* means.

    Accepted are titles, aliases, file names, whole paths and ends of paths, with or without ``.md``, ``[[ ]]``, ``|text``,
    ``#heading``, ``^block``, ``:line``, ``./`` and outer slashes, with slashes of either kind, percent-encoded, in any case
    and Unicode form.  A path from the root wins, then one beside the note *source*, file names, aliases, titles; the same
    spelling before another case.  With *source*, ``..`` climbs from its folder but never out of the vault.

    Raises `Ambiguous` with the candidates when the best fit is not the only one, `NotFound` with near names of the scope.
    """
    with reader.snapshot():
        if len(name) <= LONGEST and not _SURROGATE.search(name) and _exists(reader, name):
            return Resolved(name)  # spelt to the byte, as programs do: blanks, line breaks and Unicode form as they are
        typed = _unwrapped(name)
        if typed[:1] in ("#", "^") and source and _exists(reader, source):
            return Resolved(source, typed if typed.startswith("^") else typed[1:].strip())
        loose: list[tuple[_Form, list[str]]] = []
        for form in _forms(typed, source):
            fits = _fits(reader, form.name, source)
            best = min(fits, default=_Fit.LOOSE)
            if best < _Fit.LOOSE:
                return _only(name, form, fits[best])
            loose += [(form, paths) for _, paths in sorted(fits.items())]
        if loose:
            return _only(name, *loose[0])
        raise _not_found(reader, name, typed)


def readings(name: str) -> tuple[str, ...]:
    """What a note may be called that *name* means, the most literal first: for names that no note bears yet."""
    return tuple(form.name for form in _forms(_unwrapped(name), ""))


class _Fit(IntEnum):
    """How a note's name fits, best first."""

    PATH = 0
    BESIDE = 1
    NAME = 2
    PATH_ANY_CASE = 3
    BESIDE_ANY_CASE = 4
    NAME_ANY_CASE = 5
    ALIAS = 6
    ALIAS_ANY_CASE = 7
    TITLE = 8
    TITLE_ANY_CASE = 9
    LOOSE = 10  # and beyond: but for accents and compatibility forms
    LOOSE_ALIAS = 11
    LOOSE_TITLE = 12


@dataclass(frozen=True, slots=True)
class _Form:
    """One reading of what was typed; `name` has forward slashes and is without ``.md``, first of all."""

    name: str
    fragment: str = ""
    line: int | None = None


# -- what may have been meant ---------------------------------------------------------------------------------------------


def _unwrapped(name: str) -> str:
    typed = name.strip(_BLANKS)
    wikilink = _WIKILINK.fullmatch(typed)
    return wikilink[1].strip(_BLANKS) if wikilink else typed


def _forms(typed: str, source: str) -> Iterator[_Form]:
    """The readings of *typed*, the most literal first: ``C#`` is a note of that name before it is the note ``C``."""
    if len(typed) > LONGEST:
        return
    seen: set[str] = set()
    for text in dict.fromkeys((typed, unquote(typed))):
        if _CONTROL.search(text):
            continue
        for name, fragment, line in _cuts(text):
            path = _safe_path(name, source)
            for safe in (_plain(path), path):  # a file name may hold one more ``.md`` than is told
                if safe and safe not in seen:
                    seen.add(safe)
                    yield _Form(safe, fragment, line)


def _cuts(text: str) -> Iterator[tuple[str, str, int | None]]:
    """(name, fragment, line) with less and less taken for the name."""
    yield text, "", None
    shown, bar, _ = text.partition("|")
    if bar:
        text = shown.rstrip("\\").strip(_BLANKS)
        yield text, "", None
    if label := _LABEL_LINE.search(text):
        yield text[: label.start()], "", int(label[1])
    marks = [mark.start() for mark in re.finditer(r"[#^]", text)]
    for mark in reversed(marks[:_CUTS]):
        fragment = text[mark:] if text[mark] == "^" else text[mark + 1 :].strip(_BLANKS)
        if text[mark] == "#" or _BLOCK_ID.fullmatch(fragment):
            yield text[:mark], fragment if fragment != "^" else "", None


def _safe_path(name: str, source: str) -> str:
    """*name* as a path from the root, in NFC; "" when it names nothing inside the vault."""
    path = name.strip(_BLANKS).replace("\\", "/")
    if _ABSOLUTE.match(path):
        return ""
    parts = path.split("/")
    climbs = any(part.strip() == ".." for part in parts)
    if climbs and not source:
        return ""
    relative = parts[0] in (".", "..")
    placed = folder_of(source).split("/") if relative and folder_of(source) else []
    for part in parts:
        if part.strip() == "..":
            if not placed:
                return ""
            placed.pop()
        elif part not in ("", "."):
            placed.append(part)
    return unicodedata.normalize("NFC", "/".join(placed))


def _plain(path: str) -> str:
    """A path in NFC without ``.md`` and blanks before it."""
    plain = unicodedata.normalize("NFC", path)
    return plain[:-3].rstrip() if plain[-3:].lower() == ".md" else plain


# -- which notes it fits --------------------------------------------------------------------------------------------------


def _fits(reader: Reader, name: str, source: str) -> dict[_Fit, list[str]]:
    """The visible notes that bear *name*, by how well it fits."""
    beside = f"{folder_of(source)}/{name}" if folder_of(source) else name
    found: dict[_Fit, dict[str, None]] = {}
    if _exists(reader, f"{name}.md"):
        found[_Fit.PATH] = {f"{name}.md": None}
    for path, kind, bears in _bearers(reader, name):
        fit = _path_fit(path, name, beside if source else "") if kind == "stem" else _name_fit(kind, bears, name)
        if fit is not None:
            found.setdefault(fit, {})[path] = None
    return {fit: sorted(paths, key=lambda path: (len(path), path)) for fit, paths in found.items()}


def _bearers(reader: Reader, name: str) -> list[tuple[str, str, str]]:
    """(path, kind, name) of what folds like *name* or its last part."""
    rows = reader.connection.execute(
        "SELECT f.path, n.kind, n.name FROM names n JOIN files f ON f.doc = n.doc WHERE n.folded IN (?, ?)",
        (value_key(name), value_key(name.rpartition("/")[2])),
    )
    return [(str(path), str(kind), str(bears)) for path, kind, bears in rows]


def _path_fit(path: str, name: str, beside: str) -> _Fit | None:
    plain = _plain(path)
    exact = _place_fit(plain, name, beside, (_Fit.PATH, _Fit.BESIDE, _Fit.NAME))
    if exact is not None:
        return exact
    any_case = (_Fit.PATH_ANY_CASE, _Fit.BESIDE_ANY_CASE, _Fit.NAME_ANY_CASE)
    found = _place_fit(_caseless(plain), _caseless(name), _caseless(beside), any_case)
    if found is not None:
        return found
    return _place_fit(value_key(plain), value_key(name), "", (_Fit.LOOSE, _Fit.LOOSE, _Fit.LOOSE))


def _place_fit(path: str, name: str, beside: str, fits: tuple[_Fit, _Fit, _Fit]) -> _Fit | None:
    if path == name:
        return fits[0]
    if beside and path == beside:
        return fits[1]
    return fits[2] if f"/{path}".endswith(f"/{name}") else None


def _name_fit(kind: str, bears: str, name: str) -> _Fit | None:
    alias = kind == "alias"
    bears = unicodedata.normalize("NFC", bears).strip()
    if bears == name:
        return _Fit.ALIAS if alias else _Fit.TITLE
    if _caseless(bears) == _caseless(name):
        return _Fit.ALIAS_ANY_CASE if alias else _Fit.TITLE_ANY_CASE
    if value_key(bears) == value_key(name):
        return _Fit.LOOSE_ALIAS if alias else _Fit.LOOSE_TITLE
    return None


def _caseless(name: str) -> str:
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", name.casefold())


def _exists(reader: Reader, path: str) -> bool:
    return reader.connection.execute("SELECT 1 FROM files WHERE path = ?", (path,)).get is not None


# -- what to say ----------------------------------------------------------------------------------------------------------


def _only(name: str, form: _Form, paths: list[str]) -> Resolved:
    if len(paths) > 1:
        raise Ambiguous(
            f"{_quoted(name)} fits {len(paths)} notes.",
            hint="Name one of them by its path.",
            parameter="target",
            options=tuple(paths),
        )
    return Resolved(paths[0], form.fragment, form.line)


def _not_found(reader: Reader, name: str, typed: str) -> NotFound:
    return NotFound(
        f"There is no note {_quoted(name)}.",
        hint="Check the spelling, or search for the note by its words.",
        parameter="target",
        options=_near(reader, typed),
    )


def _quoted(name: str) -> str:
    """What was asked, fit to be shown: short, on one line, without control characters."""
    shown = _CONTROL.sub("\ufffd", name.strip(_BLANKS))
    return f'"{shown[:_QUOTED]}…"' if len(shown) > _QUOTED else f'"{shown}"'


def _near(reader: Reader, typed: str) -> tuple[str, ...]:
    """Paths of visible notes whose name is much like the last part of *typed*."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only for an error

    wanted = fold(_last_part(typed))[:_NEAR_LENGTH]
    if not wanted:
        return ()
    rows = reader.connection.execute(
        "SELECT n.folded, f.path FROM names n JOIN files f ON f.doc = n.doc ORDER BY f.path, n.ordinal"
    )
    names, paths = [], []
    for name, path in rows:
        names.append(str(name))
        paths.append(str(path))
    found = process.extract(wanted, names, scorer=fuzz.token_ratio, score_cutoff=_NEAR_SCORE, limit=_NEAR_COUNT * 8)
    best: dict[str, float] = {}
    for _, score, place in found:
        best[paths[place]] = max(score, best.get(paths[place], 0.0))
    return tuple(sorted(best, key=lambda path: (-best[path], path))[:_NEAR_COUNT])


def _last_part(typed: str) -> str:
    text = unquote(typed[:LONGEST]).replace("\\", "/").partition("|")[0].partition("#")[0]
    return stem_of(text.rstrip("/"))
