from __future__ import annotations

import errno
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from second_brain.errors import EmbedderUnavailable
from second_brain.vault import watcher as watcher_module
from second_brain.vault.ignore import IgnoreRules
from second_brain.vault.vault import Vault

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify exists on Linux only")


@pytest.mark.requirement("RG-17")
def test_an_atomic_save_is_a_change_of_the_note(root, batches, watch):
    (root / "n.md").write_text("astrolabe")
    watch()
    (root / ".n.md.tmp1").write_text("sextant")
    (root / ".n.md.tmp1").rename(root / "n.md")
    batches.wait_for(lambda b: b.covers("n.md"))
    assert batches.paths == {"n.md"}


def test_an_atomic_save_from_outside_is_a_change_of_the_note(root, tmp_path, batches, watch):
    (root / "n.md").write_text("astrolabe")
    watch()
    (tmp_path / "n.draft").write_text("sextant")
    (tmp_path / "n.draft").rename(root / "n.md")
    batches.wait_for(lambda b: b.covers("n.md"))


def test_a_backup_save_is_a_change_of_the_note(root, batches, watch):
    (root / "n.md").write_text("astrolabe")
    watch()
    (root / "n.md").rename(root / "n.md~")
    (root / "n.md").write_text("sextant")
    (root / "n.md~").unlink()
    batches.wait_for(lambda b: b.covers("n.md"))
    assert batches.paths == {"n.md"}


def test_a_renamed_folder_is_looked_at_under_both_names_and_still_followed(root, batches, watch):
    (root / "old").mkdir()
    for number in range(50):
        (root / "old" / f"n{number}.md").write_text("peat")
    watch()
    (root / "old").rename(root / "new")
    batches.wait_for(lambda b: b.covers("old/n0.md", "new/n0.md", "old/n49.md", "new/n49.md"))
    assert batches.folders == {"old", "new"}
    assert len(batches.all) <= 2
    batches.all.clear()
    (root / "new" / "n7.md").write_text("slane")
    batches.wait_for(lambda b: b.covers("new/n7.md"))


def test_a_folder_moved_out_is_looked_at_by_its_name(root, tmp_path, batches, watch):
    (root / "f" / "g").mkdir(parents=True)
    (root / "f" / "g" / "n.md").write_text("peat")
    watch()
    (root / "f").rename(tmp_path / "elsewhere")
    batches.wait_for(lambda b: b.covers("f/g/n.md"))
    assert batches.folders == {"f"}


def test_a_folder_moved_in_is_looked_at_and_followed(root, tmp_path, batches, watch):
    (tmp_path / "f" / "g").mkdir(parents=True)
    (tmp_path / "f" / "g" / "n.md").write_text("peat")
    watcher = watch()
    (tmp_path / "f").rename(root / "f")
    batches.wait_for(lambda b: b.covers("f/g/n.md"))
    assert watcher.status().total_folders == 3
    batches.all.clear()
    (root / "f" / "g" / "n.md").write_text("slane")
    batches.wait_for(lambda b: b.covers("f/g/n.md"))


def test_ignored_files_cause_nothing(root, batches, watch):
    for folder in (".obsidian", ".trash", ".git"):
        (root / folder).mkdir()
    watcher = watch()
    for name in (".obsidian/workspace.json", ".trash/n.md", ".git/index", ".n.md", "n.tmp", "n.md~", "picture.png"):
        (root / name).write_text("x")
    (root / "seen.md").write_text("x")
    batches.wait_for(lambda b: b.covers("seen.md"))
    assert batches.paths == {"seen.md"}
    assert not batches.folders
    assert watcher.status().total_folders == 1


def test_reading_a_note_causes_nothing(root, batches, watch):
    (root / "read.md").write_text("x")
    watch()
    (root / "read.md").read_text()
    (root / "written.md").write_text("x")
    batches.wait_for(lambda b: b.covers("written.md"))
    assert batches.paths == {"written.md"}


@pytest.mark.parametrize("name", ["Grüße 🌱.md", "a b/c #d.md", "percent%20.md"])
def test_paths_are_told_as_they_are_on_disk(root, batches, watch, name):
    (root / name).parent.mkdir(exist_ok=True)
    watch()
    (root / name).write_text("x")
    batches.wait_for(lambda b: name in b.paths)


def test_a_vault_behind_a_link_is_followed(root, tmp_path, vault, batches, watch):
    vault.root = tmp_path / "link"
    vault.root.symlink_to(root)
    watch(vault)
    (root / "n.md").write_text("x")
    batches.wait_for(lambda b: b.covers("n.md"))


