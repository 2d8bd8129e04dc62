"""A picture as shapes, and its SVG: no script, no font, no other file.

The picture is told in words, too (`title` and `desc` for screen readers, a tooltip per shape), and nothing is said by colour
alone: kinds differ in shape, line and words.  The same picture gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from xml.sax.saxutils import escape, quoteattr

from second_brain.graph.lettering import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Theme = Literal["light", "dark", "auto"]
Shape = Literal["circle", "ring", "diamond", "square", "triangle"]
Tone = Literal["first", "second", "third"]
Anchor = Literal["start", "middle", "end"]
Dash = Literal["solid", "dashed", "dotted", "dash-dot"]

COLOURS = 6  # groups beyond repeat them, which is why each is named as well

# The values of the design tokens; text reaches 4.5:1 on the surface, shapes and lines that mean something 3:1.
_LIGHT: Mapping[str, str] = {
    "surface": "#FFFFFF",
    "first": "#192226",
    "second": "#475257",
    "third": "#5D666B",
    "line": "#7E888C",
    "faint": "#C3CACD",
    "accent": "#006473",
    "accent-line": "#9BCED8",
    "group-0": "#1B899B",
    "group-1": "#5B7AB3",
    "group-2": "#9A6595",
    "group-3": "#AB635B",
    "group-4": "#987431",
    "group-5": "#478B61",
}
_DARK: Mapping[str, str] = {
    "surface": "#1B2022",
    "first": "#E5EAEC",
    "second": "#B3BABE",
    "third": "#99A1A5",
    "line": "#717B7F",
    "faint": "#3D4549",
    "accent": "#6AC4D1",
    "accent-line": "#2A616C",
    "group-0": "#60BBC7",
    "group-1": "#8CABE3",
    "group-2": "#CB97C5",
    "group-3": "#DD958D",
    "group-4": "#C7A669",
    "group-5": "#7DBC93",
}
_DASHES: Mapping[Dash, str] = {"solid": "", "dashed": "5 4", "dotted": "1.5 4", "dash-dot": "8 3 1.5 3"}
_FONT = "system-ui, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Dot:
    """A note; `colour`: a name of the palette such as "accent", or "group-3"; `tip`: its tooltip."""

    x: float
    y: float
    radius: float
    colour: str
    shape: Shape = "circle"
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A tie; `opacity` below 1 lets it step back behind what stands over it."""

    x1: float
    y1: float
    x2: float
    y2: float
    thickness: float = 1.25
    colour: str = "line"
    dash: Dash = "solid"
    opacity: float = 1.0
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Disc:
    """The ground of a cluster, which hides the lines under it."""

    x: float
    y: float
    radius: float
    colour: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text at its baseline; `backed`: on a ground of its own, so that lines behind it do not cross it."""

    x: float
    y: float
    text: str
    size: float = 12.0
    tone: Tone = "second"
    bold: bool = False
    anchor: Anchor = "start"
    backed: tuple[float, float, float, float] | None = None  # left, top, right, bottom
    framed: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """What is seen, from back to front: lines under the discs, discs, lines, dots, words."""

    width: float
    height: float
    title: str
    description: str
    under: Sequence[Line] = ()
    discs: Sequence[Disc] = ()
    lines: Sequence[Line] = ()
    dots: Sequence[Dot] = ()
    words: Sequence[Words] = ()


def draw(picture: Picture, theme: Theme = "auto") -> str:
    """The SVG of *picture*; "auto" follows the setting of the viewer, light where it knows none."""
    wide, high = _number(picture.width), _number(picture.height)
    named = f"aria-label={quoteattr(clean(picture.title))} font-family={quoteattr(_FONT)}"
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {named}>',
        f"<title>{_text(picture.title)}</title>",
        f"<desc>{_text(picture.description)}</desc>",
        f"<style>{_style(theme)}</style>",
        f'<rect class="f-surface" width="{wide}" height="{high}"/>',
        *map(_line, picture.under),
        *map(_disc, picture.discs),
        *map(_line, picture.lines),
        *map(_dot, picture.dots),
        *map(_words, picture.words),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _style(theme: Theme) -> str:
    if theme == "dark":
        return _rules(_DARK)
    dark = f" @media (prefers-color-scheme: dark) {{ {_rules(_DARK)} }}" if theme == "auto" else ""
    return _rules(_LIGHT) + dark


def _rules(palette: Mapping[str, str]) -> str:
    return " ".join(f".f-{name} {{ fill: {value} }} .s-{name} {{ stroke: {value} }}" for name, value in palette.items())


def _number(value: float) -> str:
    """One decimal at most; no "-0"."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    return escape(clean(text))


def _told(tip: str, shape: str) -> str:
    return f"<g><title>{_text(tip)}</title>{shape}</g>" if tip else shape


def _disc(disc: Disc) -> str:
    x, y, radius = map(_number, (disc.x, disc.y, disc.radius))
    at = f'cx="{x}" cy="{y}" r="{radius}"'
    tint = f'<circle class="f-{disc.colour} s-{disc.colour}" {at} fill-opacity="0.1" stroke-opacity="0.6"/>'
    return _told(disc.tip, f'<circle class="f-surface" {at}/>{tint}')


def _line(line: Line) -> str:
    x1, y1, x2, y2, thick = map(_number, (line.x1, line.y1, line.x2, line.y2, line.thickness))
    dash = f' stroke-dasharray="{_DASHES[line.dash]}"' if line.dash != "solid" else ""
    faint = f' stroke-opacity="{line.opacity:g}"' if line.opacity < 1 else ""
    shape = (
        f'<line class="s-{line.colour}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="{thick}"{dash}{faint}/>'
    )
    return _told(line.tip, shape)


def _dot(dot: Dot) -> str:
    x, y, radius = map(_number, (dot.x, dot.y, dot.radius))
    if dot.shape == "circle":
        return _told(dot.tip, f'<circle class="f-{dot.colour}" cx="{x}" cy="{y}" r="{radius}"/>')
    if dot.shape == "ring":
        thick = _number(dot.radius * 0.45)
        ring = f'<circle class="f-surface s-{dot.colour}" cx="{x}" cy="{y}" r="{radius}" stroke-width="{thick}"/>'
        return _told(dot.tip, ring)
    points = " ".join(
        f"{_number(dot.x + dx * dot.radius)},{_number(dot.y + dy * dot.radius)}" for dx, dy in _CORNERS[dot.shape]
    )
    return _told(dot.tip, f'<polygon class="f-{dot.colour}" points="{points}"/>')


_CORNERS: Mapping[Shape, Sequence[tuple[float, float]]] = {
    "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
}


def _words(words: Words) -> str:
    weight = ' font-weight="600"' if words.bold else ""
    anchor = f' text-anchor="{words.anchor}"' if words.anchor != "start" else ""
    place = f'x="{_number(words.x)}" y="{_number(words.y)}" font-size="{words.size:g}"'
    return f'{_ground(words)}<text class="f-{words.tone}" {place}{weight}{anchor}>{_text(words.text)}</text>'


def _ground(words: Words) -> str:
    if words.backed is None:
        return ""
    left, top, right, bottom = words.backed
    size = f'x="{_number(left)}" y="{_number(top)}" width="{_number(right - left)}" height="{_number(bottom - top)}"'
    if words.framed:
        return f'<rect class="f-surface s-accent-line" {size} rx="{_number((bottom - top) / 2)}"/>'
    return f'<rect class="f-surface" {size} rx="3" fill-opacity="0.7"/>'
