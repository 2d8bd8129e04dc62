"""What a person expects of the order of hits."""

from __future__ import annotations

import pytest

from second_brain.index import words
from second_brain.model import Scope


def ranked(desk, query, **arguments):
    return desk.paths(query, **{"ranking": "words", "top_k": 50, **arguments})


def test_a_title_weighs_more_than_an_alias_a_heading_or_a_tag_and_these_more_than_the_body(open_desk):
    filler = "A long and quiet text about nothing much at all."
    desk = open_desk(
        {
            "e.md": f"---\ntitle: The walnut\n---\n{filler}",
            "d.md": f"---\naliases: [A walnut]\n---\n{filler}",
            "c.md": f"{filler}\n\n## One walnut\n",
            "b.md": f"---\ntags: [tree/walnut]\n---\n{filler}",
            "a.md": f"{filler} Here is a walnut.",
        },
        embed=False,
    )
    found = ranked(desk, "walnut")
    assert found[:2] == ["e.md", "d.md"]
    assert set(found[2:4]) == {"b.md", "c.md"}
    assert found[4] == "a.md"


def test_equal_scores_are_ordered_by_path_and_no_tie_is_lost_at_the_cut(open_desk):
    notes = {f"{name}.md": "The same wicker basket." for name in ("z", "b", "a", "m", "c")}
    desk = open_desk(notes)
    for ranking in ("words", "best", "meaning"):
        assert desk.paths("wicker basket", ranking=ranking, top_k=50) == sorted(notes)
        assert desk.paths("wicker basket", ranking=ranking, top_k=3) == ["a.md", "b.md", "c.md"]


def test_a_note_with_all_words_stands_above_one_that_repeats_a_rare_one(open_desk):
    desk = open_desk(
        {
            "all.md": "The otter lost a saddle and a kettle in the reeds.",
            "some.md": "A kettle, a kettle and a kettle in the reeds, far from any other thing.",
            **{f"{number}.md": "An otter and a saddle." for number in range(2)},
        },
        embed=False,
    )
    assert ranked(desk, "otter saddle kettle")[0] == "all.md"


def test_words_that_stand_together_stand_above_the_same_words_apart(open_desk):
    desk = open_desk(
        {
            "a-apart.md": "The kettle hums, then comes the tin roof, later a green shed with copper.",
            "b-together.md": "The copper kettle hums, then comes the tin roof, later a green shed there.",
            "c-reversed.md": "The kettle copper hums, then comes the tin roof, later a green shed there.",
        },
        embed=False,
    )
    assert ranked(desk, "copper kettle")[0] == "b-together.md"


@pytest.mark.parametrize("query", ["DEC-0054", "dec-0054", "DEC-0054 decision"])
@pytest.mark.parametrize("ranking", ["words", "best"])
def test_an_identifier_finds_its_own_note_before_those_that_only_share_its_parts(open_desk, query, ranking):
    notes = {
        "log.md": "Decision log: DEC-0053, DEC-0055, then lot 0054 of the auction, and again DEC-0053.",
        "mention.md": "We settled it in spring, see DEC-0054 in the minutes.",
        **{f"DEC/{number}.md": f"DEC-00{number}: a decision about the {number}th door." for number in range(40, 54)},
    }
    desk = open_desk(notes)
    assert ranked(desk, query, ranking=ranking)[0] == "mention.md"


def test_an_inflected_word_finds_its_other_forms_in_english_notes_only(open_desk):
    desk = open_desk(
        {
            "english.md": "We were draining the pond when the heron came down to us.",
            "german.md": "Wir haben das Wort draining nicht gebraucht und auch nicht die anderen.",
            "other.md": "Nothing of the kind is here with us.",
        },
        embed=False,
    )
    assert ranked(desk, "drained") == ["english.md"]
    assert set(ranked(desk, "draining")) == {"english.md", "german.md"}


