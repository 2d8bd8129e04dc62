"""Which note a link means, by Obsidian's rules: a pure function of the notes' paths and aliases."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

from second_brain.model import LinkKind, folder_of
from second_brain.vault.tags import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ATTACHMENT = re.compile(
    r"\.(?:avif|bmp|gif|heic|ico|jpe?g|png|svg|tiff?|webp"
    r"|3gp|aac|flac|m4a|mp3|oga|ogg|opus|wav|avi|m4v|mkv|mov|mp4|mpe?g|ogv|webm"
    r"|pdf|epub|mobi|docx?|xlsx?|pptx?|od[pst]|rtf|csv|tsv"
    r"|canvas|base|excalidraw|drawio|7z|bz2|gz|rar|tar|tgz|zip)",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(r"[#^]")
_SUFFIX = re.compile(r"\.[^./\\]+$")
_STEP = re.compile(r"(?:^|/)\.\.?(?:/|$)")
_REMEMBERED = 50_000


def key(name: str) -> str:
    """The form in which note names and paths are compared: NFC, folded case, ``/``, no ``.md``, no blanks around."""
    folded = fold(_plain(name))
    return folded.strip("/") if "/" in folded else folded


def is_attachment(target: str) -> bool:
    """True when a link target names a file that is no note, by its extension."""
    suffix = _SUFFIX.search(_without_fragment(target))
    return suffix is not None and _ATTACHMENT.fullmatch(suffix[0]) is not None


def ends_with(target: str, name: str) -> bool:
    """True when *target*, with or without its fragment, is *name* or a path that ends with it."""
    wanted = f"/{key(name)}"
    return any(f"/{key(form)}".endswith(wanted) for form in _forms(target))


class Names(Protocol):
    """What the notes are called that links are resolved among."""

    def named(self, key: str) -> Sequence[str]:
        """The paths whose file name has this `key`."""
        ...

    def called(self, key: str) -> Sequence[str]:
        """The paths that bear an alias of this `key`, in path order."""
        ...

    def holds(self, path: str) -> bool:
        """True when there is a note of exactly this path."""
        ...


class NoteNames:
    """The names of *notes*, given as (path, aliases)."""

    def __init__(self, notes: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._by_alias: dict[str, list[str]] = {}
        self._paths: set[str] = set()
        for path, aliases in notes:
            self._paths.add(path)
            name = path[path.rfind("/") + 1 :]
            folded = name[:-3].strip().lower() if name.isascii() else key(name)
            self._by_name.setdefault(folded, []).append(path)
            for alias in aliases:
                self._by_alias.setdefault(key(alias), []).append(path)

    def named(self, key: str) -> Sequence[str]:
        """See `Names`."""
        return self._by_name.get(key, ())

    def called(self, key: str) -> Sequence[str]:
        """See `Names`."""
        return self._by_alias.get(key, ())

    def holds(self, path: str) -> bool:
        """See `Names`."""
        return path in self._paths


class LinkResolver:
    """Resolves link targets among the notes of *names*, which must stay the same.

    Several notes of one name: the spelling in the same case wins, then the full path from the root, the folder of the
    source, the shortest path, the order of paths.  Aliases are asked when no name fits.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._places: dict[str, dict[str, str]] = {}
        self._everywhere: dict[str, tuple[str | None] | None] = {}  # target -> what it means wherever it stands, if so

    def resolve(self, target: str, source: str, *, kind: LinkKind = LinkKind.WIKILINK) -> str | None:
        """The note that *target*, written in the note *source*, leads to; None for attachments and unwritten notes.

        A target of a heading alone means the source.  Markdown links look beside the source first.
        """
        if target.lstrip()[:1] in ("#", "^"):
            return source if self._names.holds(source) else None
        if target not in self._everywhere:
            if len(self._everywhere) >= _REMEMBERED:
                self._everywhere.clear()
            self._everywhere[target] = self._meaning_everywhere(target)
        everywhere = self._everywhere[target]
        return everywhere[0] if everywhere else self._resolve_here(target, source, kind)

    def _meaning_everywhere(self, target: str) -> tuple[str | None] | None:
        """What *target* means in any note, None when that depends on the note."""
        if is_attachment(target):
            return (None,)
        for form in _forms(target):
            if _STEP.search(form):
                return None
            matches = self._matches(key(form))
            if matches:
                return (matches[0],) if len(matches) == 1 else None
        return (self._by_alias(target),)

    def _resolve_here(self, target: str, source: str, kind: LinkKind) -> str | None:
        for form in _forms(target):
            if found := self._resolve_form(form, source, kind):
                return found
        return self._by_alias(target)

    def _by_alias(self, target: str) -> str | None:
        return next((found[0] for form in _forms(target) if (found := self._names.called(key(form)))), None)

    def _resolve_form(self, form: str, source: str, kind: LinkKind) -> str | None:
        folder = folder_of(source)
        if form.startswith(("./", "../")) or form in (".", ".."):
            place = _joined(folder, form)
            return self._find(place).get("") if place else None
        if form.startswith("/"):
            # A site that became a folder of the vault: its root is no longer ours, so the end of a path must do.
            folder, form = "", form.lstrip("/")
        elif kind is LinkKind.MARKDOWN and (place := _joined(folder, form)) and (beside := self._find(place).get("")):
            return beside
        places = self._find(form)
        return places.get("") or places.get(folder) or next(iter(places.values()), None)

    def _find(self, form: str) -> dict[str, str]:
        """The notes whose path ends with *form*, by the folder in which *form* then starts; shortest path first."""
        remembered = self._places.get(form)
        if remembered is not None:
            return remembered
        matches = self._matches(key(form))
        wanted = f"/{_plain(form).strip('/')}"
        exact = [path for path in matches if f"/{_plain(path)}".endswith(wanted)]
        depth = wanted.count("/")
        places: dict[str, str] = {}
        for path in exact or matches:
            places.setdefault("/".join(path.split("/")[:-depth]), path)
        if len(self._places) >= _REMEMBERED:
            self._places.clear()
        self._places[form] = places
        return places

    def _matches(self, folded: str) -> list[str]:
        """Sorted by length, then path."""
        named = self._names.named(folded[folded.rfind("/") + 1 :])
        if "/" in folded:
            end = f"/{folded}"
            named = [path for path in named if f"/{key(path)}".endswith(end)]
        return sorted(named, key=lambda path: (len(path), path))


def _plain(name: str) -> str:
    """*name* without ``.md`` and outer blanks, in NFC and with forward slashes; the case is kept."""
    plain = name.strip()
    if "\\" in plain:
        plain = plain.replace("\\", "/")
    if "//" in plain:
        plain = re.sub("/{2,}", "/", plain)
    if not plain.isascii():
        plain = unicodedata.normalize("NFC", plain)
    return plain[:-3].rstrip() if plain[-3:].lower() == ".md" else plain


def _without_fragment(target: str) -> str:
    return _FRAGMENT.split(target, maxsplit=1)[0].strip()


def _forms(target: str) -> list[str]:
    """What a target may mean, in order: without its fragment, percent-decoded, and as it stands (``C#``)."""
    cut = _without_fragment(target)
    forms = [cut, unquote(cut), target.strip()]
    return list(dict.fromkeys(form.replace("\\", "/") for form in forms if form))


def _joined(folder: str, target: str) -> str:
    """*target* relative to *folder*, "" when it leads out of the vault."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
