from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from second_brain.cli.app import run

SNAPSHOTS = Path(__file__).parents[2] / "snapshots" / "cli"
DAY = 86_400
NOTES = {
    "Home/Radiators.md": (
        3,
        (
            "---\ntags: [home/repairs, howto]\naliases: [Heating]\n---\n# Radiators\n\nWhen the pipes knock, bleed the "
            "radiators first.\n\n## Bleeding\n\nLowest floor first, pump off.\nA quarter turn of the key, a cloth below.\n"
        ),
    ),
    "Home/Boiler.md": (
        20,
        (
            "---\ntags: [home]\nstatus: active\n---\n# Boiler\n\nThe boiler shows a fault when the pressure falls.\n"
            "Top it up as in [[Radiators]], then see [[Nowhere]].\n"
        ),
    ),
    "Cluster/Upgrade.md": (
        40,
        (
            "# Upgrade\n\nKubernetes nodes are drained before an upgrade. #homelab\n\n## Rollback\n\nRestore the snapshot "
            "of etcd, then start the old version.\n"
        ),
    ),
    "Cluster/Draining.md": (100, "# Draining a node\n\nkubectl drain, then wait. #homelab See [[Upgrade#Rollback]].\n"),
    "Inbox.md": (1, "Buy felt for the joists; ask about the boiler.\n"),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home and a working directory of the test's own."""
    folder = tmp_path / "home"
    work = tmp_path / "work"
    for path in (folder, work):
        path.mkdir()
    for variable, part in (("XDG_CONFIG_HOME", "conf"), ("XDG_DATA_HOME", "share"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(variable, str(folder / part))
    monkeypatch.setenv("HOME", str(folder))
    for name in [name for name in os.environ if name.startswith(("SECOND_BRAIN_", "VAULT_"))]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(work)
    return folder


@pytest.fixture
def vault(tmp_path):
    """Five small notes with ages in days."""
    root = tmp_path / "Notes"
    for path, (days, text) in NOTES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        moment = time.time() - days * DAY - 600
        os.utime(file, (moment, moment))
    return root


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        return json.loads(self.err)["error"]


@pytest.fixture
def cli(capsys):
    """Run a command line in this process."""

    def cli(*args):
        capsys.readouterr()
        code = run([str(arg) for arg in args])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Result(code, captured.out, captured.err)

    return cli


@pytest.fixture
def indexed(cli, vault):
    """The vault, indexed by words."""
    assert cli("--vault", vault, "sync", "--words-only").code == 0
    return vault


@pytest.fixture
def cli_db(indexed, home):
    """The database of the indexed vault."""
    (database,) = (home / "share").rglob("*.db")
    return database


@pytest.fixture
def ask(cli, indexed):
    """Run a command on the indexed vault."""
    return lambda *args: cli("--vault", indexed, *args)


@pytest.fixture
def start():
    """Start a command as a process of its own; what still runs at the end is killed."""
    started = []

    def start(*args, env=None, **options):
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        command = [sys.executable, "-m", "second_brain", *map(str, args)]
        process = subprocess.Popen(command, env={**os.environ, **(env or {})}, **settings)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def finished(start):
    """Run a command as a process and wait for it."""

    def finished(*args, **options):
        process = start(*args, **options)
        out, err = process.communicate(timeout=60)
        return Result(process.returncode, out, err)

    return finished


@pytest.fixture
def snapshot(tmp_path):
    """Compare text with a stored one; UPDATE_SNAPSHOTS=1 stores it instead."""

    def snapshot(name, text):
        text = re.sub(r"\d+(\.\d+)? ms", "N ms", text.replace(str(tmp_path), "TMP"))
        text = re.sub(r"-[0-9a-f]{8}\.db", "-HASH.db", re.sub(r"\(\d[\d.]* [kM]B\)", "(SIZE)", text))
        text = re.sub(r"(?<!-)\b(words|meaning|score) \d\.\d+", r"\1 N", re.sub(r"\d+% of", "N% of", text))
        path = SNAPSHOTS / f"{name}.txt"
        if os.environ.get("UPDATE_SNAPSHOTS"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        assert text == path.read_text("utf-8"), f"{path} differs; UPDATE_SNAPSHOTS=1 stores the new text"

    return snapshot
