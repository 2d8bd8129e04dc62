"""The YAML head of a note, read as a person means it.

Scalars stay the text that was typed (``yes``, ``012``, ``1:30``) unless YAML 1.2 makes them a number or a truth value.
A head that is no valid YAML gives what can be recovered line by line, with a problem.  `parse` never raises.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from second_brain.model import Frontmatter
from second_brain.vault import head
from second_brain.vault.properties import Entry, collect, entry_of_text, text_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_NODES = 5000
_MAX_DEPTH = 40
_MAX_KEY = 200
_MAX_KEY_WORDS = 6
_TOO_LARGE = "the frontmatter is too large; the rest of it is left out"

_KEY_LINE = re.compile(r"""("[^"\n]+"|'[^'\n]+'|[^\s#"'\-\[\]{}>|*&!%@`,?:][^:\n]{0,79}?)[ \t]*:(?:[ \t]+(.*)|)$""")
_LIST_LINE = re.compile(r"\s*-\s+(.*)$")
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|<%.*?%>", re.DOTALL)
# YAML refuses control characters, and takes exotic line ends for line ends that the rest of us does not count.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufeff\ufffe\uffff]")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Composes nodes only; without implicit types every plain scalar stays as typed."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the name and the form are PyYAML's


def parse(text: str) -> Frontmatter:
    """The head of a decoded note; an empty `Frontmatter` when the note has none.

    The first line must be ``---``; ``---`` or ``...`` closes, also at the very end.  What lies between two rules is a
    head only if it is a mapping, or looks like one that is broken.
    """
    block, end_line = head.block(text)
    if not block.strip():
        return Frontmatter(end_line=end_line)
    return _parse_block(_UNPRINTABLE.sub("\ufffd", block), end_line)


def _parse_block(source: str, end_line: int) -> Frontmatter:
    try:
        root = yaml.compose(source, Loader=_Loader)
    except (yaml.YAMLError, RecursionError) as error:
        if not _looks_like_yaml(source):
            return Frontmatter()
        return collect(_recovered(source), end_line, _describe(error))
    if not isinstance(root, yaml.MappingNode):
        return Frontmatter()
    walk = _Walk(source)
    entries = walk.entries(root)
    if _PLACEHOLDER.search(source):
        if walk.unnamed_keys:
            entries = _recovered(source)
        return collect(entries, end_line, "the frontmatter holds template placeholders")
    return collect(entries, end_line, walk.problem)


def _looks_like_yaml(source: str) -> bool:
    """True for broken YAML, false for prose between two rules: half of the unindented lines are ``key:`` lines."""
    keys = others = 0
    for line in source.split("\n"):
        if not line.strip() or line[0] in " \t#-" or _PLACEHOLDER.match(line):
            continue
        match = _KEY_LINE.match(line)
        if match and len(match[1].split()) <= _MAX_KEY_WORDS:
            keys += 1
        else:
            others += 1
    return keys > 0 and keys >= others


def _describe(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        # The fence is line 1 and marks count from 0.
        return f"invalid YAML in line {error.problem_mark.line + 2}: {error.problem or error.context or 'not readable'}"
    return "invalid YAML: not readable"


def _recovered(source: str) -> list[Entry]:
    """``key: value`` and list lines of a broken head; deeper structure is left out."""
    entries: list[tuple[str, str, list[str]]] = []
    for line in source.split("\n"):
        if match := _KEY_LINE.match(line):
            entries.append((_unquoted(match[1]), (match[2] or "").strip(), []))
        elif entries and (match := _LIST_LINE.match(line)) and not line.lstrip().startswith("#"):
            entries[-1][2].append(match[1].strip())
    return [Entry(key, _recovered_value(value, items)) for key, value, items in entries]


def _recovered_value(value: str, items: list[str]) -> Any:
    if items and not value:
        return [_recovered_scalar(item) for item in items]
    if value.startswith("[") and not value.startswith("[["):
        return [_recovered_scalar(item.strip()) for item in value[1:].removesuffix("]").split(",") if item.strip()]
    return _recovered_scalar(value)


def _recovered_scalar(value: str) -> Any:
    unquoted = _unquoted(value)
    return text_entry(unquoted) if unquoted != value else entry_of_text(value)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


class _Walk:
    """From nodes to entries: recursion is cut, and so is what an alias bomb would unfold."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._left = _MAX_NODES
        self._open: set[int] = set()
        self.problem = ""
        self.unnamed_keys = False

    def entries(self, root: yaml.MappingNode) -> list[Entry]:
        found = [Entry(key, value) for key, value in self._pairs(root)]
        names = [entry.key for entry in found]
        if len(set(names)) < len(names):
            twice = next(name for index, name in enumerate(names) if name in names[:index])
            self.problem = self.problem or f"the key {twice} stands in the frontmatter more than once"
        return found

    def _pairs(self, node: yaml.MappingNode) -> Iterator[tuple[str, Any]]:
        for key, value in node.value:
            if self._left <= 0:
                self.problem = _TOO_LARGE
                return
            yield self._key(key), self._value(value)

    def _key(self, node: yaml.Node) -> str:
        self._left -= 1
        if isinstance(node, yaml.ScalarNode):
            return str(node.value)
        self.unnamed_keys = True
        return self._source[node.start_mark.index : node.end_mark.index].strip()[:_MAX_KEY]

    def _value(self, node: yaml.Node) -> Any:
        self._left -= 1
        if isinstance(node, yaml.ScalarNode):
            return text_entry(node.value.rstrip("\n")) if node.style else entry_of_text(node.value)
        if self._left <= 0:
            self.problem = _TOO_LARGE
            return None
        if id(node) in self._open or len(self._open) >= _MAX_DEPTH:
            self.problem = "the frontmatter refers to itself or is nested too deep; that part is left out"
            return None
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return dict(self._pairs(node))
            return [self._value(item) for item in node.value[: self._left]]
        finally:
            self._open.discard(id(node))
