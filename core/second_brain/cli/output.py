"""Where words go: text or one JSON object to standard output, warnings to standard error.

Colours and links only on a terminal that can show them (``NO_COLOR`` and ``FORCE_COLOR`` decide otherwise).  What an
encoding lacks is replaced, and control characters of notes never reach a terminal.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from second_brain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "mark": "1;33"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ASCII = str.maketrans({"│": "|", "·": "-", "…": "...", "—": "-", "\u2013": "-"})
WIDEST = 100


def prepare_streams() -> None:
    """Make standard output and error take every character, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a replaced stream may lack it


def harmless(text: str) -> str:
    """*text* of the same length without characters that command a terminal."""
    return _CONTROL.sub("\ufffd", text)


class Output:
    """One command's two streams.  Styles are given by name and do nothing where colours are off.

    Messages go through `typable`, which makes the commands that they name such as can be typed.
    """

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty()
        self.typable: Callable[[str], str] = str
        self._signs = {} if _is_utf8(sys.stdout) else _ASCII
        self._colour = _wants_colour(sys.stdout)
        self._links = self._colour and self.terminal and os.environ.get("TERM", "") != "linux"

    @property
    def width(self) -> int:
        """Columns for running text."""
        import shutil  # noqa: PLC0415 - only for text that is wrapped

        return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)

    def style(self, text: str, *names: str) -> str:
        """*text* in these styles."""
        if not self._colour or not text:
            return text
        return f"\033[{';'.join(_CODES[name] for name in names)}m{text}\033[0m"

    def marked(self, text: str, marks: Sequence[tuple[int, int]]) -> str:
        """*text* with the stretches *marks* made visible; a stretch never runs over a line's end."""
        if not self._colour or not marks:
            return text
        parts, last = [], 0
        for start, end in marks:
            lines = text[start:end].split("\n")
            parts += [text[last:start], "\n".join(self.style(line, "mark") for line in lines)]
            last = end
        return "".join([*parts, text[last:]])

    def place(self, path: str, line: int, root: Path | None) -> str:
        """``path:line``, on a terminal linked to the file."""
        label = harmless(f"{path}:{line}" if line else path)
        shown = self.style(label, "cyan")
        if not self._links or root is None:
            return shown
        from urllib.parse import quote  # noqa: PLC0415 - only on a terminal

        target = quote(os.fsencode(root / path))
        return f"\033]8;;file://{target}\033\\{shown}\033]8;;\033\\"

    def line(self, text: str = "") -> None:
        """One line, or several, of text for people."""
        sys.stdout.write(text.translate(self._signs) + "\n")

    def lines(self, texts: Iterable[str]) -> None:
        """Each text on a line of its own."""
        for text in texts:
            self.line(text)

    def json(self, value: Any) -> None:
        """One JSON object, indented by 2."""
        sys.stdout.write(as_json(value, sys.stdout, indent=2) + "\n")

    def event(self, value: Any) -> None:
        """One JSON object on one line, delivered at once."""
        sys.stdout.write(as_json(value, sys.stdout) + "\n")
        sys.stdout.flush()

    def warn(self, text: str) -> None:
        """A sentence to standard error."""
        self.flush()
        sys.stderr.write(f"{_label(sys.stderr, 'warning:', 'yellow')} {harmless(self.typable(text))}\n")

    def note(self, text: str) -> None:
        """Something by the way, to standard error."""
        self.flush()
        sys.stderr.write(harmless(self.typable(text)) + "\n")

    def flush(self) -> None:
        """Deliver what was written, so that both streams keep their order."""
        sys.stdout.flush()


def as_json(value: Any, stream: TextIO, *, indent: int | None = None) -> str:
    """JSON that *stream* can hold: escapes where it is not UTF-8; half characters replaced."""
    text = json.dumps(value, ensure_ascii=not _is_utf8(stream), indent=indent, default=str)
    return _SURROGATE.sub("\ufffd", text)


def say_error(message: str, *, hint: str = "", options: Sequence[str] = ()) -> None:
    """An error as a person reads it, to standard error."""
    with suppress(OSError, Unavailable):  # it may be standard output that the error is about
        sys.stdout.flush()
    sys.stderr.write(f"{_label(sys.stderr, 'error:', 'red')} {harmless(message)}\n")
    if options:
        sys.stderr.write(f"  did you mean: {harmless(', '.join(options))}\n")
    if hint:
        sys.stderr.write(f"  {harmless(hint)}\n")


def _is_utf8(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"


def _label(stream: TextIO, text: str, colour: str) -> str:
    return f"\033[{_CODES[colour]}m{text}\033[0m" if _wants_colour(stream) else text


def _wants_colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM", "") not in {"", "dumb"}
