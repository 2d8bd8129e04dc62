"""A second process that helps with a first index changes nothing but the time it takes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from itertools import islice

import pytest

from indexed_vault import IndexedVault
from second_brain.index import postings
from second_brain.index.writer import Writer
from second_brain.indexing import indexer, preparing
from second_brain.indexing.preparing import JOBS, MOST_JOB, Helper, Job, Preparation, Rules, jobs_of
from second_brain.vault.vault import MAX_NOTE_BYTES, Vault


def many_notes(vault, count=120):
    for number in range(count):
        vault.write(
            f"Folder {number % 7}/Note {number}.md", f"# Heron {number}\n\nIt stood in pond {number} #tag{number % 5}\n"
        )


@pytest.fixture
def helped(monkeypatch):
    monkeypatch.setattr(indexer, "PARALLEL_FROM", 20)
    monkeypatch.setattr(indexer, "FIRST_BATCH", 10)
    monkeypatch.setattr(indexer, "BATCH", 15)
    monkeypatch.setattr(indexer, "can_help", lambda: True)


def test_an_index_made_with_help_equals_one_made_alone(tmp_path, helped, monkeypatch):
    vault = IndexedVault(tmp_path / "helped")
    many_notes(vault)
    assert vault.sync().processed == 120
    vault.embed()
    with_help = vault.dump()
    monkeypatch.setattr(indexer, "can_help", lambda: False)
    assert with_help == vault.fresh_dump(tmp_path / "fresh")


@pytest.mark.parametrize("dies_after", [0, 1, 2])
def test_a_helper_that_dies_is_replaced_by_the_writer_itself(tmp_path, helped, monkeypatch, dies_after):
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    receive = preparing.Helper._receive
    received = []

    def receive_or_die(helper):
        received.append(1)
        if len(received) > dies_after and helper._process is not None:
            os.kill(helper._process.pid, signal.SIGKILL)
            helper._process.wait()
        return receive(helper)

    monkeypatch.setattr(preparing.Helper, "_receive", receive_or_die)
    assert vault.sync().processed == 120
    assert received
    vault.embed()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


def test_a_helper_that_cannot_start_is_no_loss(tmp_path, helped, monkeypatch):
    monkeypatch.setattr(preparing.sys, "executable", str(tmp_path / "no such python"))
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    assert vault.sync().processed == 120


@pytest.fixture
def received(monkeypatch):
    """Counts the answers that came from a helper."""
    taken = []
    receive = preparing.Helper._receive

    def counted(helper):
        answer = receive(helper)
        taken.extend([answer] if answer else [])
        return answer

    monkeypatch.setattr(preparing.Helper, "_receive", counted)
    return taken


def test_the_last_jobs_are_answered_by_the_helper(tmp_path, helped, received):
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    assert vault.sync().processed == 120
    assert len(received) >= preparing.JOBS_AHEAD


@pytest.mark.parametrize("helps", [True, False])
def test_a_note_that_vanishes_or_cannot_be_read_leaves_the_others(tmp_path, helped, monkeypatch, received, helps):
    monkeypatch.setattr(indexer, "can_help", lambda: helps)
    monkeypatch.setattr(indexer, "PARALLEL_FROM", 20 if helps else 10_000)
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault, 60)
    scan = Vault.scan

    def scan_and_spoil(self):
        found = scan(self)
        for path in sorted(found.files)[-4:-2]:
            (vault.root / path).unlink()
        for path in sorted(found.files)[-2:]:
            (vault.root / path).write_bytes(b"x" * (MAX_NOTE_BYTES + 1))
        return found

    monkeypatch.setattr(Vault, "scan", scan_and_spoil)
    report = vault.sync()
    assert report.processed == 56
    assert len(report.errors) == 2
    assert all("larger than" in error for error in report.errors)
    assert bool(received) is helps


@pytest.mark.parametrize(
    ("start_up", "helps"),
    [
        ("print('tracing is on')", True),
        ("import sys; sys.stdout.write('cnope\\nmore\\n')", True),
        ("import sys; sys.stdout.write('no line end')", True),
        ("import os; os._exit(3)", False),
        ("import os; os.write(1, b'second-brain 0\\n' + bytes(range(256)) * 300); os._exit(0)", False),
    ],
)
def test_what_else_a_python_prints_when_it_starts_neither_hangs_nor_spoils_anything(
    tmp_path, helped, monkeypatch, received, start_up, helps
):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(start_up)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    assert vault.sync().processed == 120
    assert bool(received) is helps


def test_the_helper_runs_the_code_of_its_writer(tmp_path, helped, received, monkeypatch):
    other = tmp_path / "other" / "second_brain"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise SystemExit(3)")
    monkeypatch.setenv("PYTHONPATH", str(other.parent))
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    assert vault.sync().processed == 120
    assert received


def test_what_the_helper_has_done_before_a_stop_is_kept(tmp_path, helped, monkeypatch):
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    put = []

    def stop_when_answers_wait():
        helper = helpers[0] if helpers else None
        return bool(helper and put and helper._answers.qsize() >= 2)

    helpers = []
    enter = preparing.Helper.__enter__
    monkeypatch.setattr(preparing.Helper, "__enter__", lambda self: helpers.append(self) or enter(self))
    put_built = Writer.put_built

    def slow(self, batch):
        put.append(len(batch.paths))
        put_built(self, batch)
        until = time.monotonic() + 20
        while not stop_when_answers_wait() and len(put) == 1 and time.monotonic() < until:
            time.sleep(0.01)

    monkeypatch.setattr(Writer, "put_built", slow)
    with vault.writer() as writer:
        report = vault.indexer(writer).sync(should_stop=stop_when_answers_wait)
    assert report.stopped
    assert report.processed >= 10 + 2 * 15
    with vault.reader() as reader:
        assert len(reader.columns) == report.processed
    assert vault.sync().processed == 120 - report.processed


@pytest.mark.parametrize("taken", [1, 2, 3, 5, 8])
def test_no_job_is_answered_twice_when_the_helper_dies_with_answers_on_the_way(tmp_path, taken):
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    preparation = Preparation(vault.vault(), Rules(vault.redact, vault.layout), {1: vault.layout})
    paths = sorted(file.relative_to(vault.root).as_posix() for file in vault.root.rglob("*.md"))
    jobs = jobs_of(paths, 1, first=10, most=15)
    with Helper(preparation) as helper:
        results = helper.results(jobs)
        answered = [next(results)[0].first_doc]
        until = time.monotonic() + 20
        while helper._answers.qsize() < 2 and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(helper._process.pid, signal.SIGKILL)
        helper._process.wait()
        answered += [job.first_doc for job, _ in islice(results, taken)]
        answered += [job.first_doc for job, _ in helper.finished()]
    assert len(answered) >= min(1 + taken, len(jobs))
    assert len(set(answered)) == len(answered)


def test_what_a_helper_did_before_it_died_is_not_done_again(tmp_path, helped, received, monkeypatch):
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    send = Helper._send

    def die_once_answers_wait(self, message):
        until = time.monotonic() + 20
        while len(self._jobs) and self._process and self._answers.qsize() < 1 and time.monotonic() < until:
            time.sleep(0.01)
            if isinstance(message, Job) and message.first_doc == min(self._jobs) + 10:
                break
        if self._answers.qsize():
            self._give_up()
        send(self, message)

    monkeypatch.setattr(Helper, "_send", die_once_answers_wait)
    assert vault.sync().processed == 120
    assert received
    with vault.reader() as reader:
        assert len(reader.occurrences("heron")[0]) == 120


def test_a_pipe_that_may_not_be_wide_costs_no_helper(tmp_path, helped, received, monkeypatch):
    popen = subprocess.Popen

    def refusing(command, *, pipesize, **options):
        if pipesize > 0:
            raise PermissionError("the wide pipes of this user are used up")
        return popen(command, **options)

    monkeypatch.setattr(preparing.subprocess, "Popen", refusing)
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault)
    assert vault.sync().processed == 120
    assert received


@pytest.mark.parametrize("count", [1, 9, 10, 11, 900, 5_000, 100_000])
def test_jobs_hold_every_path_once_with_numbers_that_follow_one_another(count):
    paths = [f"{number}.md" for number in range(count)]
    jobs = jobs_of(paths, 7, first=10, most=500)
    assert [path for job in jobs for path in job.paths] == paths
    assert [job.first_doc for job in jobs] == [
        7 + sum(len(job.paths) for job in jobs[:index]) for index in range(len(jobs))
    ]
    assert len(jobs[0].paths) == min(count, 10)
    assert all(job.paths for job in jobs)


@pytest.mark.parametrize("count", [1_500, 5_000, 14_000])
def test_the_jobs_of_a_usual_vault_are_too_few_to_be_merged_at_once(tmp_path, count):
    sizes = [len(job.paths) for job in jobs_of(["x.md"] * count, 1, first=50, most=500)]
    classes = Counter(postings._size_class(size) for size in sizes)
    assert max(classes.values()) < postings.MERGE_WIDTH
    assert max(sizes) <= max(500, min(count // JOBS, MOST_JOB))
    assert sizes[1:] == sorted(sizes[1:], reverse=True)
