from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from contextlib import suppress

import pytest

LONG = (
    "The pressure of the boiler falls when the valve of the expansion vessel leaks, and rises again with the heat. " * 2
)
_STYLE = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;;.*?\x1b\\")


@pytest.fixture
def on_terminal(start, monkeypatch):
    """Run a command on a terminal of so many columns; the lines that it prints, without colours and links."""
    monkeypatch.delenv("COLUMNS")

    def on_terminal(columns, *args, env=None):
        try:
            master, slave = pty.openpty()
        except OSError as error:
            pytest.skip(f"this machine gives no terminal: {error}")
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = start(*args, env={"TERM": "xterm", **(env or {})}, stdout=slave)
        os.close(slave)
        parts = []
        with suppress(OSError):  # what Linux says when the other side has closed
            while part := os.read(master, 1 << 16):
                parts.append(part)
        os.close(master)
        assert process.wait() == 0
        return _STYLE.sub("", b"".join(parts).decode()).splitlines()

    return on_terminal


@pytest.fixture
def long_notes(cli, vault):
    """The vault with a note of long lines and many tags."""
    tags = ", ".join(f"heating/part{number}" for number in range(12))
    (vault / "Long.md").write_text(f"---\ntags: [{tags}]\n---\n# Boiler pressure\n\n{LONG}\n", "utf-8")
    assert cli("--vault", vault, "sync", "--words-only").code == 0
    return vault


QUESTION = (
    "boiler pressure valve vessel leaks heat expansion falls rises again draught sleet",
    "--why",
    "--top-k",
    "1",
)


@pytest.mark.parametrize(("columns", "most"), [(60, 60), (80, 80), (160, 100)])
def test_what_a_search_prints_fits_the_terminal(on_terminal, long_notes, columns, most):
    lines = on_terminal(columns, "search", *QUESTION, "--vault", long_notes)
    below_the_query = lines[1:]
    assert most - 25 < max(map(len, below_the_query)) <= most


def test_the_reason_is_wrapped_with_a_hanging_indent(on_terminal, long_notes):
    lines = on_terminal(60, "search", *QUESTION, "--vault", long_notes)
    at = next(number for number, line in enumerate(lines) if line.startswith("   why: "))
    assert len(lines) > at + 1
    assert all(re.match(r" {8}\S", line) for line in lines[at + 1 :])


def test_columns_win_over_the_terminal(on_terminal, long_notes):
    lines = on_terminal(90, "search", *QUESTION, "--vault", long_notes, env={"COLUMNS": "50"})
    assert max(map(len, lines[1:])) <= 50


def test_help_fits_the_terminal(on_terminal):
    assert max(map(len, on_terminal(60, "status", "--help"))) <= 60


def test_nothing_is_wrapped_in_a_pipe(cli, long_notes):
    lines = cli("search", *QUESTION, "--vault", long_notes).out.splitlines()
    assert sum("why: " in line for line in lines) == 1
    assert len(lines[-1]) > 100


def test_paths_carry_no_control_characters_to_a_terminal(on_terminal, cli, vault):
    (vault / "red\x1b]0;title\x07.md").write_text("samovar", "utf-8")
    assert cli("--vault", vault, "sync", "--words-only").code == 0
    lines = on_terminal(80, "search", "samovar", "--paths", "--vault", vault)
    assert len(lines) == 1
    assert lines[0].startswith("red")
    assert "\x1b" not in lines[0]
    assert "\x07" not in lines[0]
    assert "\x1b" in cli("--vault", vault, "search", "samovar", "--paths").out
