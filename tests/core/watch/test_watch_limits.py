from __future__ import annotations

import os

import pytest

from second_brain.model import FileStat
from second_brain.vault import poller as poller_module
from second_brain.vault import watch_limits
from second_brain.vault.changes import EventKind, PathEvent
from second_brain.vault.poller import Poller
from second_brain.vault.watch_limits import Coverage, coverage, list_folders, root_identity


@pytest.fixture
def folders(root):
    for name in ("a/b", "c", ".git/objects"):
        (root / name).mkdir(parents=True)
    return {name: (root / name).stat().st_ino for name in ("", "a", "a/b", "c")}


def test_hidden_and_linked_folders_are_not_counted(root, folders):
    (root / "link").symlink_to(root / "a")
    assert list_folders(root) == folders


@pytest.mark.parametrize(
    ("watched", "unwatched"),
    [
        pytest.param(["", "a", "a/b", "c"], (), id="all"),
        pytest.param(["", "a"], ("a/b", "c"), id="some"),
    ],
)
def test_folders_without_a_watch_are_named(root, folders, monkeypatch, watched, unwatched):
    inodes = frozenset(folders[name] for name in watched)
    monkeypatch.setattr(watch_limits, "_watched_inodes", lambda descriptors: inodes)
    assert coverage(root, [3]) == Coverage(4, unwatched)


@pytest.mark.parametrize(("watches", "unwatched"), [(4, ()), (3, ("", "a", "a/b", "c"))])
def test_where_inodes_are_numbered_differently_watches_are_counted(root, folders, monkeypatch, watches, unwatched):
    strange = frozenset(-number for number in range(1, watches + 1))
    monkeypatch.setattr(watch_limits, "_watched_inodes", lambda descriptors: strange)
    assert coverage(root, [3]) == Coverage(4, unwatched)


def test_where_the_system_does_not_tell_every_folder_counts_as_watched(root, folders):
    assert coverage(root, ()) == Coverage(4)


def test_only_a_readable_folder_has_an_identity(root):
    assert root_identity(root) == (root.stat().st_dev, root.stat().st_ino)
    (root / "n.md").write_text("x")
    assert root_identity(root / "n.md") is None
    assert root_identity(root / "missing") is None


def test_the_poller_keeps_what_it_knew_of_a_folder_that_cannot_be_read(root, monkeypatch):
    (root / "n.md").write_text("x")
    poller = Poller(root)
    poller.watch([""])

    def refuse(_):
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(poller_module.os, "scandir", refuse)
        assert poller.look() == []
    assert poller.look() == []
    (root / "n.md").unlink()
    assert poller.look() == [PathEvent(EventKind.DELETED, "n.md")]


def test_the_poller_reports_differences_of_its_folders_only(root):
    for name in ("a", "b"):
        (root / name).mkdir()
    poller = Poller(root)
    poller.watch(["a"])
    (root / "a" / "n.md").write_text("x")
    (root / "a" / "n.tmp").write_text("x")
    (root / "a" / "dead.md").symlink_to(root / "nowhere")
    (root / "a" / "sub").mkdir()
    (root / "b" / "n.md").write_text("x")
    assert poller.look() == [PathEvent(EventKind.CREATED, "a/n.md"), PathEvent(EventKind.CREATED, "a/sub", folder=True)]
    os.utime(root / "a" / "n.md", ns=(5, 5))
    assert poller.look() == [PathEvent(EventKind.MODIFIED, "a/n.md")]
    assert poller._seen["a"]["n.md"] == FileStat(5, 1)
    (root / "a" / "n.md").unlink()
    (root / "a" / "sub").rmdir()
    assert poller.look() == [PathEvent(EventKind.DELETED, "a/n.md"), PathEvent(EventKind.DELETED, "a/sub", folder=True)]
