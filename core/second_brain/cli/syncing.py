"""`sync`: bring the index up to date once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.completing import words
from second_brain.cli.interrupts import INTERRUPTED
from second_brain.cli.progress import shown_progress
from second_brain.cli.stopping import stopped_by_signals
from second_brain.cli.wording import plural

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from second_brain.cli.session import Session
    from second_brain.indexing.indexer import Progress
    from second_brain.keeping import SyncOutcome

_SHOWN_ERRORS = 20


@command("sync", short_help="Bring the index up to date with the vault.")
@click.option(
    "--mode",
    default="incremental",
    show_default=True,
    metavar="full|incremental|file",
    help="Read all notes anew, only what changed, or one note.",
    shell_complete=words("full", "incremental", "file"),
)
@click.option(
    "--file-path",
    metavar="PATH",
    help="The note of --mode file, absolute or from the vault's root.",
    shell_complete=words(kind="file"),
)
@click.option("--words-only", is_flag=True, help="Leave the meaning for later: fast, and enough to search by words.")
@examples(
    "second-brain sync",
    "second-brain sync --mode full --words-only",
    'second-brain sync --mode file --file-path "Projects/my-note.md"',
)
@pass_session
def sync_(session: Session, *, mode: str, file_path: str | None, words_only: bool) -> None:
    """Bring the index up to date with the vault: words first, then meaning. Searching works meanwhile.

    Interrupted by Ctrl-C it keeps what is done, and the next sync goes on. A note that cannot be read is named and does
    not fail the run, nor does an embedder that cannot be reached. --json prints {"processed", "skipped", "deleted",
    "errors", "graph_edges_updated", "moved", "embedded", "waiting", "warnings"}.
    """
    outcome, stopped = None, True
    with suppress(KeyboardInterrupt), stopped_by_signals() as stop, shown_progress(quiet=session.as_json) as report:
        outcome = session.brain.sync(
            mode,
            file_path=file_path,
            embed=not words_only,
            report=report,
            should_stop=stop.is_set,
        )
        stopped = stop.is_set()
    if outcome is not None:
        _tell(session, outcome)
    if stopped:
        session.out.note("interrupted: what is done is kept, the next sync goes on from here.")
        raise click.exceptions.Exit(INTERRUPTED)


def stoppable(report: Callable[[Progress], None], stop: threading.Event) -> Callable[[Progress], None]:
    """*report*, which ends the reading of notes once *stop* is set; embedding asks for itself."""

    def told(progress: Progress) -> None:
        report(progress)
        if stop.is_set() and progress.phase == "words":
            raise KeyboardInterrupt

    return told


def _tell(session: Session, outcome: SyncOutcome) -> None:
    found = sync_json(outcome)
    if session.as_json:
        session.out.json(found)
        return
    out = session.out
    out.line(summary(outcome))
    for error in found["errors"][:_SHOWN_ERRORS]:
        out.warn(error)
    if len(found["errors"]) > _SHOWN_ERRORS:
        out.warn(f"and {len(found['errors']) - _SHOWN_ERRORS} more: second-brain status --json lists them.")
    for warning in found["warnings"]:
        out.warn(warning)


def sync_json(outcome: SyncOutcome) -> dict[str, Any]:
    """The fields of ``rag.sync``, and ours."""
    notes, vectors = outcome.notes, outcome.vectors
    told = (notes.frozen, *((vectors.unavailable, vectors.kept_former) if vectors else ()))
    warnings = [text for text in told if text]
    return {
        "processed": notes.processed,
        "skipped": notes.skipped,
        "deleted": notes.deleted,
        "errors": [*notes.errors, *(vectors.errors if vectors else ())],
        "graph_edges_updated": outcome.graph.edges,
        "moved": notes.moved,
        "embedded": vectors.embedded if vectors else 0,
        "waiting": vectors.waiting if vectors else 0,
        "warnings": warnings,
    }


def summary(outcome: SyncOutcome) -> str:
    """What a sync did, in one or two sentences."""
    notes, vectors = outcome.notes, outcome.vectors
    parts = [f"{plural(notes.processed, 'note')} read", f"{notes.skipped:,} unchanged"]
    if notes.moved:
        parts.append(f"{notes.moved:,} moved")
    if notes.deleted:
        parts.append(f"{notes.deleted:,} no longer indexed")
    text = ", ".join(parts) + "."
    if vectors is not None and (vectors.embedded or vectors.waiting):
        text += f" {plural(vectors.embedded, 'passage')} embedded in {vectors.seconds:.1f} s"
        text += f", {vectors.waiting:,} waiting." if vectors.waiting else "."
    return text
