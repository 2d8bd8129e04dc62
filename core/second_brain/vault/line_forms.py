"""How a single line can begin or end a block: the expressions of CommonMark and Obsidian, nothing else."""

from __future__ import annotations

import re

# Groups tell what a line opens; what is indented by four columns opens nothing.
START = re.compile(
    r"""[ ]{0,3}(?:
      (?P<heading>\#{1,6}(?=[ \t]|$))
    | (?P<fence>`{3,}(?=[^`]*$)|~{3,})
    | (?P<quote>>)
    | (?P<rule>(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$)
    | (?P<item>[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))
    | (?P<math>\$\$)
    | (?P<comment>%%|<!--)
    | (?P<verbatim><(?:script|pre|style|textarea)(?=[\s>]|$))
    | (?P<html></?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog
        |dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link
        |main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead
        |title|tr|track|ul)(?=[\s/>]|$)|<[?!])
    | (?P<tag></?[a-z][a-z0-9-]*(?:[\s/][^<>]*)?>[ \t]*$)
    )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
STARTERS = frozenset("#`~>-*_+0123456789$%<")
UNDERLINE = re.compile(r" {0,3}(?:(=)=*|-+)[ \t]*$")
FENCE_END = {"`": re.compile(r" {0,3}(`+)[ \t]*$"), "~": re.compile(r" {0,3}(~+)[ \t]*$")}
ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)", re.ASCII)
TASK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(.)\][ \t]+(\S.*)$", re.ASCII)
QUOTE_MARK = re.compile(r" {0,3}> ?")
QUOTE_MARKS = re.compile(r"(?: {0,3}> ?)+")
CALLOUT = re.compile(r" {0,3}> ?\[![^\]\n]+\]")
DELIMITER_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
ANCHOR_LINE = re.compile(r"[ \t]*\^([A-Za-z0-9-]+)[ \t]*$")
ANCHOR_END = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")

_CELL_END = re.compile(r"(?<!\\)\|")


def indent_of(line: str) -> int:
    """Columns of white space before the text, tabs to the next multiple of four."""
    column = 0
    for character in line:
        if character == " ":
            column += 1
        elif character == "\t":
            column += 4 - column % 4
        else:
            break
    return column


def cells_of(row: str) -> int:
    """How many cells a table row has."""
    inner = row.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return len(_CELL_END.findall(inner)) + 1


def heading_text(line: str) -> str:
    """The text of an ATX heading without its marks; a closing run of ``#`` counts only behind a blank (``## C#``)."""
    text = line.lstrip(" ").lstrip("#").strip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else text


def closes(fence: str, line: str) -> bool:
    """True when *line*, freed of its container's marks, ends the fence that *fence* (its run of marks) opened."""
    match = FENCE_END[fence[0]].match(line)
    return match is not None and len(match[1]) >= len(fence)
