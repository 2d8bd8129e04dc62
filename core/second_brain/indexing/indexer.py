"""Keep the index equal to the vault.

`sync` compares the whole vault with the index, `look_at` only the places that a watcher names; both end in the same line:
moves, deletions, then notes in batches, each batch one transaction, so that a search answers from the first batch on.
One bad note never stops the others: it becomes a row in the index's problems.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from second_brain.errors import InvalidParameter, NoteUnreadable, NotFound, NotRedacted
from second_brain.indexing.guard import Guard
from second_brain.indexing.preparing import Helper, Preparation, Prepared, Rules, can_help, jobs_of
from second_brain.indexing.stopping import StoppedError, interruptible, interruptible_each, nothing, stopped_by
from second_brain.model import FileStat, NoteFile, stem_of
from second_brain.vault import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from second_brain.index.note_rows import NoteRecord
    from second_brain.index.writer import KnownNote, Writer
    from second_brain.vault.vault import Scan, Vault

FIRST_BATCH = 50
BATCH = 500
PARALLEL_FROM = 1_500
"""So many new notes are worth a second process, which takes a third of a second to start."""

FORMER_TEXTS_LEFT = "Texts that may not be stored any more are still in the file, because another program reads the index; the next sync removes them."

FEW_DELETIONS = 5
"""More at once are followed only after a look at the whole vault."""

_UNKNOWN = FileStat(-1, -1)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long run is: `phase` is "words" or "meaning", counted in notes or passages."""

    phase: str
    done: int
    total: int


@dataclass(slots=True)
class SyncReport:
    """What a sync did.  `frozen`: why deletions were not followed, "" otherwise.  `stopped`: the rest is left for the next."""

    processed: int = 0
    skipped: int = 0
    deleted: int = 0
    moved: int = 0
    errors: list[str] = field(default_factory=list)
    frozen: str = ""
    stopped: bool = False
    changed_paths: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.processed or self.deleted or self.moved)


