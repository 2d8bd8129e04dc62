from __future__ import annotations

import json
import signal
import threading
import time

import pytest

pytestmark = pytest.mark.slow


def lines_of(process):
    """The lines that a process prints, as they come."""
    lines = []

    def read():
        lines.extend(line.rstrip("\n") for line in process.stdout)

    threading.Thread(target=read, daemon=True).start()
    return lines


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_watching_with_0(start, vault, number):
    process = start("--vault", vault, "watch", "--words-only")
    lines = lines_of(process)
    wait_for(lambda: any("5 read" in line for line in lines))
    process.send_signal(number)
    assert process.wait(timeout=20) == 0
    wait_for(lambda: lines[-1].endswith("stopped"))
    assert "watching" in lines[0]
    assert process.stderr.read() == ""


def test_every_change_is_one_json_object_on_a_line(start, vault):
    process = start("--vault", vault, "watch", "--words-only", "--json")
    lines = lines_of(process)
    wait_for(lambda: len(lines) == 2)
    time.sleep(0.5)
    (vault / "New.md").write_text("# New\n\nA new note.\n", "utf-8")
    wait_for(lambda: len(lines) == 3)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0
    wait_for(lambda: len(lines) == 4)
    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events] == ["started", "changed", "changed", "stopped"]
    assert events[2]["paths"] == ["New.md"]


def test_only_one_process_keeps_an_index(start, finished, vault):
    first = start("--vault", vault, "watch", "--words-only")
    lines = lines_of(first)
    wait_for(lambda: len(lines) >= 2)
    for command in (("watch", "--words-only"), ("sync", "--words-only")):
        second = finished("--vault", vault, "--json", *command)
        assert second.code == 1
        assert json.loads(second.err)["error"]["code"] == "unavailable"
    assert finished("--vault", vault, "search", "boiler", "--ranking", "words", "--paths").out.startswith(
        "Home/Boiler.md"
    )
    status = finished("--vault", vault, "status", "--json").json
    assert status["worker"]["pid"] == first.pid


def test_a_missing_vault_is_an_error_and_not_a_wait(finished, tmp_path):
    result = finished("--vault", tmp_path / "none", "watch")
    assert (result.code, result.out) == (1, "")
    assert "Traceback" not in result.err
