"""Related notes and the words for why."""

from __future__ import annotations

import pytest

from graph_vault import PLAIN, unit, vault
from second_brain.graph.edges import edges_of
from second_brain.graph.formulas import Signals
from second_brain.graph.related import Evidence, because, evidence, related
from second_brain.graph.settings import Settings

pytestmark = pytest.mark.requirement("RG-5")

NO_SIGNAL = Signals(0.0, 0.0, 0.0, 0.0)


def words(*, to=False, back=False, tags=(), count=0, cosine=0.0):
    return because(Evidence(to, back, tuple(tags), count), Signals(cosine, 0, 0, 0), PLAIN)


@pytest.mark.parametrize(
    ("said", "phrases"),
    [
        ({"to": True}, ("linked from here",)),
        ({"back": True}, ("links here",)),
        ({"to": True, "back": True}, ("both link to each other",)),
        ({"tags": ["area/boat"]}, ("shares #area/boat",)),
        ({"tags": ["area/boat", "wood"]}, ("shares #area/boat and #wood",)),
        ({"tags": ["a", "b", "c"]}, ("shares #a, #b and #c",)),
        ({"tags": ["a", "b", "c", "d", "e"]}, ("shares #a, #b, #c and 2 more",)),
        ({"tags": ["a", "b", "c", "d"]}, ("shares #a, #b, #c and 1 more",)),
        ({"count": 1}, ("1 note links to both",)),
        ({"count": 3}, ("3 notes link to both",)),
        ({"cosine": 0.62}, ("similar text (0.62)",)),
        ({"cosine": 0.344}, ("a little similar text (0.34)",)),
        ({"cosine": 0.09}, ()),
        ({}, ()),
        (
            {"to": True, "tags": ["x"], "count": 2, "cosine": 0.5},
            ("linked from here", "shares #x", "2 notes link to both", "similar text (0.50)"),
        ),
    ],
)
def test_the_reasons_say_what_is_true_and_no_more(said, phrases):
    assert words(**said) == phrases


def test_texts_without_any_likeness_are_never_called_similar():
    assert because(Evidence(True, False, (), 0), NO_SIGNAL, Settings(semantic_min=-1)) == ("linked from here",)


def test_related_notes_come_by_composite_then_by_path():
    facts = vault(5, [(0, 3), (0, 2), (0, 4), (4, 0)])
    assert [(n.node, n.path) for n in related(facts, PLAIN, 0)] == [
        (4, "note 04.md"),
        (2, "note 02.md"),
        (3, "note 03.md"),
    ]


@pytest.mark.parametrize(("top_k", "nodes"), [(1, [4]), (2, [4, 2]), (50, [4, 2, 3])])
def test_no_more_notes_come_than_were_asked_for(top_k, nodes):
    facts = vault(5, [(0, 3), (0, 2), (0, 4), (4, 0)])
    assert [n.node for n in related(facts, PLAIN, 0, top_k)] == nodes


@pytest.mark.parametrize(
    ("asked", "to", "back", "phrase"), [(0, True, False, "linked from here"), (1, False, True, "links here")]
)
def test_evidence_is_seen_from_the_note_that_was_asked_for(asked, to, back, phrase):
    (found,) = related(vault(2, [(0, 1)]), PLAIN, asked)
    assert (found.evidence.links_to, found.evidence.linked_from) == (to, back)
    assert found.because == (phrase,)
    assert found.title == f"Note 0{1 - asked}"


def test_tags_are_shown_as_the_asked_note_types_them_by_their_folded_form():
    tags = {0: ["Wood", "boat", "mine"], 1: ["wood", "BOAT"]}
    facts = vault(2, [(0, 1)], tags)
    (seen,) = related(facts, PLAIN, 0)
    assert seen.evidence.shared_tags == ("boat", "Wood")
    (edge,) = edges_of(facts, PLAIN, 1)
    assert evidence(facts, edge, 1).shared_tags == ("BOAT", "wood")


def test_signals_and_composite_are_those_of_the_edge():
    facts = vault(2, [(0, 1)], vectors=unit([[1, 0], [3, 4]]))
    (found,) = related(facts, PLAIN, 0)
    assert found.signals == Signals(0.6, 0.7, 0.0, 0.0)
    assert found.composite == pytest.approx(0.475)
    assert found.because == ("linked from here", "similar text (0.60)")


def test_a_note_without_edges_has_no_related_notes():
    assert related(vault(2), PLAIN, 0) == []
