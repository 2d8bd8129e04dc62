"""What ``--scope`` means: the name of a configured scope, or folders written ``P``, ``P/`` or ``P/**``.

Folders are compared by segments and literally (``_`` and ``%`` are characters like others); a form that could mean more
or less than it seems to, such as another wildcard or ``..``, is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from second_brain.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from second_brain.config.configuration import NamedScope
    from second_brain.model import Scope

_WILDCARD = re.compile(r"[*?]|\[.*\]|\{.*,.*\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HINT = "Name a folder as it stands in the vault, for example Projects/Work or Projects/Work/**."


def parse_scope(text: str, named: Mapping[str, NamedScope] | None = None) -> Scope:
    """The scope of one ``--scope`` value.

    A name in *named* goes before a folder of that name; ``P/`` is always the folder.  Raises `InvalidParameter`
    ("scope") for anything else.
    """
    return select_scope((text,), named).scope


def select_scope(values: Sequence[str], named: Mapping[str, NamedScope] | None = None) -> NamedScope:
    """The scope of all ``--scope`` values of a command: one name, or any number of folders.  None: the whole vault.

    A scope of folders has no name, no instructions and the default profile.  Raises `InvalidParameter` ("scope").
    """
    from second_brain.config.configuration import NamedScope  # noqa: PLC0415  # keeps the import of the package cheap
    from second_brain.model import Scope  # noqa: PLC0415

    named = named or {}
    names = [value for value in values if value in named]
    if names and len(values) == 1:
        return named[names[0]]
    if names:
        raise InvalidParameter(
            f"The scope {names[0]!r} is a name of the configuration and cannot be joined with other scopes.",
            hint=f"Give --scope once, or write {names[0]}/ when you mean the folder.",
            parameter="scope",
        )
    folders = tuple(dict.fromkeys(_parse_folder(value, named) for value in values))
    return NamedScope(name="", scope=Scope(folders=folders))


def plain_folder(form: str) -> str:
    """The folder that a valid form means: ``P/**`` and ``P/`` are ``P``."""
    return form[:-3] if form.endswith("/**") else form.removesuffix("/")


def folder_problem(form: str) -> str:
    """Why *form* names no folder of a vault, as a phrase; "" when it does."""
    folder = plain_folder(form)
    segments = folder.split("/")
    findings = (
        (not form.strip(), "is empty"),
        (_CONTROL.search(form), "has a control character"),
        (form.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:([/\\]|$)", form), "is an absolute path"),
        ("\\" in form, "has a backslash; folders are separated by /"),
        (".." in segments, "leaves its folder by .."),
        (_WILDCARD.search(folder), "has a wildcard other than /** at its end"),
        ("." in segments or "" in segments, "has an empty segment"),
    )
    return next((problem for found, problem in findings if found), "")


def _parse_folder(form: str, named: Mapping[str, NamedScope]) -> str:
    problem = folder_problem(form)
    if problem:
        raise InvalidParameter(
            f"The scope {form!r} {problem}.", hint=_HINT, parameter="scope", options=tuple(sorted(named))
        )
    return plain_folder(form)
