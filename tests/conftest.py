"""Fixtures that every test may use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # plain modules beside the tests, such as fake_ollama

from fake_ollama import FakeOllama


@pytest.fixture
def fake_ollama():
    """A running stand-in for Ollama on loopback; its module tells what it can do."""
    with FakeOllama() as server:
        yield server