def test_the_real_vault_can_be_followed(root, batches, watch):
    watch(Vault(root, IgnoreRules(exclude_globs=["Templates/**"])))
    (root / "Templates").mkdir()
    (root / "Templates" / "t.md").write_text("x")
    (root / "n.md").write_text("x")
    batches.wait_for(lambda b: b.covers("n.md"))
    (root / "n.md").unlink()
    batches.wait_for(lambda b: sum("n.md" in batch.paths for batch in b.all) >= 2)
    assert batches.paths == {"n.md"}


def test_another_folder_in_the_place_of_the_root_is_followed_and_reconciled(root, tmp_path, batches, watch):
    watch(root_check_s=0.1)
    root.rename(tmp_path / "away")
    root.mkdir()
    batches.wait_for(lambda b: b.overflows)
    batches.all.clear()
    (root / "n.md").write_text("x")
    batches.wait_for(lambda b: b.covers("n.md"))


@linux
def test_a_missing_root_is_said_and_waited_for(root, batches, watch, eventually):
    watcher = watch(root_check_s=0.1)
    root.rmdir()
    eventually(lambda: watcher.status().mode == "degraded")
    assert str(root) in watcher.status().message
    root.mkdir()
    eventually(lambda: watcher.status().mode == "inotify")
    assert watcher.status().message == ""
    batches.wait_for(lambda b: b.overflows)
    (root / "n.md").write_text("x")
    batches.wait_for(lambda b: "n.md" in b.paths)


def test_a_vault_that_is_not_there_at_the_start_is_waited_for(root, batches, watch):
    root.rmdir()
    assert watch(root_check_s=0.1).status().mode == "degraded"
    root.mkdir()
    batches.wait_for(lambda b: b.overflows)


@linux
def test_an_overflow_in_the_log_of_watchdog_reconciles_everything(batches, watch):
    watcher = watch()
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    batches.wait_for(lambda b: b.overflows == 1)
    status = watcher.status()
    assert status.overflows == 1
    assert status.last_reconcile == pytest.approx(time.time(), abs=60)


@linux
def test_a_real_overflow_of_the_event_queue_is_made_good(root, batches, watch):
    for name in ("a.md", "b.md"):
        (root / name).write_text("x")
    watcher = watch()
    reader = watcher._source._observation._observer._inotify_fd
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 50_000:
        pytest.skip(f"the event queue holds {limit} events here; filling it takes too long for a test")
    with reader._lock:  # watchdog cannot read meanwhile
        for number in range(limit + 2_000):
            os.utime(root / ("a.md" if number % 2 else "b.md"))
    batches.wait_for(lambda b: b.overflows)
    assert watcher.status().overflows >= 1
    time.sleep(0.3)
    batches.all.clear()
    (root / "after.md").write_text("x")
    batches.wait_for(lambda b: b.covers("after.md"))


