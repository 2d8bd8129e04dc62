from __future__ import annotations

import pytest

from second_brain.model import ChangeSet, FileStat, Move
from second_brain.vault.changes import (
    CONFIRM_AFTER_S,
    Batch,
    EventKind,
    Known,
    PathEvent,
    RootState,
    Suspects,
    coalesce,
    diff,
    mass_disappearance,
    outermost,
    root_state,
    settle,
)

OLD, NEW = FileStat(1, 10), FileStat(2, 10)


def known(**hashes):
    return {path.replace("__", "/") + ".md": Known(content_hash, OLD) for path, content_hash in hashes.items()}


@pytest.mark.parametrize(
    ("disk", "incomplete", "expected"),
    [
        pytest.param({"a.md": OLD, "f/b.md": OLD}, (), Suspects((), ()), id="nothing"),
        pytest.param({"a.md": OLD, "f/b.md": OLD, "c.md": OLD}, (), Suspects(("c.md",), ()), id="new"),
        pytest.param({"a.md": NEW, "f/b.md": OLD}, (), Suspects(("a.md",), ()), id="time stamp differs"),
        pytest.param({"a.md": FileStat(0, 10), "f/b.md": OLD}, (), Suspects(("a.md",), ()), id="older time stamp"),
        pytest.param({"a.md": FileStat(1, 11), "f/b.md": OLD}, (), Suspects(("a.md",), ()), id="size differs"),
        pytest.param({"a.md": OLD}, (), Suspects((), ("f/b.md",)), id="missing"),
        pytest.param({"a.md": OLD}, ("f",), Suspects((), ()), id="missing below an unreadable folder"),
        pytest.param({"a.md": OLD}, ("f/b",), Suspects((), ("f/b.md",)), id="the name of the folder only begins alike"),
        pytest.param({}, ("",), Suspects((), ()), id="the root is unreadable"),
        pytest.param({}, (), Suspects((), ("a.md", "f/b.md")), id="all missing"),
    ],
)
def test_a_scan_is_compared_with_the_index(disk, incomplete, expected):
    assert diff(disk, known(a="h1", f__b="h2"), incomplete_folders=incomplete) == expected


@pytest.mark.requirement("RG-10", "RG-17")
@pytest.mark.parametrize(
    ("changed", "missing", "hashes", "expected"),
    [
        pytest.param(("n.md",), (), {"n.md": "x"}, ChangeSet(written=("n.md",)), id="new note"),
        pytest.param(("a.md",), (), {"a.md": "x"}, ChangeSet(written=("a.md",)), id="changed note"),
        pytest.param(("a.md",), (), {"a.md": "h1"}, ChangeSet(touched=("a.md",)), id="only touched"),
        pytest.param((), ("a.md",), {}, ChangeSet(deleted=("a.md",)), id="deleted"),
        pytest.param(("n.md",), ("a.md",), {"n.md": "h1"}, ChangeSet(moved=(Move("a.md", "n.md"),)), id="moved"),
        pytest.param(
            ("n.md",),
            ("a.md",),
            {"n.md": "x"},
            ChangeSet(written=("n.md",), deleted=("a.md",)),
            id="moved and edited is another note",
        ),
        pytest.param(
            ("f/b.md",),
            ("a.md",),
            {"f/b.md": "h1"},
            ChangeSet(written=("f/b.md",), deleted=("a.md",)),
            id="moved over an existing note",
        ),
        pytest.param(("a.md", "n.md"), (), {"n.md": "x"}, ChangeSet(written=("n.md",)), id="unreadable keeps what is"),
    ],
)
def test_content_decides_what_happened(changed, missing, hashes, expected):
    assert settle(Suspects(changed, missing), hashes, known(a="h1", f__b="h2")) == expected


@pytest.mark.parametrize(
    ("gone", "come", "moves", "written", "deleted"),
    [
        pytest.param(["x/1", "x/2"], ["y/2", "y/1"], {"x/1": "y/1", "x/2": "y/2"}, [], [], id="same name first"),
        pytest.param(["a", "z/m"], ["b", "y/m"], {"z/m": "y/m", "a": "b"}, [], [], id="the rest in path order"),
        pytest.param(["a", "b"], ["c"], {"a": "c"}, [], ["b"], id="more gone than come"),
        pytest.param(["a"], ["c", "b"], {"a": "b"}, ["c"], [], id="more come than gone"),
    ],
)
def test_notes_of_equal_content_are_paired_once_and_always_alike(gone, come, moves, written, deleted):
    index = {f"{path}.md": Known("same", OLD) for path in gone}
    new = [f"{path}.md" for path in come]
    for order in (new, list(reversed(new))):
        result = settle(Suspects(tuple(order), tuple(sorted(index))), dict.fromkeys(order, "same"), index)
        assert {move.old[:-3]: move.new[:-3] for move in result.moved} == moves
        assert [path[:-3] for path in result.written] == written
        assert [path[:-3] for path in result.deleted] == deleted


SAME, REPLACED, GONE = RootState.SAME, RootState.REPLACED, RootState.GONE


