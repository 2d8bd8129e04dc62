"""The pictures: well-formed, told in words, nothing over anything else, nothing out of the frame."""

from __future__ import annotations

import random
import re
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from graph_vault import PLAIN, edge, random_vault
from second_brain.graph import drawing
from second_brain.graph.drawing import Dot, Line, Picture, Words, draw
from second_brain.graph.edges import all_edges
from second_brain.graph.formulas import Edges, Signals
from second_brain.graph.lettering import Box, width
from second_brain.graph.map_picture import MOST_CLUSTERS, draw_map
from second_brain.graph.note_picture import MOST, draw_note
from second_brain.graph.overview import Node, overview
from second_brain.graph.related import Evidence, Neighbour, because, related
from second_brain.graph.settings import Settings

pytestmark = pytest.mark.requirement("RG-7")

SVG = "{http://www.w3.org/2000/svg}"
NASTY = [
    "<b>&\"'",
    "null\x00 and bell\x07",
    "\u202eturned",
    "\ud800",
    "長い題名" * 20,
    "🚣🏽" * 9,
    "word " * 40,
    "",
    " ",
]


def texts(svg):
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def boxes(svg):
    """Where each text stands, by the estimate of its width."""
    found = []
    for element in ET.fromstring(svg).iter(f"{SVG}text"):
        x, y, size = (float(element.get(name)) for name in ("x", "y", "font-size"))
        wide = width(element.text or "", size, bold=element.get("font-weight") == "600")
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "start")]
        found.append((element.text, Box(left, y - 0.95 * size, left + wide, y + 0.3 * size)))
    return found


def assert_readable(svg):
    root = ET.fromstring(svg)
    frame = Box(0, 0, float(root.get("width")), float(root.get("height")))
    placed = boxes(svg)
    assert all(box.within(frame) for _, box in placed), [text for text, box in placed if not box.within(frame)]
    over = [(a, b) for (a, one), (b, other) in combinations(placed, 2) if one.meets(other)]
    assert not over


def neighbour(node, title, signals, composite=0.4, evidence=None):
    found = evidence or Evidence(signals.link > 0, False, ("boat",) if signals.tag else (), int(signals.comention > 0))
    return Neighbour(node, f"{node:02}.md", title, composite, found, signals, because(found, signals, PLAIN))


KINDS = [Signals(0.4, 1.0, 0, 0), Signals(0.9, 0, 0, 0), Signals(0.0, 0, 1, 0), Signals(0.0, 0, 0, 1)]


def neighbours(number, titles=("Restore drill",)):
    return [neighbour(at, titles[at % len(titles)], KINDS[at % 4], 0.9 - at / 99) for at in range(number)]


@pytest.mark.parametrize("number", [0, 1, 2, 3, 8, 17, 30])
@pytest.mark.parametrize("titles", [["Boat"], NASTY])
def test_a_note_and_its_related_notes_can_be_read(number, titles):
    svg = draw_note(Node("centre.md", titles[number % len(titles)], {}), neighbours(number, titles), PLAIN)
    assert_readable(svg)
    assert len(re.findall("<line ", svg)) == number + min(number, 4)


def test_a_note_is_named_with_the_reasons_for_it():
    shown = texts(draw_note(Node("c.md", "Centre", {}), [neighbour(1, "Boat", KINDS[0])], PLAIN))
    assert {
        "Around Centre",
        "1 related note",
        "Centre",
        "Boat",
        "linked from here · similar text (0.40)",
        "linked",
    } <= set(shown)


def test_kinds_of_evidence_differ_in_line_and_mark_and_are_grouped():
    svg = draw_note(Node("c.md", "Centre", {}), neighbours(8), PLAIN)
    dashes = re.findall(r'<line [^>]*?stroke-width="[\d.]+"(?: stroke-dasharray="([^"]*)")? stroke-opacity', svg)
    assert dashes == ["", "", "5 4", "5 4", "1.5 4", "1.5 4", "8 3 1.5 3", "8 3 1.5 3"]
    names = {"linked", "similar text", "shared tags", "linked to from the same notes"}
    assert names <= set(texts(svg))


