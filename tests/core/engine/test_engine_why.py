from __future__ import annotations

import pytest

from indexed_vault import IndexedVault
from second_brain.model import Scope
from stub_embedder import StubEmbedder

NOTES = {
    "Birds/heron.md": "---\ntitle: The grey heron\naliases: [Reed watcher]\ntags: [bird/heron]\n---\n## A heron\n\nA heron waits.",
    "Birds/otter.md": "---\nstatus: archived\n---\nThe otter met a heron at the pond.",
    "Tools/kettle.md": "---\ntags: [tool]\n---\nA kettle of copper.",
    **{f"Pond/{number}.md": f"heron pond heron pond {number}" for number in range(6)},
}


@pytest.fixture(scope="module")
def desk(open_desk):
    return open_desk(NOTES)


def evidence(desk, path, query, **arguments):
    answer = desk.ask(query, top_k=50, settings={"explain": True}, **arguments)
    return next(hit.evidence for hit in answer.hits if hit.path == path)


def test_evidence_tells_words_fields_shares_and_the_cosine(desk):
    found = evidence(desk, "Birds/heron.md", "heron samovar")
    assert (found.words, found.missing) == (("heron",), ("samovar",))
    assert found.fields == ("title", "heading", "tag", "body")
    assert 0 < found.word_share <= 1
    assert found.cosine == pytest.approx(
        float(
            desk.vault.embedder.embed_query("heron samovar")
            @ desk.vault.embedder.embed_query("The grey heron > A heron\n## A heron\n\nA heron waits.")
        ),
        abs=1e-3,
    )
    assert not found.named


@pytest.mark.parametrize(("query", "named"), [("reed WATCHER", True), ("the grey heron", True), ("grey heron", False)])
def test_evidence_tells_whether_the_name_is_just_what_was_asked(desk, query, named):
    assert evidence(desk, "Birds/heron.md", query).named is named


def test_evidence_of_an_alias_names_the_field(desk):
    assert evidence(desk, "Birds/heron.md", "watcher", ranking="words").fields == ("alias", "body")


def test_a_word_in_more_aliases_than_are_counted_is_in_no_other_field(open_desk):
    aliases = ", ".join(f"heron {number}" for number in range(300))
    desk = open_desk({"a.md": f"---\naliases: [{aliases}]\n---\nText.", "b.md": "Gravel."}, embed=False)
    assert evidence(desk, "a.md", "heron", ranking="words").fields == ("alias", "body")


def test_evidence_by_meaning_is_the_cosine_alone_and_without_asking_there_is_none(desk):
    found = evidence(desk, "Tools/kettle.md", "copper kettle", ranking="meaning")
    assert found.words == found.fields == ()
    assert found.cosine > 0.5
    assert desk.ask("copper kettle").hits[0].evidence.words == ()


@pytest.mark.parametrize(
    ("path", "query", "arguments", "reasons"),
    [
        ("Nowhere.md", "heron", {}, ("The index has no such note.",)),
        ("Tools/kettle.md", "heron", {"folder": "Birds"}, ("The filter folder leaves it out.",)),
        (
            "Tools/kettle.md",
            "heron",
            {"folder": "Birds", "tags": ["bird"], "modified_before": "2001"},
            (
                "The filter folder leaves it out.",
                "The filter tag bird leaves it out.",
                "The filter modified_before leaves it out.",
            ),
        ),
        ("Tools/kettle.md", "copper", {"exclude_tags": "tool"}, ("The filter not tag tool leaves it out.",)),
        ("Birds/otter.md", '"grey heron"', {}, ('It does not hold "grey heron".',)),
        ("Birds/otter.md", "heron -pond", {}, ("It holds 'pond', which is excluded.",)),
    ],
)
def test_why_a_note_is_no_hit(desk, path, query, arguments, reasons):
    found = desk.why_not(path, query, **arguments)
    assert (found.path, found.rank, found.reasons) == (path, None, reasons)


def test_why_a_note_without_the_words_is_no_hit(desk):
    found = desk.why_not("Tools/kettle.md", "otter heron", ranking="words")
    assert found.rank is None
    assert found.reasons == ("It lacks: otter, heron.",)


def test_the_rank_of_a_note_below_the_cut_and_of_a_hit(desk):
    order = desk.paths("heron pond otter", ranking="words", top_k=50)
    for number, path in enumerate(order, start=1):
        found = desk.why_not(path, "heron pond otter", ranking="words", top_k=3)
        assert found.rank == number
        expected = f"It is hit {number}." if number <= 3 else f"It is ranked {number}, below the 3 that were asked for."
        assert found.reasons[0] == expected
    assert desk.why_not("Birds/otter.md", "heron pond otter", ranking="words").reasons == ("It is hit 1.",)


@pytest.mark.parametrize("ranking", ["best", "meaning"])
def test_the_meaning_of_a_note_is_told(desk, ranking):
    reasons = desk.why_not("Tools/kettle.md", "copper kettle", ranking=ranking).reasons
    assert reasons[0] == "It is hit 1."
    assert reasons[-1].startswith("Its meaning is 0.")


def test_a_note_that_is_not_embedded_yet_is_told(open_desk, tmp_path):
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(32)).write_all({"a.md": "A heron."})
    vault.index()
    vault.write("b.md", "A second heron.")
    vault.sync()
    found = open_desk(None, vault=vault).why_not("b.md", "heron")
    assert found.rank == 2
    assert found.reasons[-1] == "Its meaning was not compared: it is not embedded yet, or the embedder is not there."


def test_outside_the_scope_there_is_no_such_note(open_desk, desk):
    scoped = open_desk(None, vault=desk.vault, scope=Scope(folders=("Birds",)))
    outside = scoped.why_not("Tools/kettle.md", "copper")
    assert outside.reasons == scoped.why_not("Tools/invented.md", "copper").reasons == ("The index has no such note.",)
