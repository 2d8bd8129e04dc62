"""What stands beside our figures: the plain FTS5 floor, grep, and the stand-in for Ollama, all of ``../shared/bench``."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from measure import Cost, Running, Skipped, finish

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARED = Path(__file__).resolve().parents[2] / "shared"
FLOOR = SHARED / "bench" / "floor.py"
OLLAMA_MODEL = "wordllama-256"


def floor(action: str, vault: Path, db: Path, *query: str, peak: bool = False) -> Cost:
    """One run of the floor as a process of its own: index or query."""
    return finish([sys.executable, str(FLOOR), action, str(vault), str(db), *query], peak=peak)


class FloorServer:
    """The floor as a warm process."""

    def __init__(self, vault: Path, db: Path) -> None:
        floor("index", vault, db)
        self._command = [sys.executable, str(FLOOR), "serve", str(vault), str(db)]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._read()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=10)

    def ask(self, query: str, filters: Mapping[str, Any] | None = None) -> float:
        """Milliseconds from the question to the paths."""
        if self._process.stdin is None:
            raise Skipped("The floor has no input.")
        started = time.perf_counter()
        self._process.stdin.write(json.dumps({"q": query, "k": 10, "filters": dict(filters or {})}) + "\n")
        self._process.stdin.flush()
        self._read()
        return 1000 * (time.perf_counter() - started)

    def _read(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise Skipped("The floor ended.")
        return line


def grep_name() -> str:
    """What scans files here."""
    return "rg -l" if shutil.which("rg") else "grep -rl"


def grep(vault: Path, query: str, *, fixed: bool = False) -> float:
    """Milliseconds that a scan of all notes takes for any of the words of *query*, or for all of it as it is."""
    pattern = query if fixed else "|".join(re.escape(word) for word in query.split())
    if shutil.which("rg"):
        command = ["rg", "-l", "-i", "--no-ignore", "-g", "*.md", *(["-F"] if fixed else []), "-e", pattern, str(vault)]
    else:
        command = ["grep", "-rli" + ("F" if fixed else "E"), "--include=*.md", "-e", pattern, str(vault)]
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return 1000 * (time.perf_counter() - started)


class FakeOllama:
    """The stand-in for Ollama with real vectors, installed into *work* on first use and running inside ``with``."""

    def __init__(self, work: Path) -> None:
        self._folder = work / "ollama"
        self._python = self._folder / "emb" / "v" / "bin" / "python"
        self.url = ""

    def __enter__(self) -> Self:
        if not (self._folder / ".done").is_file():
            self._folder.mkdir(parents=True, exist_ok=True)
            finish(["bash", str(SHARED / "bench" / "install_fake_ollama.sh"), str(self._folder)])
            (self._folder / ".done").touch()
        script = SHARED / "bench" / "fake_ollama.py"
        self._process = Running([str(self._python), str(script)], self._folder / "server.log").__enter__()
        self._process.wait_for("port", 30)
        self.url = f"http://127.0.0.1:{json.loads(self._process.log.read_text('utf-8').splitlines()[0])['port']}"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.__exit__(None, None, None)

    def settings(self) -> dict[str, str]:
        """The options that make the program embed with it."""
        return {"embedder": "ollama", "ollama_url": self.url, "embedding_model": OLLAMA_MODEL}
