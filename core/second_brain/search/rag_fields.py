"""The fields of a ``rag`` hit that come from frontmatter and headings, and what it means that one equals a value."""

from __future__ import annotations

from typing import Any

ROOT = "root"
"""The heading path of what stands before the first heading."""

OF_A_HIT = frozenset(
    {
        "path",
        "note_title",
        "heading_path",
        "tags",
        "links",
        "tasks",
        "raw_frontmatter",
        "derived_fields",
        "mtime",
        "status",
        "project",
        "context",
    }
)
"""The names of metadata and derived fields."""


def heading_text(path: tuple[str, ...]) -> str:
    """A heading path as one string, outermost heading first."""
    return " > ".join(path) or ROOT


def derived(values: dict[str, Any]) -> dict[str, Any]:
    """``status`` (in lower case), ``project`` and ``context`` of a frontmatter, as far as it has them."""
    found = {name: property_of(values, name) for name in ("status", "project", "context")}
    if isinstance(found["status"], str):
        found["status"] = found["status"].lower()
    return {name: value for name, value in found.items() if value is not None}


def property_of(values: dict[str, Any], key: str) -> Any:
    """The property *key*, None without one; the case of its name makes no difference."""
    if key in values:
        return values[key]
    wanted = key.casefold()
    return next((value for name, value in values.items() if name.casefold() == wanted), None)


def same(value: Any, other: Any) -> bool:
    """Equality as JSON knows it: true is not 1."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[key], other[key]) for key in value)
    return bool(value == other)


def is_or_has(value: Any, wanted: Any) -> bool:
    """Whether *value* is *wanted*, or a list with it."""
    return same(value, wanted) or (isinstance(value, list) and any(same(item, wanted) for item in value))
