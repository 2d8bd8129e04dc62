"""Every failure that a caller may handle.

One root class carries what a person or an agent needs: a stable code, a sentence that names the thing, the way out.
Foreign exceptions never cross a package: the module that meets one turns it into one of these.
"""

from __future__ import annotations

import re
from typing import Any

_USER = re.compile(r"(?<=://)[^\s/?#]*@")


def without_password(text: str) -> str:
    """*text* with ``***`` for the user and password of each URL in it."""
    return _USER.sub("***@", text) if "@" in text else text


class SecondBrainError(Exception):
    """A failure told in words; `code` is stable, `hint` is the way out, `options` are valid values (at most ten).

    Whatever the words come from, no password of a URL stays in them: they are printed and logged.
    """

    code = "internal"

    def __init__(
        self, message: str, *, hint: str = "", parameter: str | None = None, options: tuple[str, ...] = ()
    ) -> None:
        self.message = without_password(message)
        self.hint = without_password(hint)
        super().__init__(self.message)
        self.parameter = parameter
        self.options = options[:10]

    @property
    def sentences(self) -> str:
        """Message and hint as one text, each with a full stop."""
        parts = (part.strip() for part in (self.message, self.hint))
        return " ".join(part if part[-1] in ".?!…" else f"{part}." for part in parts if part)

    def as_json(self) -> dict[str, Any]:
        """The one error form of every face: ``{"error": {"code", "parameter", "message", "hint", "options"}}``."""
        return {
            "error": {
                "code": self.code,
                "parameter": self.parameter,
                "message": self.message,
                "hint": self.hint,
                "options": list(self.options),
            }
        }


class InvalidParameter(SecondBrainError):
    """An argument, option or filter is not acceptable; `parameter` names it."""

    code = "invalid_parameter"


class ConfigError(InvalidParameter):
    """The configuration cannot be used; `parameter` names the key."""


class UnusableValue(ConfigError):
    """An option names what can never be used: nothing at all, a folder where a file is meant, a pipe."""


class NotFound(SecondBrainError):
    """Nothing of that name exists (inside the scope)."""

    code = "not_found"


class Ambiguous(SecondBrainError):
    """The name fits several notes or sections; `options` lists them."""

    code = "ambiguous"


class OutOfDate(SecondBrainError):
    """The database is older or newer than this program can use."""

    code = "out_of_date"


class Unavailable(SecondBrainError):
    """A resource is missing, broken, locked or full.

    `passing`: nothing has to be mended for the same call to succeed later (a slow server, a full disk, another's lock).
    """

    code = "unavailable"
    passing = False


class VaultUnavailable(Unavailable):
    """The vault folder is missing or cannot be read."""


class NoteUnreadable(Unavailable):
    """One note cannot be read; the others go on."""


class NotRedacted(NoteUnreadable):
    """What must not be stored of a note could not be told from the rest; nothing of it may be kept."""


class IndexUnavailable(Unavailable):
    """The database is damaged (then `damaged` is true), read-only, on a full disk or not there.

    `replaced`: the file that was opened is not the one at its path any more.
    """

    damaged = False
    replaced = False


class WriterBusy(Unavailable):
    """Another process holds the writer lock of this database."""

    passing = True


class EmbedderUnavailable(Unavailable):
    """The embedder cannot answer now: not reachable, too slow, or its answer is unusable.

    With `passing` the text is not to blame.
    """
