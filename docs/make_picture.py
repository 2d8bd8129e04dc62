"""Draw docs/answer.svg: what `second-brain search` prints for a question to the demo vault, as a terminal shows it.

    python docs/make_picture.py

The answer is real.  Only how long it took and how old the files are is taken out, because it differs from run to run.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.text import Text

from second_brain.cli.session import demo_vault

QUESTION = "how do I get candle grease out of cloth?"
PICTURE = Path(__file__).with_name("answer.svg")
WIDTH = 100
_FONTS = "'DejaVu Sans Mono', Menlo, Consolas, ui-monospace, monospace"
_LINK = re.compile(r"\x1b\]8;;.*?\x1b\\")


def main() -> int:
    """Draw the picture."""
    PICTURE.write_text(drawn(printed()), "utf-8")
    print(f"{PICTURE}: {PICTURE.stat().st_size} bytes")
    return 0


def printed() -> str:
    """What the command prints, with colours, from an index of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = ["--vault", str(demo_vault()), "--db", str(Path(folder) / "demo.db"), "--embedder", "builtin"]
        _run("sync", *place)
        return _run("search", QUESTION, "--top-k", "2", "--why", *place)


def _run(*arguments: str) -> str:
    """What a command prints into a terminal of its own."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "second_brain", *arguments]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "PYTHONIOENCODING": "utf-8"}
    environment.pop("NO_COLOR", None)
    parts = []
    with subprocess.Popen(command, env=environment, stdout=slave, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own command
        os.close(slave)
        with suppress(OSError):  # what Linux says when the other side has closed
            while part := os.read(master, 1 << 16):
                parts.append(part)
    os.close(master)
    if process.returncode:
        raise SystemExit(f"second-brain {arguments[0]} failed")
    return b"".join(parts).decode("utf-8").replace("\r\n", "\n")


def drawn(output: str) -> str:
    """*output* as a picture that needs nothing from the network."""
    output = re.sub(r", [\d,]+ ms", "", _LINK.sub("", output))
    output = re.sub(r" · (?:just now|[^·\n]* ago|\d{4}-\d\d-\d\d)(?=\x1b|\n)", "", output)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f'$ second-brain search "{QUESTION}" --top-k 2 --why --vault demo\n'))
    console.print(Text.from_ansi(output.rstrip("\n")))
    picture = console.export_svg(title="second-brain", unique_id="answer")
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = re.sub(r"font-family: [^;]*Fira Code[^;]*;", f"font-family: {_FONTS};", picture)
    return re.sub(r"[ \t]+\n", "\n", picture)


if __name__ == "__main__":
    raise SystemExit(main())
