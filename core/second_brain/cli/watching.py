"""`watch`: keep the index up to date for as long as the command runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.output import harmless
from second_brain.cli.stopping import stopped_by_signals
from second_brain.cli.wording import listed, plural

if TYPE_CHECKING:
    from second_brain.cli.session import Session
    from second_brain.indexing.embed import EmbedReport
    from second_brain.indexing.indexer import SyncReport


class _Told:
    """A listener that prints every event: a line of text, or of JSON."""

    def __init__(self, session: Session) -> None:
        self._out = session.out
        self._as_json = session.as_json

    def tell(self, event: str, text: str, **facts: Any) -> None:
        now = datetime.now(UTC)
        if self._as_json:
            self._out.event({"event": event, "at": now.isoformat(timespec="seconds"), **facts})
        else:
            self._out.line(f"{now.astimezone():%H:%M:%S}  {harmless(text)}")
            self._out.flush()

    def changed(self, report: SyncReport) -> None:
        counts = ((report.processed, "read"), (report.moved, "moved"), (report.deleted, "no longer indexed"))
        done = ", ".join(f"{count:,} {what}" for count, what in counts if count)
        self.tell(
            "changed",
            f"{done}: {listed(report.changed_paths)}",
            processed=report.processed,
            moved=report.moved,
            deleted=report.deleted,
            paths=report.changed_paths,
            errors=report.errors,
        )
        for error in report.errors:
            self.trouble(error)

    def embedded(self, report: EmbedReport) -> None:
        waiting = f", {report.waiting:,} waiting" if report.waiting else ""
        text = f"{plural(report.embedded, 'passage')} embedded in {report.seconds:.1f} s{waiting}"
        self.tell("embedded", text, embedded=report.embedded, waiting=report.waiting, seconds=round(report.seconds, 2))

    def trouble(self, message: str) -> None:
        self.tell("trouble", f"trouble: {message}", message=message)


@command("watch", short_help="Keep the index up to date until it is stopped.")
@click.option("--words-only", is_flag=True, help="Leave the meaning for later.")
@examples("second-brain watch", "second-brain watch --words-only --json")
@pass_session
def watch_(session: Session, *, words_only: bool) -> None:
    """Bring the index up to date, then follow every change of the vault until Ctrl-C.

    Prints a line for every change; with --json one object a line: {"event": "started|changed|embedded|trouble|stopped",
    "at", ...}. Only one process can keep an index; searching works meanwhile.
    """
    session.brain.require_whole_vault("watch")
    told = _Told(session)
    config = session.config
    with stopped_by_signals() as stop:
        # The vault is looked at first, so that a wrong folder is an error and not a wait.
        vault = session.brain.vault.root
        told.tell(
            "started",
            f"watching {vault} (Ctrl-C stops); index {config.db_path}",
            vault=str(vault),
            database=str(config.db_path),
        )
        session.brain.watch(stop, told, embed=not words_only)
        told.tell("stopped", "stopped")