def _in_own_limits(setting, value, script, *arguments):
    """Run *script* in a user namespace of its own where *setting* is lowered; skips where that is not permitted.

    Only settings below ``user/`` belong to the namespace; any other one would change the whole machine.
    """
    assert setting.startswith("user/")
    unshare = shutil.which("unshare")
    permitted = unshare and subprocess.run([unshare, "-Ur", "true"], capture_output=True, check=False).returncode == 0
    if not permitted:
        pytest.skip("user namespaces are not permitted here, so the limit cannot be lowered for a test")
    command = f'echo {value} > /proc/sys/{setting} && exec "$0" -W error -c "$@"'
    return subprocess.run(
        [unshare, "-Ur", "sh", "-c", command, sys.executable, script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


_FOLLOW_MORE_FOLDERS_THAN_WATCHES = """
import sys, pathlib
sys.path.insert(0, sys.argv[2])
from conftest import Batches, SmallVault
from second_brain.vault.watcher import Watcher
root, batches = pathlib.Path(sys.argv[1]), Batches()
watcher = Watcher(SmallVault(root), batches, quiet_s=0.1, poll_s=0.1)
watcher.start()
status = watcher.status()
assert (status.mode, status.total_folders) == ("degraded", 101), status
assert 0 < status.watched_folders <= 60, status
assert len(status.unwatched) == 101 - status.watched_folders, status
assert f"{len(status.unwatched)} of 101 folders" in status.message, status
for number in range(100):
    (root / f"f{number}" / "n.md").write_text("x")
batches.wait_for(lambda b: b.covers(*(f"f{number}/n.md" for number in range(100))))
(root / status.unwatched[0] / "deep").mkdir()
(root / status.unwatched[0] / "deep" / "n.md").write_text("x")
batches.wait_for(lambda b: b.covers(f"{status.unwatched[0]}/deep/n.md"))
batches.all.clear()
(root / status.unwatched[0] / "deep" / "n.md").write_text("changed")
batches.wait_for(lambda b: b.covers(f"{status.unwatched[0]}/deep/n.md"))
watcher.stop()
print("followed")
"""


@linux
def test_folders_beyond_the_watch_limit_are_polled_and_it_is_said(root, request):
    for number in range(100):
        (root / f"f{number}").mkdir()
    result = _in_own_limits(
        "user/max_inotify_watches", 60, _FOLLOW_MORE_FOLDERS_THAN_WATCHES, root, request.path.parent
    )
    assert result.stdout == "followed\n", result.stderr


_FOLLOW_WITHOUT_INOTIFY = """
import sys, pathlib
sys.path.insert(0, sys.argv[2])
from conftest import Batches, SmallVault
from second_brain.vault.watcher import Watcher
root, batches = pathlib.Path(sys.argv[1]), Batches()
watcher = Watcher(SmallVault(root), batches, quiet_s=0.1, poll_s=0.1)
watcher.start()
assert watcher.status().mode == "polling", watcher.status()
(root / "n.md").write_text("x")
batches.wait_for(lambda b: b.covers("n.md"))
print("followed")  # and ends without stop
"""


@linux
@pytest.mark.parametrize("setting", ["user/max_inotify_instances", "user/max_inotify_watches"])
def test_without_any_inotify_instance_or_watch_the_vault_is_polled(root, request, setting):
    result = _in_own_limits(setting, 0, _FOLLOW_WITHOUT_INOTIFY, root, request.path.parent)
    assert (result.stdout, result.stderr) == ("followed\n", "")


@pytest.fixture
def no_instances(monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    monkeypatch.setattr(watcher_module, "_observe", refuse)
    return monkeypatch


def test_polling_finds_new_changed_deleted_and_moved_notes(root, batches, watch, eventually, no_instances):
    (root / "f").mkdir()
    for name in ("changed.md", "deleted.md", "f/moved.md"):
        (root / name).write_text("x")
    watcher = watch(poll_s=0.05)
    status = watcher.status()
    assert (status.mode, status.watched_folders, status.total_folders) == ("polling", 0, 2)
    assert "inotify instance limit reached" in status.message
    (root / "changed.md").write_text("xy")
    (root / "deleted.md").unlink()
    (root / "f" / "moved.md").rename(root / "moved.md")
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "n.md").write_text("x")
    batches.wait_for(
        lambda b: b.covers("changed.md", "deleted.md", "f/moved.md", "moved.md", "new/deep/n.md"),
    )
    eventually(lambda: watcher.status().total_folders == 4)
    shutil.rmtree(root / "new")
    batches.wait_for(lambda b: "new" in b.folders)


def test_polling_ends_when_the_system_watches_again(batches, watch, eventually, no_instances):
    watcher = watch(reconcile_s=0.3)
    assert watcher.status().mode == "polling"
    no_instances.undo()
    watcher._source._observe = lambda root: watcher_module._observe(root, watcher._put, lambda path: True)
    eventually(lambda: watcher.status().mode != "polling")


@pytest.mark.requirement("RG-17")
def test_the_last_edit_is_delivered_without_a_further_event(root, batches, watch):
    watcher = watch()
    (root / "n.md").write_text("first")
    batches.wait_for(lambda b: b.covers("n.md"))
    batches.all.clear()
    (root / "n.md").write_text("last")
    batches.wait_for(lambda b: b.covers("n.md"))
    assert watcher.status().last_event == pytest.approx(time.time(), abs=60)


@pytest.mark.requirement("RG-17")
def test_a_failure_of_the_receiver_is_survived_said_and_made_good(root, batches, watch, eventually, caplog):
    failures = [
        EmbedderUnavailable("Ollama does not answer", hint="Start it."),
        KeyError("k"),
        ValueError("first line\nsecret second line"),
    ]

    def receive(batch):
        if failures:
            raise failures.pop(0)
        batches(batch)

    watcher = watch(on_batch=receive, retry_s=0.05)
    (root / "n.md").write_text("x")
    eventually(lambda: "EmbedderUnavailable: Ollama does not answer" in watcher.status().message)
    batches.wait_for(lambda b: b.covers("n.md"))
    eventually(lambda: watcher.status().message == "")
    assert "EmbedderUnavailable: Ollama does not answer" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.requirement("RG-17")
def test_a_burst_is_coalesced_into_few_batches(root, batches, watch):
    watch()
    for number in range(200):
        (root / f"n{number % 40}.md").write_text(str(number))
    batches.wait_for(lambda b: b.covers(*(f"n{number}.md" for number in range(40))))
    assert len(batches.all) <= 3


def test_events_that_keep_coming_do_not_keep_a_batch_back(root, batches, watch, eventually):
    watch(quiet_s=0.3, max_wait_s=0.6)
    (root / "first.md").write_text("x")

    def keep_writing():
        with (root / "busy.md").open("a") as note:
            note.write("x")
        return batches.all

    eventually(keep_writing)
    assert batches.covers("first.md", "busy.md")


def test_everything_is_reconciled_now_and_then(batches, watch):
    watch(reconcile_s=0.2)
    batches.wait_for(lambda b: b.overflows >= 2)


def test_a_reconcile_can_be_asked_for(batches, watch):
    watcher = watch()
    watcher.request_reconcile()
    batches.wait_for(lambda b: b.overflows == 1)
    watcher.request_reconcile(after_s=0.1)
    batches.wait_for(lambda b: b.overflows == 2)


def test_everything_is_reconciled_after_sleep(root, batches, watch):
    slept = [0.0]
    watch(wall_clock=lambda: time.time() + slept[0])
    slept[0] = 3600.0
    (root / "n.md").write_text("x")
    batches.wait_for(lambda b: b.overflows == 1 and b.covers("n.md"))


@linux
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_of_watchdog_that_died_is_replaced(root, tmp_path, batches, watch):
    """watchdog 7.1 ends with a KeyError when a folder goes that was moved out and whose name was used again."""

    def looked_at(folder, act):
        batches.all.clear()
        act()
        batches.wait_for(lambda b: folder in b.folders)

    (root / "a").mkdir()
    watch(root_check_s=0.2)
    looked_at("a", lambda: (root / "a").rename(tmp_path / "out"))
    looked_at("a", (root / "a").mkdir)
    looked_at("b", lambda: (root / "a").rename(root / "b"))
    (tmp_path / "out").rmdir()
    batches.wait_for(lambda b: b.overflows)
    batches.all.clear()
    (root / "b" / "n.md").write_text("x")
    batches.wait_for(lambda b: b.covers("b/n.md"))


def test_start_and_stop_can_be_repeated_and_leave_no_thread_or_descriptor(root, batches, watch):
    def descriptors():
        return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0

    threads, before = threading.active_count(), descriptors()
    watcher = watch()
    for _ in range(2):
        watcher.start()
        watcher.start()
        assert watcher.status().mode != "stopped"
        watcher.stop()
        watcher.stop()
        assert watcher.status().mode == "stopped"
    assert (threading.active_count(), descriptors()) == (threads, before)
    watcher.start()
    (root / "n.md").write_text("x")
    batches.wait_for(lambda b: b.covers("n.md"))


def test_the_receiver_may_stop_the_watcher(root, watch, eventually):
    stopped = []
    watcher = watch(on_batch=lambda batch: stopped.append(watcher.stop()))
    (root / "n.md").write_text("x")
    eventually(lambda: stopped and watcher.status().mode == "stopped")
    eventually(lambda: not any(thread.name == "vault-watcher" for thread in threading.enumerate()))
    assert stopped == [None]  # `stop` came back, and was called for one batch only


@pytest.mark.requirement("RG-17")
@pytest.mark.parametrize("polled", [False, True])
def test_a_change_of_the_ignore_file_asks_for_a_look_at_everything(root, batches, watch, request, polled):
    if polled:
        request.getfixturevalue("no_instances")
    watcher = watch(poll_s=0.05)
    assert (watcher.status().mode == "polling") is polled
    steps = (
        lambda: (root / ".secondbrainignore").write_text("Private/\n"),
        lambda: (root / ".secondbrainignore").write_text("Other/\nMore/\n"),
        lambda: (root / "draft").write_text("Third/ by another way\n"),
        lambda: (root / "draft").rename(root / ".secondbrainignore"),
        (root / ".secondbrainignore").unlink,
    )
    for number, step in enumerate(steps):
        batches.all.clear()
        step()
        if number != 2:
            batches.wait_for(lambda b: b.overflows)


def test_an_ignore_file_below_the_root_concerns_nobody(root, batches, watch):
    (root / "sub").mkdir()
    watch()
    (root / "sub/.secondbrainignore").write_text("x")
    (root / "n.md").write_text("x")
    batches.wait_for(lambda b: b.covers("n.md"))
    assert batches.overflows == 0


def test_other_rules_hold_from_the_moment_that_they_are_set(root, batches, watch, vault):
    watcher = watch(vault)
    ruled = type(vault)(root)
    ruled.eligible = lambda path: path.endswith(".txt")
    watcher.vault = ruled
    (root / "n.md").write_text("x")
    (root / "n.txt").write_text("x")
    batches.wait_for(lambda b: b.covers("n.txt"))
    assert "n.md" not in batches.paths
