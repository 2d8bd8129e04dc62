"""The first version's functions by their names, over the real ones, for scripts that call them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from second_brain.config import load
from second_brain.index.opening import open_writer
from second_brain.service import SecondBrain
from second_brain.vault.markdown import parse

if TYPE_CHECKING:
    import os


def open_db(path: str | os.PathLike[str]) -> Path:
    """Make or migrate the database at *path* and return its path.

    Raises `OutOfDate`, `IndexUnavailable` or `WriterBusy` (see `second_brain.errors`).
    """
    place = Path(path)
    open_writer(place).close()
    return place


def scan_vault(db: str | os.PathLike[str], vault: str | os.PathLike[str], *, reindex: bool = False) -> dict[str, int]:
    """Bring the words and metadata of *db* up to date with *vault*; *reindex* reads every note again.

    Returns how many notes were `processed`, `skipped`, `deleted` and `moved`.
    """
    brain = SecondBrain(load(flags={"db_path": str(db)}, vault=str(vault)))
    report = brain.sync("full" if reindex else "incremental", embed=False).notes
    return {
        "processed": report.processed,
        "skipped": report.skipped,
        "deleted": report.deleted,
        "moved": report.moved,
    }


def extract_sections(text: str) -> dict[str, Any]:
    """What the `extracted` column holds of a note's *text*: `title` ("" without one), frontmatter `tags`, `h2s`."""
    note = parse("", text)
    return {
        "title": note.own_title,
        "tags": list(note.frontmatter.tags),
        "h2s": [heading.text for heading in note.headings if heading.level == 2],  # noqa: PLR2004 - the level
    }
