from __future__ import annotations

import pytest

from second_brain.model import FileStat
from second_brain.vault.changes import Batch
from second_brain.vault.quiet_period import Patience, QuietPeriod


def paths(*names):
    return Batch(frozenset(names))


@pytest.fixture
def disk():
    return {}


@pytest.fixture
def held(disk):
    return QuietPeriod(Patience(quiet_s=0.4, max_wait_s=2.5), disk.get)


def test_nothing_is_due_while_nothing_is_held(held):
    assert held.due_at() == float("inf")
    assert held.take(1e9) == Batch()
    held.add(Batch(), 1.0)
    assert not held


@pytest.mark.requirement("RG-17")
def test_the_last_change_comes_after_quiet_without_a_further_event(held):
    held.add(paths("a.md"), 10.0)
    held.add(paths("b.md"), 10.3)
    assert held.take(10.6) == Batch()
    assert held.due_at() == pytest.approx(10.7)
    assert held.take(10.71) == paths("a.md", "b.md")
    assert not held


@pytest.mark.requirement("RG-17")
def test_changes_that_never_pause_are_delivered_all_the_same(held):
    delivered = []
    for step in range(100):
        now = step * 0.1
        held.add(paths("busy.md"), now)
        if held.take(now):
            delivered.append(now)
    assert delivered == pytest.approx([2.5, 5.1, 7.7])


def test_a_file_that_still_changes_stays_while_the_others_go(held, disk):
    disk.update({"big.md": FileStat(1, 100), "a.md": FileStat(1, 5)})
    held.add(paths("big.md", "a.md"), 0.0)
    disk["big.md"] = FileStat(2, 200)
    assert held.take(0.4) == paths("a.md")
    assert held.take(0.7) == Batch()
    assert held.take(0.8) == paths("big.md")


def test_a_file_that_never_rests_waits_no_longer_than_the_limit(held, disk):
    held.add(paths("log.md"), 0.0)
    delivered = []
    for step in range(1, 60):
        disk["log.md"] = FileStat(step, step)
        if held.take(step * 0.1):
            delivered.append(step * 0.1)
    assert delivered == pytest.approx([2.5])


def test_folders_and_overflow_are_delivered_together_with_paths(held):
    held.add(Batch(frozenset({"x.md"}), frozenset({"f/g"})), 0.0)
    held.add(Batch(folders=frozenset({"f"}), overflow=True), 0.1)
    assert held.take(0.5) == Batch(frozenset({"x.md"}), frozenset({"f"}), overflow=True)
