"""Notes as they are on disk now, redacted; the last ones are kept as long as their files stay the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from second_brain.errors import NoteUnreadable, NotFound
from second_brain.vault.outline import Outline

if TYPE_CHECKING:
    from second_brain.model import FileStat, ParsedNote
    from second_brain.vault.redaction import Redaction
    from second_brain.vault.vault import Vault

KEPT = 128


class NotesOnDisk:
    """Reads notes of *vault*; for any number of threads.  Both ways of reading raise `VaultUnavailable`."""

    def __init__(self, vault: Vault, redaction: Redaction, *, inline_tags: bool) -> None:
        self._vault = vault
        self._redaction = redaction
        self._inline_tags = inline_tags
        self._kept: OrderedDict[str, tuple[FileStat, Outline]] = OrderedDict()
        self._lock = threading.Lock()

    def use(self, vault: Vault) -> None:
        """Read from now on by the rules of *vault*, a newer look at the same folder."""
        self._vault = vault

    def outline(self, path: str) -> Outline | None:
        """The text of the note at *path*, and its headings when they are asked for; None when it is gone or cannot be read."""
        try:
            return self._current(path)
        except (NotFound, NoteUnreadable):
            return None

    def parsed(self, path: str) -> ParsedNote | None:
        """The whole structure of the note at *path*, None when it is gone.  Raises `NoteUnreadable`."""
        from second_brain.vault.markdown import parse  # noqa: PLC0415 - loads YAML, which a search does without

        try:
            outline = self._current(path)
        except NotFound:
            return None
        return parse(path, outline.text, inline_tags=self._inline_tags)

    def _current(self, path: str) -> Outline:
        with self._lock:
            kept = self._kept.get(path)
        if kept is not None and kept[0] == self._vault.stat(path):
            return self._remember(path, *kept)
        file = self._vault.read(path)
        return self._remember(path, file.stat, Outline(self._redaction.apply(file.text)))

    def _remember(self, path: str, stat: FileStat, outline: Outline) -> Outline:
        with self._lock:
            self._kept[path] = (stat, outline)
            self._kept.move_to_end(path)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return outline