@pytest.mark.parametrize(
    ("known_count", "missing", "root", "unreadable", "seen_for_s", "words"),
    [
        pytest.param(41, 0, GONE, 3, 0, "", id="nothing is missing"),
        pytest.param(41, 40, SAME, 0, 0, "", id="a large deletion is followed"),
        pytest.param(2, 1, SAME, 0, 0, "", id="half of a small vault"),
        pytest.param(1, 1, SAME, 0, 0, "", id="the only note"),
        pytest.param(41, 41, SAME, 0, 0, "second look", id="all at once waits"),
        pytest.param(41, 41, SAME, 0, CONFIRM_AFTER_S - 1, "second look", id="all at once, looked again too soon"),
        pytest.param(41, 41, SAME, 0, CONFIRM_AFTER_S, "", id="all at once, confirmed"),
        pytest.param(41, 1, GONE, 0, 9999, "cannot be read", id="no root, not even one"),
        pytest.param(41, 41, REPLACED, 0, 9999, "in the vault's place", id="an empty mount point is never confirmed"),
        pytest.param(2, 2, REPLACED, 0, 0, "in the vault's place", id="an empty mount point of a small vault"),
        pytest.param(41, 30, REPLACED, 0, 0, "was replaced", id="replaced and mostly empty waits"),
        pytest.param(41, 30, REPLACED, 0, CONFIRM_AFTER_S, "", id="replaced and mostly empty, confirmed"),
        pytest.param(41, 3, REPLACED, 0, 0, "", id="replaced and nearly complete"),
        pytest.param(41, 30, SAME, 1, 0, "cannot be read", id="most gone while folders are unreadable waits"),
        pytest.param(41, 30, SAME, 1, CONFIRM_AFTER_S, "", id="most gone while folders are unreadable, confirmed"),
        pytest.param(41, 3, SAME, 1, 0, "", id="few gone while a folder is unreadable"),
    ],
)
def test_deletions_wait_only_when_the_vault_itself_seems_to_be_away(
    *, known_count, missing, root, unreadable, seen_for_s, words
):
    reason = mass_disappearance(known_count, missing, root, unreadable_folders=unreadable, seen_for_s=seen_for_s)
    assert words in reason
    assert bool(reason) == bool(words)


@pytest.mark.parametrize(
    ("indexed", "now", "expected"),
    [
        ((1, 2), (1, 2), SAME),
        ((1, 2), (9, 2), REPLACED),
        ((1, 2), None, GONE),
        (None, (1, 2), SAME),
        (None, None, GONE),
    ],
)
def test_the_root_is_known_by_device_and_inode(indexed, now, expected):
    assert root_state(indexed, now) is expected


def created(path, *, folder=False):
    return PathEvent(EventKind.CREATED, path, folder=folder)


def modified(path):
    return PathEvent(EventKind.MODIFIED, path)


def deleted(path, *, folder=False):
    return PathEvent(EventKind.DELETED, path, folder=folder)


def moved(path, dest, *, folder=False):
    return PathEvent(EventKind.MOVED, path, dest, folder=folder)


@pytest.mark.requirement("RG-17")
@pytest.mark.parametrize(
    ("events", "paths", "folders"),
    [
        pytest.param([modified("a.md")] * 5, {"a.md"}, set(), id="many writes to one note"),
        pytest.param(
            [created(".a.md.tmp7"), modified(".a.md.tmp7"), moved(".a.md.tmp7", "a.md")],
            {"a.md"},
            set(),
            id="atomic save",
        ),
        pytest.param([created("a.md")], {"a.md"}, set(), id="atomic save from outside"),
        pytest.param(
            [moved("a.md", "a.md~"), created("a.md"), modified("a.md"), deleted("a.md~")],
            {"a.md"},
            set(),
            id="backup save",
        ),
        pytest.param([moved("a.md", "f/b.md")], {"a.md", "f/b.md"}, set(), id="note moved"),
        pytest.param(
            [moved("f", "g", folder=True), moved("f/a.md", "g/a.md"), moved("f/s", "g/s", folder=True)],
            {"f/a.md", "g/a.md"},
            {"f", "g"},
            id="folder renamed",
        ),
        pytest.param([deleted("f", folder=True)], set(), {"f"}, id="folder moved out"),
        pytest.param([created("f", folder=True), created("f/a.md")], {"f/a.md"}, {"f"}, id="folder moved in"),
        pytest.param([moved("f", ".trash/f", folder=True)], set(), {"f"}, id="folder to the trash"),
        pytest.param([moved("f", "f~", folder=True)], set(), {"f", "f~"}, id="a folder may be called what it likes"),
        pytest.param([moved("a.md", ".trash/a.md")], {"a.md"}, set(), id="note to the trash"),
        pytest.param(
            [
                modified(".obsidian/workspace.json"),
                modified(".git/index"),
                created("f/.x.md"),
                created("b.tmp"),
                created("c.md~"),
            ],
            set(),
            set(),
            id="ignored",
        ),
        pytest.param(
            [created(".trash/n", folder=True), deleted("f/.cache", folder=True)], set(), set(), id="dot folders"
        ),
        pytest.param([modified("picture.png")], set(), set(), id="no note"),
        pytest.param([deleted("", folder=True)], set(), set(), id="the root itself is left to the root check"),
    ],
)
def test_a_burst_of_events_becomes_places_to_look_at(events, paths, folders):
    expected = Batch(frozenset(paths), frozenset(folders))
    assert coalesce(events, lambda path: path.endswith(".md")) == expected
    assert coalesce(list(reversed(events)), lambda path: path.endswith(".md")) == expected


def test_lost_events_ask_for_a_look_at_everything():
    batch = coalesce([modified("a.md"), PathEvent(EventKind.LOST, "")], lambda path: True)
    assert batch == Batch(frozenset({"a.md"}), overflow=True)
    assert batch.covers("anything.md")


def test_only_the_outermost_folders_are_kept():
    assert outermost(["a/b/c", "a/b", "ab", "x/y"]) == {"a/b", "ab", "x/y"}


def test_a_batch_covers_its_paths_and_all_below_its_folders():
    batch = Batch(frozenset({"a.md"}), frozenset({"f"}))
    assert [path for path in ("a.md", "b.md", "f/x.md", "f/g/y.md", "fg/z.md") if batch.covers(path)] == [
        "a.md",
        "f/x.md",
        "f/g/y.md",
    ]
