"""From files to rows: everything about a note that needs no database, here or in a second process.

A first index of thousands of notes spends more time on reading and taking apart than on writing; a helper process does that part
while the writer writes.  The helper ends by itself when this process ends, however that happens.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import logging
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

import second_brain
from second_brain.errors import InvalidParameter, NoteUnreadable, NotFound, SecondBrainError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType

    from second_brain.index.note_rows import NoteBatch, NoteRecord
    from second_brain.model import Layout, NoteFile
    from second_brain.vault.redaction import Redaction
    from second_brain.vault.vault import Vault

LOG = logging.getLogger(__name__)

PARSER_VERSION = "3"
"""Part of every note's `form`: raise it when parsing or tokens change, and the next sync reads all notes anew."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How notes become rows; a change of `form` makes every note be read again."""

    redaction: Redaction
    layout: Layout
    inline_tags: bool = True

    @property
    def form(self) -> str:
        """A fingerprint of everything that decides what is stored of a note."""
        parts = (PARSER_VERSION, str(self.inline_tags), *self.redaction.patterns)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Preparation:
    """Knows how the notes of one vault become rows; can be pickled.

    What that takes (YAML, numpy) is loaded with the first note: an unchanged vault does without.
    """

    vault: Vault
    rules: Rules
    layouts: Mapping[int, Layout]

    def redacted(self, file: NoteFile) -> NoteFile:
        """The file without what must not be stored."""
        return replace(file, text=self.rules.redaction.apply(file.text)) if self.rules.redaction else file

    def record(self, file: NoteFile) -> NoteRecord:
        """The note of a redacted file."""
        from second_brain.index.note_rows import NoteRecord  # noqa: PLC0415
        from second_brain.indexing.chunks import split  # noqa: PLC0415
        from second_brain.vault.markdown import parse  # noqa: PLC0415

        note = parse(file.path, file.text, inline_tags=self.rules.inline_tags)
        chunks = {number: split(note, layout) for number, layout in self.layouts.items()}
        return NoteRecord(file, note, chunks, self.rules.form)

    def prepare(self, job: Job) -> Prepared:
        """Read and take apart the notes of *job*; vanished ones are left out, unreadable ones named."""
        from second_brain.index import note_rows  # noqa: PLC0415

        unreadable: dict[str, str] = {}
        return Prepared(note_rows.build(self._records(job, unreadable)), unreadable)

    def _records(self, job: Job, unreadable: dict[str, str]) -> Iterator[tuple[int, NoteRecord]]:
        """One at a time: a parsed note takes ten times the memory of its text."""
        for doc, path in enumerate(job.paths, start=job.first_doc):
            try:
                yield doc, self.record(self.redacted(self.vault.read(path)))
            except NotFound:
                continue
            except (NoteUnreadable, InvalidParameter) as error:
                unreadable[path] = error.message


@dataclass(frozen=True, slots=True)
class Job:
    """New notes to prepare; they get numbers from `first_doc` on, in order."""

    first_doc: int
    paths: Sequence[str]


_HOME = str(Path(second_brain.__file__).parents[1])
JOBS_AHEAD = 3
PIPE_BYTES = 1 << 20
"""As much as Linux allows everybody.  With less, the helper waits: whoever empties the pipe needs Python's lock each time."""

LEAST_JOB = 100
MOST_JOB = 1_000
JOBS = 12
"""Very many notes are divided by this: each job becomes a segment of the word index, and sixteen of like size are merged."""


