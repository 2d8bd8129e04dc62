"""Notes as they are on disk now, redacted and parsed; the last ones are kept as long as their files stay the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from second_brain.errors import NoteUnreadable, NotFound
from second_brain.vault.markdown import parse

if TYPE_CHECKING:
    from second_brain.model import FileStat, ParsedNote
    from second_brain.vault.redaction import Redaction
    from second_brain.vault.vault import Vault

KEPT = 128


class ParsedNotes:
    """Reads notes of *vault*; for any number of threads."""

    def __init__(self, vault: Vault, redaction: Redaction, *, inline_tags: bool) -> None:
        self._vault = vault
        self._redaction = redaction
        self._inline_tags = inline_tags
        self._kept: OrderedDict[str, tuple[FileStat, ParsedNote]] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, path: str) -> ParsedNote | None:
        """The note at *path*, None when it is gone or cannot be read.  Raises `VaultUnavailable`."""
        with self._lock:
            kept = self._kept.get(path)
        try:
            if kept is not None and kept[0] == self._vault.stat(path):
                return kept[1]
            file = self._vault.read(path)
            text = self._redaction.apply(file.text)
        except (NotFound, NoteUnreadable):
            return None
        note = parse(path, text, inline_tags=self._inline_tags)
        with self._lock:
            self._kept[path] = (file.stat, note)
            self._kept.move_to_end(path)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return note
