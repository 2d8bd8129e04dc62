"""A small vault, a recorder of batches and waiting without fixed sleeps, for the tests of the watcher."""

from __future__ import annotations

import threading

import pytest

from second_brain.model import FileStat
from second_brain.vault.watcher import Watcher


class SmallVault:
    """Notes are all ``*.md`` outside dot folders."""

    def __init__(self, root):
        self.root = root

    def eligible(self, path):
        return path.endswith(".md") and not path.startswith(".") and "/." not in path

    def stat(self, path):
        try:
            status = (self.root / path).stat()
        except OSError:
            return None
        return FileStat(status.st_mtime_ns, status.st_size)


class Batches:
    """Collects what the watcher delivers."""

    def __init__(self):
        self.all = []
        self.changed = threading.Condition()

    def __call__(self, batch):
        with self.changed:
            self.all.append(batch)
            self.changed.notify_all()

    def wait_for(self, condition, timeout=4.0):
        with self.changed:
            assert self.changed.wait_for(lambda: condition(self), timeout), self.all

    def covers(self, *paths):
        return all(any(batch.covers(path) for batch in self.all) for path in paths)

    @property
    def paths(self):
        return frozenset().union(*(batch.paths for batch in self.all))

    @property
    def folders(self):
        return frozenset().union(*(batch.folders for batch in self.all))

    @property
    def overflows(self):
        return sum(batch.overflow for batch in self.all)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def batches():
    return Batches()


@pytest.fixture
def vault(root):
    return SmallVault(root)


@pytest.fixture
def watch(root, batches):
    """Starts a watcher with short times; stops it in the end."""
    running = []

    def start(vault=None, on_batch=batches, **options):
        watcher = Watcher(vault or SmallVault(root), on_batch, **{"quiet_s": 0.1, **options})
        running.append(watcher)
        watcher.start()
        return watcher

    yield start
    for watcher in running:
        watcher.stop()