def test_the_closer_a_note_the_thicker_its_line():
    svg = draw_note(Node("c.md", "C", {}), [neighbour(1, "a", KINDS[0], 0.9), neighbour(2, "b", KINDS[0], 0.2)], PLAIN)
    first, second = (float(value) for value in re.findall(r'stroke-width="([\d.]+)" stroke-opacity', svg))
    assert first > second


def test_of_too_many_related_notes_the_closest_are_shown_and_the_others_counted():
    svg = draw_note(Node("c.md", "C", {}), neighbours(40), PLAIN)
    assert "40 related notes, the closest 30 shown" in texts(svg)
    assert texts(svg).count("Restore drill") == MOST


def test_the_mark_of_a_note_fits_its_words_also_where_the_text_is_too_unlike_to_be_named():
    signals = Signals(0.3, 0, 0, 1 / 3)
    one = neighbour(1, "Boat", signals, evidence=Evidence(False, False, (), 1))
    shown = texts(draw_note(Node("c.md", "C", {}), [one], PLAIN))
    assert "linked to from the same notes" in shown
    assert "similar text" not in shown


def cliques(sizes, bridged=True):
    edges, start, hubs = [], 0, []
    for size in sizes:
        members = range(start, start + size)
        edges += [edge(a, b, 0.6) for a, b in combinations(members, 2)]
        hubs.append(start)
        start += size
    if bridged:
        edges += [edge(a, b, 0.2) for a, b in pairwise(hubs)]
    return start, Edges.of(edges)


def mapped(sizes, titles=("Restore drill",), orphans=0, **more):
    count, edges = cliques(sizes, **more)
    nodes = [Node(f"n{at:04}.md", f"{titles[at % len(titles)]} {at}", {}) for at in range(count + orphans)]
    found = overview(nodes, edges, PLAIN)
    return found, nodes, draw_map(found, nodes, edges)


@pytest.mark.parametrize("sizes", [[], [2], [12, 9, 4], [30, 25, 12, 12, 8, 5, 3, 2, 2], [4] * 40, [150], [2] * 24])
@pytest.mark.parametrize("titles", [["Boat"], NASTY])
def test_a_map_can_be_read(sizes, titles):
    assert_readable(mapped(sizes, titles, orphans=3)[2])


def test_maps_of_random_vaults_can_be_read():
    for seed in range(25):
        facts = random_vault(np.random.default_rng(seed))
        nodes = [
            Node(path, title, tags)
            for path, title, tags in zip(facts.paths, facts.titles, facts.tag_names, strict=True)
        ]
        edges = all_edges(facts, PLAIN)
        assert_readable(draw_map(overview(nodes, edges, PLAIN), nodes, edges))


def test_each_cluster_its_hub_and_each_bridge_that_is_drawn_are_named():
    found, nodes, svg = mapped([30, 25, 12, 12, 8, 5, 3, 2, 2])
    shown = texts(svg)
    assert len(found.clusters) > 5
    for cluster in found.clusters:
        hub = next(node for node in nodes if node.path == cluster.hub)
        assert f"{cluster.label} · {cluster.size}" in shown
        assert any(hub.title.startswith(text.rstrip("…")) for text in shown if len(text) > 5)
    drawn = re.findall(r"<title>(\S+) \(\d+ ties?, a bridge\)</title><polygon", svg)
    assert set(drawn) == {bridge.path for bridge in found.bridges}
    for path in drawn:
        title = next(node.title for node in nodes if node.path == path)
        assert any(title.startswith(text.rstrip("…")) for text in shown if len(text) > 5)


def test_in_a_crowd_hubs_and_bridges_are_named_before_others():
    count, edges = cliques([5] * 24)
    nodes = [
        Node(f"n{at:04}.md", f"{at:03} and many words about it", {f"t{at // 5}": f"t{at // 5}"}) for at in range(count)
    ]
    found = overview(nodes, edges, PLAIN)
    svg = draw_map(found, nodes, edges)
    starts = {text[:3] for text in texts(svg) if text[3:6] == " an"}
    bridges = set(re.findall(r"<title>n0(\d+)\.md \(\d+ ties?, a bridge\)", svg))
    assert len(bridges) > 15
    assert bridges <= starts
    assert {cluster.hub[2:5] for cluster in found.clusters[:MOST_CLUSTERS]} <= starts
    assert len(starts) < len(re.findall(r"<title>n\d+\.md \(", svg))
    assert_readable(svg)