def test_the_word_as_written_stands_above_its_other_forms(open_desk):
    desk = open_desk(
        {"a.md": "There is the herons pond.", "b.md": "There is the heron pond."},
        embed=False,
    )
    assert ranked(desk, "heron") == ["b.md", "a.md"]
    assert ranked(desk, "herons") == ["a.md", "b.md"]


@pytest.mark.parametrize(
    ("query", "first"),
    [("冬夜", "zh.md"), ("味噌汁", "ja.md"), ("汁", "ja.md"), ("독서 모임", "ko.md"), ("쓰레기", "ko2.md")],
)
def test_scripts_without_spaces_are_found_by_their_pairs_and_single_characters(open_desk, query, first):
    desk = open_desk(
        {
            "zh.md": "冬夜读书。窗外下雪。",
            "ja.md": "朝は味噌汁を飲む。",
            "ko.md": "독서 모임은 목요일이다.",
            "ko2.md": "쓰레기를 버리는 날.",
            "en.md": "A winter night.",
        },
        embed=False,
    )
    assert ranked(desk, query)[0] == first


def test_a_typing_error_is_corrected_only_when_no_visible_note_has_the_word(open_desk):
    desk = open_desk(
        {
            "In/pond.md": "The heron waits at the pond.",
            "In/other.md": "Nothing but gravel and sand.",
            "Out/herin.md": "A herin is no bird at all.",
        },
        embed=False,
    )
    answer = desk.ask("herin", ranking="words")
    assert [hit.path for hit in answer.hits] == ["Out/herin.md"]
    assert answer.corrections == ()
    scoped = open_desk(None, vault=desk.vault, scope=Scope(folders=("In",)))
    answer = scoped.ask("herin", ranking="words")
    assert [hit.path for hit in answer.hits] == ["In/pond.md"]
    assert answer.corrections == (("herin", "heron"),)
    assert answer.as_json()["corrected"] == {"herin": "heron"}
    outside = open_desk(None, vault=desk.vault, scope=Scope(folders=("Out",)))
    assert outside.ask("heron gravel", ranking="words").corrections == (("heron", "herin"),)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("lantren", "lantern"),
        ("lanttern", "lantern"),
        ("lanern", "lantern"),
        ("gantern", None),  # the first letter is taken to be right
        ("lanrten", None),  # two errors in seven letters
        ("kubrenets", "kubernetes"),
        ("kubenets", "kubernetes"),  # two errors are allowed from eight letters on
        ("qubernetez", None),  # two errors, the first letter one of them
        ("bern", None),  # of four letters, another word
        ("bran", "barn"),
        ("barm", None),
        ("trn", None),  # three letters are too few to tell
        ("20261", None),  # a number is what it is
    ],
)
def test_what_counts_as_a_typing_error(open_desk, typed, expected):
    desk = open_desk({"a.md": "A lantern for kubernetes stood in the barn of 20260."}, embed=False)
    answer = desk.ask(typed, ranking="words")
    assert answer.corrections == (((typed, expected),) if expected else ())
    assert bool(answer.hits) is bool(expected)


def test_of_several_corrections_the_more_common_word_comes_first(open_desk):
    desk = open_desk(
        {"a.md": "A clamp, a clump.", "b.md": "The clump is wet.", "c.md": "This clump as well.", "d.md": "climp"},
        embed=False,
    )
    assert desk.ask("clomp", ranking="words").corrections == (("clomp", "clump"),)
    assert set(ranked(desk, "clomp")) == {"a.md", "b.md", "c.md", "d.md"}


