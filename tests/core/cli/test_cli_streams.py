from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

COMMANDS = [
    ["--help"],
    ["--version"],
    ["folders"],
    ["folders", "--json"],
    ["completion", "bash"],
    ["sync", "--words-only"],
]
SLOW = {
    "loading": "import time\nprint('loading', flush=True)\ntime.sleep(30)\n",
    "made an ImportError": """
        import time
        try:
            print('loading', flush=True)
            time.sleep(30)
        except KeyboardInterrupt:
            raise ImportError('half of it') from None
        """,
    "in a finalizer": """
        import time
        class Slow:
            def __del__(self):
                print('loading', flush=True)
                time.sleep(30)
        Slow()
        """,
}


def shell(redirection, *args):
    """Run a command in a shell that closes or redirects its streams."""
    command = [sys.executable, "-m", "second_brain", *map(str, args)]
    script = f'exec "$@" {redirection}'
    return subprocess.run(["bash", "-c", script, "bash", *command], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.requirement("RG-16")
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("redirection", "reason"), [(">&-", "it is closed"), (">/dev/full", "No space left")])
def test_output_that_goes_nowhere_is_one_sentence(indexed, args, redirection, reason):
    done = shell(redirection, "--vault", indexed, *args)
    assert done.returncode == 1
    assert f"Standard output cannot be written: {reason}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "fault of the program" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize(("args", "code"), [(["folders"], 0), (["nope"], 2), (["read", "nothing"], 1)])
def test_messages_that_go_nowhere_change_neither_output_nor_exit_code(indexed, redirection, args, code):
    done = shell(redirection, "--vault", indexed, *args)
    assert done.returncode == code
    assert ("Home" in done.stdout) is (code == 0)


@pytest.mark.slow
def test_all_streams_closed_harms_nothing(indexed):
    before = {path: path.read_bytes() for path in indexed.rglob("*.md")}
    assert shell("<&- >&- 2>&-", "--vault", indexed, "sync", "--mode", "full", "--words-only").returncode == 1
    assert shell("", "--vault", indexed, "search", "boiler", "--ranking", "words", "--paths").stdout != ""
    assert {path: path.read_bytes() for path in indexed.rglob("*.md")} == before


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("how", SLOW)
def test_a_signal_while_modules_load_is_one_line(start, tmp_path, how, number):
    slow = tmp_path / "modules"
    slow.mkdir()
    (slow / "click.py").write_text(textwrap.dedent(SLOW[how]), "utf-8")
    path = os.pathsep.join([str(slow), os.environ.get("PYTHONPATH", "")])
    process = start("--help", env={"PYTHONPATH": path})
    assert process.stdout.readline() == "loading\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "interrupted\n")