def test_bridges_are_told_by_shape_and_counted_and_so_are_orphans():
    found, _, svg = mapped([5, 4], orphans=7)
    shown = texts(svg)
    assert f"bridge ({len(found.bridges)} of {len(found.bridges)} shown)" in shown
    assert shown[shown.index("orphans, tied to no note") + 1] == "7"


def test_clusters_beyond_those_drawn_are_counted():
    shown = texts(mapped([3] * (MOST_CLUSTERS + 5), bridged=False)[2])
    assert shown[shown.index("in 5 smaller clusters") + 1] == "15"


def test_about_a_hundred_notes_are_drawn_and_some_of_each_cluster():
    found, _, svg = mapped([200, 150, 90, 30, 6])
    drawn = re.findall(r"<title>n(\d+)\.md \(", svg)
    assert 95 <= len(drawn) <= 105
    for cluster in found.clusters:
        assert set(cluster.members) & {int(node) for node in drawn}


def test_ties_that_did_not_count_for_the_map_are_not_drawn():
    nodes = [Node(f"{at}.md", str(at), {}) for at in range(3)]
    edges = Edges.of([edge(0, 1, 0.9), edge(1, 2, 0.9), edge(0, 2, 0.1, link=0.7)])
    svg = draw_map(overview(nodes, edges, PLAIN), nodes, edges)
    assert "1.md (2 ties, a bridge)" in svg
    assert "2.md (1 tie)" in svg


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_a_picture_is_well_formed_and_told_in_words(theme):
    picture = Picture(100.04, 50, "A <title> & \x00more", 'What "is" seen', words=[Words(1, 20, "<&>\x0b")])
    root = ET.fromstring(draw(picture, theme))
    assert root.get("role") == "img"
    assert root.get("width") == "100"
    assert root.get("aria-label") == root.findtext(f"{SVG}title") == "A <title> & more"
    assert root.findtext(f"{SVG}desc") == 'What "is" seen'
    assert root.findtext(f"{SVG}text") == "<&>"
    assert ("prefers-color-scheme: dark" in root.findtext(f"{SVG}style")) == (theme == "auto")
    assert (drawing._DARK["surface"] in root.findtext(f"{SVG}style")) == (theme != "light")


def test_tooltips_and_numbers_are_written_the_same_on_every_system():
    svg = draw(
        Picture(10, 10, "t", "d", dots=[Dot(-0.04, 1.25, 2, "accent", tip="a & b")], lines=[Line(0, 0, 1.26, 3)])
    )
    assert '<g><title>a &amp; b</title><circle class="f-accent" cx="0" cy="1.2" r="2"/></g>' in svg
    assert 'x2="1.3"' in svg


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(colour, ground, part):
    channels = [(int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(part * one + (1 - part) * other):02x}" for one, other in channels)


@pytest.mark.parametrize("palette", [drawing._LIGHT, drawing._DARK])
def test_text_and_marks_stand_out_also_on_the_ground_of_a_cluster(palette):
    surface = palette["surface"]
    grounds = [surface, *(mixed(palette[f"group-{at}"], surface, 0.1) for at in range(drawing.COLOURS))]
    for ground in grounds:
        assert all(contrast(palette[tone], ground) >= 4.5 for tone in ("first", "second", "third"))
    for name in ("line", "accent", *(f"group-{at}" for at in range(drawing.COLOURS))):
        assert contrast(palette[name], surface) >= 3.0


def test_the_same_vault_gives_the_same_picture_in_whatever_order_its_edges_come():
    count, edges = cliques([9, 7, 4])
    nodes = [Node(f"n{at}.md", f"T{at}", {}) for at in range(count)]
    order = list(range(len(edges)))
    random.Random(1).shuffle(order)
    turned = edges.where(order)
    first = draw_map(overview(nodes, edges, PLAIN), nodes, edges)
    assert first == draw_map(overview(nodes, turned, PLAIN), nodes, turned)


def test_related_notes_of_a_vault_are_drawn_as_they_come():
    facts = random_vault(np.random.default_rng(5))
    settings = Settings()
    found = related(facts, settings, 0, 30)
    svg = draw_note(Node(facts.path(0), facts.title(0), facts.tags(0)), found, settings, "dark")
    assert_readable(svg)
    assert all(f"{one.path} (" in svg for one in found)