def test_exact_words_stand_above_corrected_ones(open_desk):
    desk = open_desk(
        {"a-near.md": "One kettle on the shelf.", "b-exact.md": "One saddle on the shelf.", "c.md": "x"}, embed=False
    )
    assert ranked(desk, "ketle saddle") == ["b-exact.md", "a-near.md"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("otter -kettle", {"a.md", "d.md"}),
        ('otter -"copper kettle"', {"a.md", "b.md", "d.md"}),
        ("otter -kettles", {"a.md", "b.md", "c.md"}),
        ("-otter", {"e.md"}),
        ("otter -kettle -pond", {"d.md"}),
    ],
)
def test_what_is_excluded_is_left_out_as_it_is_spelled(open_desk, query, expected):
    desk = open_desk(
        {
            "a.md": "The otter in the pond.",
            "b.md": "The otter and the kettle.",
            "c.md": "The otter and the copper kettle.",
            "d.md": "The otter and two kettles.",
            "e.md": "The empty shore.",
        },
        embed=False,
    )
    assert set(ranked(desk, query)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"C++"', {"cpp.md"}),
        ('"rm -rf"', {"shell.md"}),
        ('"3.1."', {"law.md"}),
        ('"->"', {"arrow.md"}),
        ('"ubernet"', {"shell.md"}),
        ('"ever rm -rf the po"', {"shell.md"}),
        ('"the pod"', {"shell.md"}),
        ('"The  Pod"', set()),
        ('"straße"', {"law.md"}),
        ('"status: open"', {"cpp.md"}),
        ('"C++" "1998"', {"cpp.md"}),
        ('"C++" pod', {"cpp.md"}),
    ],
)
@pytest.mark.parametrize("ranking", ["words", "best", "meaning"])
def test_a_quoted_piece_finds_exactly_the_notes_that_hold_it(open_desk, query, expected, ranking):
    desk = open_desk(
        {
            "cpp.md": "---\nstatus: open\n---\nC++ since 1998, and C before it.",
            "shell.md": "Never rm -rf the pod of kubernetes.",
            "law.md": "Paragraph 3.1. of the Straße rules.",
            "arrow.md": "x -> y",
            "plain.md": "C, rm, rf, 31, pod",
        }
    )
    answer = desk.ask(query, ranking=ranking, top_k=50)
    assert {hit.path for hit in answer.hits} == expected
    assert answer.total == len(expected)


@pytest.mark.parametrize("ranking", ["words", "best"])
@pytest.mark.parametrize("query", ["the quiet harbour", "The Quiet Harbour", "dock nine", "Dock Nine", "pier 12"])
def test_a_note_of_exactly_that_title_alias_or_name_is_the_first_hit(open_desk, query, ranking):
    others = {f"{number}.md": f"{query} {query} {query} {query}" for number in range(8)}
    desk = open_desk(
        others
        | {
            "Z/note.md": "---\ntitle: The Quiet Harbour\n---\nGravel, sand and salt.",
            "Z/other.md": "---\naliases: [Dock Nine]\n---\nTimber and tar.",
            "Z/Pier 12.md": "---\ntitle: Ropes\n---\nRopes and knots.",
        }
    )
    answer = desk.ask(query, ranking=ranking, top_k=50, settings={"explain": True})
    assert answer.hits[0].path.startswith("Z/")
    assert answer.hits[0].evidence.named
    assert not answer.hits[1].evidence.named
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] <= 1.0


def test_stop_words_are_dropped_unless_nothing_else_is_asked(open_desk):
    desk = open_desk({"a.md": "To be or not to be.", "b.md": "The otter, alone."}, embed=False)
    assert ranked(desk, "what is the otter") == ["b.md"]
    assert ranked(desk, "to be or not to be") == ["a.md"]


def test_a_word_that_the_query_repeats_counts_as_often(open_desk):
    desk = open_desk({"a.md": "kettle otter", "b.md": "otter saddle"}, embed=False)
    with desk.reader.snapshot():
        once, twice = (
            words.rank(desk.reader, words.concepts_of(desk.reader, query.split())).score.tolist()
            for query in ("kettle saddle", "kettle kettle saddle")
        )
    assert once[0] == pytest.approx(once[1])
    assert twice[0] > twice[1] == pytest.approx(once[1])