class Indexer:
    """Applies what changed in a vault to the index.  One thread at a time."""

    def __init__(
        self,
        vault: Vault,
        writer: Writer,
        rules: Rules,
        *,
        report: Callable[[Progress], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.vault = vault
        self.writer = writer
        self.rules = rules
        self._report = report
        self._clock = clock
        self.last_look = 0.0
        self._pulse: Callable[[], None] = nothing
        self._guard = Guard(writer, clock)
        self._layout = writer.layout(rules.layout)
        self._preparation = Preparation(vault, rules, {self._layout: rules.layout})

    # -- what to do -------------------------------------------------------------------------------------------------------

    def sync(self, *, full: bool = False, should_stop: Callable[[], bool] = lambda: False) -> SyncReport:
        """Make the index equal to the vault; *full* reads every note again, whatever its time stamp says.

        *should_stop* is asked at least ten times a second; when it is true the sync ends, and the next one goes on.
        """
        report = SyncReport()
        with self._stoppable(report, stopped_by(should_stop)):
            self._sync(report, full=full)
            self.remember_look()
        return report

    def remember_look(self) -> None:
        """Write down when the whole vault was last found equal; not after every idle look, which must change no index."""
        if self.last_look:
            self.writer.set_meta({"last_sync": str(self.last_look)})

    def _sync(self, report: SyncReport, *, full: bool = False) -> None:
        known = self.writer.known()
        scan = interruptible(self.vault.scan, self._pulse)
        suspects = changes.diff(scan.files, _stats(known), incomplete_folders=scan.incomplete_folders)
        form = self.rules.form
        outdated = {path for path in scan.files if path in known and (full or known[path].form != form)}
        changed = sorted({*suspects.changed, *outdated})
        missing: Sequence[str] = suspects.missing
        if self._guard.is_foreign(self.vault.root, known, missing):
            if not full:
                raise self._guard.foreign()
        else:
            report.frozen = self._guard.reason_to_wait(self.vault.root, known, missing, scan)
            missing = () if report.frozen else missing
        self._apply(changed, missing, known, report, force=outdated)
        report.skipped += len(scan.files) - len(changed)
        self._finish(report, scan)

    @contextlib.contextmanager
    def _stoppable(self, report: SyncReport, pulse: Callable[[], None]) -> Iterator[None]:
        self._pulse = pulse
        try:
            yield
        except StoppedError:
            report.stopped = True
        finally:
            self._pulse = nothing

    def sync_file(self, argument: str) -> SyncReport:
        """Bring one note up to date: written, deleted or newly excluded.

        Raises `InvalidParameter("file_path")` for a path outside the vault, `NotFound` for one that is neither on disk nor
        in the index.
        """
        path = self.vault.relative(argument)
        known = self.writer.known()
        report = SyncReport()
        on_disk = self._stat(path, report) is not None
        if not on_disk and path not in known and not report.errors:
            raise NotFound(f"There is no note {path} in the vault.", hint="Check the spelling.", parameter="file_path")
        changed, missing = ([path], []) if on_disk else ([], [path])
        self._apply(changed, missing, known, report, force=set())
        return report

    def look_at(self, batch: changes.Batch, *, pulse: Callable[[], None] = nothing) -> SyncReport:
        """Bring the places of *batch* up to date; *pulse* is called ten times a second and may raise `StoppedError`."""
        report = SyncReport()
        with self._stoppable(report, pulse):
            if batch.overflow or batch.folders:
                self._sync(report)
            else:
                self._look(batch, report)
            if report:
                self.remember_look()
        return report

    def _look(self, batch: changes.Batch, report: SyncReport) -> None:
        known = self.writer.known_of(batch.paths)
        stats = _stats(known)
        changed, missing = [], []
        for path in sorted(batch.paths):
            stat = self._stat(path, report)
            if stat is None:
                if path in known:
                    missing.append(path)
            elif path not in known or stats[path].stat != stat:
                changed.append(path)
        root_state = self._guard.root_state(self.vault.root)
        if missing and (len(missing) > FEW_DELETIONS or root_state is not changes.RootState.SAME):
            self._sync(report)  # which knows what to think of it
        else:
            self._apply(changed, missing, known, report, force=set())

    # -- doing it ---------------------------------------------------------------------------------------------------------

    def _apply(
        self,
        changed: Sequence[str],
        missing: Sequence[str],
        known: Mapping[str, KnownNote],
        report: SyncReport,
        *,
        force: set[str],
    ) -> None:
        if any(known[path].form != self.rules.form for path in (*changed, *missing) if path in known):
            # Remembered before anything is replaced, so that a kill in between forgets nothing.
            self.writer.set_meta({"former_texts": "kept"})
        # A model may have come or gone since the last look, and its layout with it; ours is for as long as there is none.
        layouts = self.writer.layouts_in_use() or {self._layout: self.rules.layout}
        self._preparation = Preparation(self.vault, self.rules, layouts)
        moved_to, files = self._follow_moves(changed, missing, known, report)
        gone = [path for path in missing if path not in moved_to.values()]
        if gone:
            self.writer.delete(gone)
            report.deleted += len(gone)
            report.changed_paths += gone
        rest = [path for path in changed if path not in moved_to]
        self._write(rest, known, report, force=force, files=files)
        if self.writer.get_meta("former_texts"):
            if self.writer.forget_former_texts():
                self.writer.set_meta({"former_texts": ""})
            else:
                report.errors.append(FORMER_TEXTS_LEFT)

    def _follow_moves(
        self, changed: Sequence[str], missing: Sequence[str], known: Mapping[str, KnownNote], report: SyncReport
    ) -> tuple[dict[str, str], dict[str, NoteFile]]:
        """Re-key notes whose content came back under another path; returns new path -> old path, and what was read."""
        sizes = {stat.size for path in missing if (stat := known[path].stat)}
        new = [path for path in changed if path not in known] if missing else []
        files = {}
        for path in new:
            self._pulse()
            stat = self._stat(path, report)
            if stat is not None and stat.size in sizes:
                file = self._read(path, report, quiet=True)
                if file is not None:
                    files[path] = file
        hashes = {path: file.content_hash for path, file in files.items()}
        settled = changes.settle(changes.Suspects(tuple(sorted(hashes)), tuple(missing)), hashes, _stats(known))
        if settled.moved:
            renewed = [
                self._preparation.record(files[move.new])
                for move in settled.moved
                if stem_of(move.old) != stem_of(move.new) or known[move.old].form != self.rules.form
            ]
            self.writer.move([(move, files[move.new].stat) for move in settled.moved], renewed)
            report.moved += len(settled.moved)
            report.changed_paths += [path for move in settled.moved for path in (move.old, move.new)]
        return {move.new: move.old for move in settled.moved}, files

    def _write(
        self,
        paths: Sequence[str],
        known: Mapping[str, KnownNote],
        report: SyncReport,
        *,
        force: set[str],
        files: Mapping[str, NoteFile],
    ) -> None:
        """Put what changed into the index; *files* were read already."""
        touched: dict[str, FileStat] = {}
        batch: list[NoteRecord] = []
        size = FIRST_BATCH
        elsewhere = self._write_new(paths, known, report) if not files else set()
        for number, path in enumerate(paths):
            if path in elsewhere:
                continue
            with self._keeping(batch, report):
                self._pulse()
            file = files.get(path) or self._read(path, report)
            if file is None:
                continue
            before = known.get(path)
            if before is not None and _only_touched(before, file) and path not in force:
                touched[path] = file.stat
                report.skipped += 1
                continue
            batch.append(self._preparation.record(file))
            if len(batch) >= size:
                self._put(batch, report)
                batch, size = [], BATCH
                self._report(Progress("words", number + 1, len(paths)))
        self._put(batch, report)
        if touched:
            self.writer.touch(touched)
        if paths:
            self._report(Progress("words", len(paths), len(paths)))

    @contextlib.contextmanager
    def _keeping(self, batch: Sequence[NoteRecord], report: SyncReport) -> Iterator[None]:
        """Write what is read already before a stop."""
        try:
            yield
        except StoppedError:
            self._put(batch, report)
            raise

    def _write_new(self, paths: Sequence[str], known: Mapping[str, KnownNote], report: SyncReport) -> set[str]:
        """Write very many new notes with the help of a second process; returns which of *paths* are done with."""
        new = [path for path in paths if path not in known]
        if len(new) < PARALLEL_FROM or not can_help():
            return set()
        done: set[str] = set()
        jobs = jobs_of(new, self.writer.next_doc(), first=FIRST_BATCH, most=BATCH)
        with Helper(self._preparation) as helper:
            try:
                for job, prepared in interruptible_each(helper.results(jobs), self._pulse):
                    self._put_prepared(prepared, report)
                    done.update(job.paths)
                    self._report(Progress("words", len(done), len(paths)))
            except StoppedError:
                for _, prepared in helper.finished():
                    self._put_prepared(prepared, report)
                raise
        self.writer.rest()  # before an embedding model takes its own share
        return done

    def _put_prepared(self, prepared: Prepared, report: SyncReport) -> None:
        for path, reason in prepared.unreadable.items():
            self._remember(path, reason, report)
        if prepared.batch.paths:
            self.writer.put_built(prepared.batch)
        report.processed += len(prepared.batch.paths)
        report.changed_paths += prepared.batch.paths

    def _put(self, batch: Sequence[NoteRecord], report: SyncReport) -> None:
        if not batch:
            return
        self.writer.put_notes(batch)
        report.processed += len(batch)
        report.changed_paths += [record.file.path for record in batch]

    def _stat(self, path: str, report: SyncReport) -> FileStat | None:
        """The stamp of an eligible note, None without one; one that cannot be told stays what the index has."""
        try:
            return self.vault.stat(path) if self.vault.eligible(path) else None
        except NoteUnreadable as error:
            self._remember(path, error.message, report)
            return _UNKNOWN

    def _remember(self, path: str, reason: str, report: SyncReport) -> None:
        report.errors.append(f"{path}: {reason}")
        self.writer.put_unreadable(path, reason)

    def _read(self, path: str, report: SyncReport, *, quiet: bool = False) -> NoteFile | None:
        """The note, redacted; None when it is gone or unreadable (which is remembered, and what the index has is kept)."""
        try:
            return self._preparation.redacted(self.vault.read(path))
        except NotFound:
            return None
        except NotRedacted as error:
            self.writer.set_meta({"former_texts": "kept"})
            self.writer.delete([path])
            self._remember(path, error.message, report)
            return None
        except (NoteUnreadable, InvalidParameter) as error:
            if not quiet:
                self._remember(path, error.message, report)
            return None

    def _finish(self, report: SyncReport, scan: Scan) -> None:
        self.writer.replace_scan_problems(scan.problems, present=scan.files)
        self.writer.prune()
        self.writer.set_meta({"vault_root": str(self.vault.root)})
        self.last_look = self._clock()
        report.errors += [f"{path}: {reason}" for path, reason in sorted(scan.problems.items())]


def _only_touched(before: KnownNote, file: NoteFile) -> bool:
    """The same content under another time stamp; without a stamp there was trouble that a new reading has to clear."""
    return before.stat is not None and before.content_hash == file.content_hash


def _stats(known: Mapping[str, KnownNote]) -> dict[str, changes.Known]:
    return {path: changes.Known(note.content_hash, note.stat or _UNKNOWN) for path, note in known.items()}
