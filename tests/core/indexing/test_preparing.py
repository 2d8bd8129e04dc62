"""A second process that helps with a first index changes nothing but the time it takes."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from indexed_vault import IndexedVault
from second_brain.index import postings
from second_brain.indexing import indexer, preparing
from second_brain.indexing.preparing import JOBS, MOST_JOB, jobs_of


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


def test_a_note_that_vanishes_or_cannot_be_read_leaves_the_others(tmp_path, helped, monkeypatch):
    vault = IndexedVault(tmp_path / "vault")
    many_notes(vault, 40)
    os.mkfifo(vault.root / "pipe.md")
    report = vault.sync()
    assert report.processed == 40


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
