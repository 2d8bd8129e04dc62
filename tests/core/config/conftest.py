from __future__ import annotations

import hashlib
import os

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of the test's own: no configuration of the person who runs it is read or written."""
    folder = tmp_path / "home"
    for variable, part in (("XDG_CONFIG_HOME", "conf"), ("XDG_DATA_HOME", "share"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(variable, str(folder / part))
    monkeypatch.setenv("HOME", str(folder))
    for variable in [name for name in os.environ if name.startswith(("SECOND_BRAIN_", "VAULT_"))]:
        monkeypatch.delenv(variable)
    folder.mkdir()
    return folder


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "Notes"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / "Areas").mkdir()
    (folder / "Areas" / "tea.md").write_text("# Tea\n", "utf-8")
    return folder


@pytest.fixture
def write(tmp_path):
    """Write a configuration file and return its path."""

    def write(text, name="settings.toml"):
        path = tmp_path / "conf" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def fingerprint():
    """Of all names and contents below a folder."""

    def fingerprint(folder):
        digest = hashlib.sha256()
        for path in sorted(folder.rglob("*")):
            digest.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
        return digest.hexdigest()

    return fingerprint
