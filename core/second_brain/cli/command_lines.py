"""The command lines that messages name, as they can be typed in this place: pure but for `program`."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "second-brain"
_OF_AN_INDEX = "sync|watch|status|health|doctor|search|query|read|links|mentions|tags|folders"
"""These commands mean another vault or index when the global options of the run that names them are left out."""
_OTHERS = "try|init|config|vaults|completion|--help"
_COMMAND = re.compile(rf"(?<![\w/.~-]){NAME} (?:(?P<command>{_OF_AN_INDEX})(?![\w-])|(?=(?:{_OTHERS})(?![\w-])))")


def program() -> str:
    """How this program is called from the working directory: its bare name where PATH has it, else its path, quoted."""
    started = sys.argv[0]
    if Path(started).stem != NAME:
        return NAME  # a module of Python, or a part of another program
    from shutil import which  # noqa: PLC0415 - only for a message

    found = which(NAME)
    if found is not None and _same(found, started):
        return NAME
    path, here = os.path.abspath(started), os.path.join(os.getcwd(), "")  # noqa: PTH100, PTH109, PTH118 - links as typed
    if path.startswith(here):
        path = path.removeprefix(here)
        path = path if os.sep in path else os.path.join(os.curdir, path)  # noqa: PTH118 - a bare name is looked up in PATH
    return shlex.quote(path)


def typable(text: str, options: Sequence[str] = (), *, called: str | None = None) -> str:
    """*text* with each command of ours called as it can be typed here, those of an index with the global *options*.

    *called* is how the program is called, `program` unless given.
    """
    if NAME not in text:
        return text
    name = program() if called is None else called
    given = "".join(f" {shlex.quote(option)}" for option in options)

    def typed(match: re.Match[str]) -> str:
        command = match["command"]
        return f"{name} {command}{given}" if command else f"{name} "

    return _COMMAND.sub(typed, text)


def with_options(text: str, options: Mapping[str, str], parameter: str | None) -> str:
    """*text* of an error about *parameter* that names *options* (argument -> option) as they are typed.

    A name that is a plain word as well is an argument only where the errors of searches have one: in front of a colon, in
    a list behind "one of", and in "leave … out".
    """
    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    if not names:
        return text

    def written(match: re.Match[str]) -> str:
        return re.sub(rf"\b(?:{names})\b", lambda name: options[name[0]], match[0])

    if parameter is not None and parameter in options:
        text = re.sub(rf"^{re.escape(parameter)}(?=:)|(?<=leave ){re.escape(parameter)}(?= out)", written, text)
    text = re.sub(r"(?<=one of )\w+(?:, \w+)+", written, text)
    return re.sub(rf"\b(?=\w*_)(?:{names})\b", written, text)


def _same(first: str, second: str) -> bool:
    try:
        return Path(first).samefile(second)
    except OSError:
        return False
