"""Draw docs/answer.svg: what `second-brain search` prints for a question to the demo vault, as a terminal shows it.

    python docs/make_picture.py

The answer is real.  Only its time is taken out, because it differs from run to run.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from second_brain.cli.session import demo_vault

QUESTION = "how do I get candle grease out of cloth?"
PICTURE = Path(__file__).with_name("answer.svg")
WIDTH = 100
_FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_LINK = re.compile(r"\x1b\]8;;.*?\x1b\\")


def main() -> int:
    PICTURE.write_text(drawn(printed()), "utf-8")
    print(f"{PICTURE}: {PICTURE.stat().st_size} bytes")
    return 0


def printed() -> str:
    """What the command prints, with colours, from an index of its own."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "demo"  # with the same age for every note
        shutil.copytree(demo_vault(), vault)
        for note in vault.rglob("*.md"):
            os.utime(note, (note.stat().st_atime, 1_790_000_000))
        place = ["--vault", str(vault), "--db", str(Path(folder) / "demo.db"), "--embedder", "builtin"]
        _run("sync", *place)
        return _run("search", QUESTION, "--top-k", "2", "--why", *place)


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "second_brain", *arguments]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, env=environment, check=True, capture_output=True, encoding="utf-8").stdout


def drawn(output: str) -> str:
    """*output* as a picture that needs nothing from the network."""
    output = re.sub(r", [\d,]+ ms", "", _LINK.sub("", output))
    output = re.sub(r" · [^·\n]* ago", "", output)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f'$ second-brain search "{QUESTION}" --top-k 2 --why --vault demo\n'))
    console.print(Text.from_ansi(output.rstrip("\n")))
    picture = console.export_svg(title="second-brain", unique_id="answer")
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = re.sub(r"font-family: [^;]*Fira Code[^;]*;", f"font-family: {_FONTS};", picture)
    return re.sub(r"[ \t]+\n", "\n", picture)


if __name__ == "__main__":
    raise SystemExit(main())
