"""Fixtures that every test may use, and the record of which test verifies which requirement."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # plain modules beside the tests, such as fake_ollama

from fake_ollama import FakeOllama


@pytest.fixture
def fake_ollama():
    """A running stand-in for Ollama on loopback; its module tells what it can do."""
    with FakeOllama() as server:
        yield server


@pytest.fixture
def eventually():
    """Waits until a condition holds, without a fixed sleep."""

    def wait(condition, timeout=4.0):
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    return wait


@pytest.fixture(autouse=True)
def no_user_folders(monkeypatch, tmp_path_factory):
    """No test sees or touches the configuration and data of whoever runs it."""
    home = tmp_path_factory.getbasetemp() / "home"
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    for name in [name for name in os.environ if name.startswith(("SECOND_BRAIN_", "OLLAMA_"))]:
        monkeypatch.delenv(name)


def pytest_collection_finish(session):
    """With SECOND_BRAIN_REQUIREMENTS=FILE write which collected tests carry which requirement ids."""
    target = os.environ.get("SECOND_BRAIN_REQUIREMENTS")
    if not target or hasattr(session.config, "workerinput"):
        return
    found = defaultdict(set)
    for item in session.items:
        for mark in item.iter_markers("requirement"):
            for requirement in mark.args:
                found[requirement].add(item.nodeid.split("[")[0])
    Path(target).write_text(json.dumps({key: sorted(tests) for key, tests in sorted(found.items())}), encoding="utf-8")
