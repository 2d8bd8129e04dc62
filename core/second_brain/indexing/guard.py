"""Whose index this is, and whether notes that are missing are gone: what keeps a sync from emptying an index by mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.errors import InvalidParameter
from second_brain.vault import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from second_brain.index.writer import KnownNote, Writer
    from second_brain.vault.vault import Scan


class Guard:
    """Remembers in the index which folder was indexed, and since when notes have been missing."""

    def __init__(self, writer: Writer, clock: Callable[[], float]) -> None:
        self._writer = writer
        self._clock = clock

    def is_foreign(self, root: Path, known: Mapping[str, KnownNote], missing: Sequence[str]) -> bool:
        """Whether the index is that of another vault; one that only lies elsewhere now still has its notes."""
        owner = self._writer.get_meta("vault_root")
        return bool(owner) and owner != str(root) and 2 * len(missing) > len(known)

    def foreign(self) -> InvalidParameter:
        """The error for the index of another vault."""
        return InvalidParameter(
            f"The index {self._writer.path} belongs to another vault: {self._writer.get_meta('vault_root')}.",
            hint="Choose another place with --db, or replace the index with: second-brain sync --mode full",
            parameter="db_path",
        )

    def reason_to_wait(self, root: Path, known: Mapping[str, KnownNote], missing: Sequence[str], scan: Scan) -> str:
        """Why the deletion of *missing* is not to be believed yet, "" when it is."""
        since = float(self._writer.get_meta("missing_since") or 0) or self._clock()
        reason = changes.mass_disappearance(
            len(known),
            len(missing),
            self.root_state(root),
            unreadable_folders=len(scan.incomplete_folders),
            seen_for_s=self._clock() - since,
        )
        identity = _identity(root)
        seen = {} if reason or identity is None else {"root_identity": f"{identity[0]}:{identity[1]}"}
        self._writer.set_meta({"missing_since": str(since) if reason else "", **seen})
        return reason

    def root_state(self, root: Path) -> changes.RootState:
        """The folder *root* compared with the one that was indexed."""
        device, _, inode = self._writer.get_meta("root_identity").partition(":")
        return changes.root_state((int(device), int(inode)) if inode else None, _identity(root))


def _identity(root: Path) -> tuple[int, int] | None:
    """Device and inode of the vault's folder, None when it cannot be told."""
    try:
        status = root.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