def jobs_of(paths: Sequence[str], first_doc: int, *, first: int, most: int) -> list[Job]:
    """*paths* as jobs: a small one of *first* notes, then of *most* notes each (more of very many), fewer and fewer in the end.

    So both processes end at about the same time (guided self-scheduling).
    """
    jobs: list[Job] = []
    most = max(most, min(len(paths) // JOBS, MOST_JOB))
    start, size = 0, first
    while start < len(paths):
        jobs.append(Job(first_doc + start, paths[start : start + size]))
        start += size
        size = min(most, max(LEAST_JOB, (len(paths) - start) // 3))
    return jobs


@dataclass(frozen=True, slots=True)
class Prepared:
    """What became of a job; `unreadable` tells why by path."""

    batch: NoteBatch
    unreadable: Mapping[str, str] = field(default_factory=dict)


def can_help() -> bool:
    """Whether a second process can be had and is of use here."""
    return (os.cpu_count() or 1) > 1 and bool(sys.executable) and not getattr(sys, "frozen", False)


class Helper:
    """A second process that prepares jobs beside this one; without one all are prepared here."""

    def __init__(self, preparation: Preparation) -> None:
        self._preparation = preparation
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[_Answer | None] = queue.SimpleQueue()
        self._jobs: dict[int, Job] = {}  # by first number
        self._ended = False  # whether the last answer was taken

    def __enter__(self) -> Self:
        # -P: the folder one happens to stand in, a vault perhaps, is no place for modules.
        # First in the path, or it might be another copy of this program that helps.
        code = f"import sys; sys.path.insert(0, {_HOME!r}); from second_brain.indexing.preparing import serve; serve()"
        command = [sys.executable, "-P", "-c", code]
        self._process = _started(command)
        if self._process is None:
            self._answers.put(None)
        else:
            # A thread, because the helper could not go on while its last answer waits in the pipe.
            threading.Thread(target=_listen, args=(self._process.stdout, self._answers), daemon=True).start()
            self._send(self._preparation)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        self._give_up()

    def _give_up(self) -> None:
        """End the second process; from here on everything is done in this one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        process.wait()

    def results(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Prepared]]:
        """What becomes of *jobs*, in about their order: while the helper has no answer ready, the next one is done here."""
        self._jobs = {job.first_doc: job for job in jobs}
        waiting = deque(jobs)
        asked: deque[Job] = deque()
        first = waiting.popleft()
        self._ask(waiting, asked)
        yield first, self._preparation.prepare(first)
        while waiting or asked:
            self._ask(waiting, asked)
            if asked and (not waiting or not self._answers.empty()):
                job = asked.popleft()
                yield self._receive() or (job, self._preparation.prepare(job))
            else:
                job = waiting.popleft()
                yield job, self._preparation.prepare(job)

    def finished(self) -> Iterator[tuple[Job, Prepared]]:
        """What the helper has done and nobody took, for when no more is wanted."""
        with contextlib.suppress(queue.Empty):
            while (answer := self._answers.get_nowait()) is not None:
                yield self._jobs[answer.first_doc], answer.prepared

    def _ask(self, waiting: deque[Job], asked: deque[Job]) -> None:
        while waiting and len(asked) < JOBS_AHEAD and self._process is not None:
            asked.append(waiting.popleft())
            self._send(asked[-1])

    def _send(self, message: object) -> None:
        if self._process is not None and self._process.stdin is not None:
            try:
                pickle.dump(message, self._process.stdin, protocol=5)
                self._process.stdin.flush()
            except OSError:
                self._give_up()

    def _receive(self) -> tuple[Job, Prepared] | None:
        """The next answer, None when there will be none; what a helper did before it died counts."""
        answer = None if self._ended else self._answers.get()
        if answer is None:
            self._ended = True
            self._give_up()
            return None
        return self._jobs[answer.first_doc], answer.prepared


def _started(command: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """The helper process; None where none can be had, which costs time and nothing else."""
    for size in (PIPE_BYTES, -1):  # wide pipes may be used up, or forbidden
        try:
            return subprocess.Popen(  # noqa: S603 - this very interpreter
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what goes wrong there is done, and told, here
                bufsize=PIPE_BYTES,
                pipesize=size,
                start_new_session=True,  # Ctrl-C is for this process
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            LOG.debug("No helper with a pipe of %d bytes: %s", size, error)
    return None


@dataclass(frozen=True, slots=True)
class _Answer:
    """What became of the job that begins with `first_doc`."""

    first_doc: int
    prepared: Prepared


_MARK = f"second-brain {PARSER_VERSION}\n".encode()
"""Opens the answers: what a start-up file of Python prints comes before it, and another version has another one."""


def _listen(stream: IO[bytes], answers: queue.SimpleQueue[_Answer | None]) -> None:
    """Take the helper's answers as they come; None is the last one, however the helper ended."""
    try:
        with stream:
            while line := stream.readline(PIPE_BYTES):
                if line.endswith(_MARK):
                    break
            while isinstance(answer := pickle.load(stream), _Answer):  # noqa: S301 - from our own child
                answers.put(answer)
    except Exception as error:  # noqa: BLE001 - the edge of a thread; unpickling raises whatever it meets
        LOG.debug("The helper's answers ended: %s", type(error).__name__)
    finally:
        answers.put(None)


def serve() -> None:
    """The helper process: a `Preparation`, then jobs on standard input, their results on standard output, until the end."""
    incoming: IO[bytes] = sys.stdin.buffer
    with (
        contextlib.suppress(EOFError, BrokenPipeError, SecondBrainError),
        os.fdopen(os.dup(sys.stdout.fileno()), "wb", PIPE_BYTES) as outgoing,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may reach the results
        outgoing.write(_MARK)
        preparation: Preparation = pickle.load(incoming)  # noqa: S301 - from our own parent
        gc.disable()  # all is made anew for each job; looking for cycles in between took a tenth of the time
        while True:
            job: Job = pickle.load(incoming)  # noqa: S301
            pickle.dump(_Answer(job.first_doc, preparation.prepare(job)), outgoing, protocol=5)
            outgoing.flush()
            gc.collect()
