from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations

import pytest

from second_brain.errors import InvalidParameter
from second_brain.model import Scope

FOLDERS = ("", "01-Projects", "01-Projects/Roof", "01-Projects-old", "01-Pro", "02-Areas", "01_Projects")
TAG_SETS = (
    (),
    ("homelab",),
    ("homelab", "k8s"),
    ("Homelab/rack", "status/active"),
    ("homelabs", "homelab-old", "type/howto"),
)


def day(number, hour=0):
    return datetime(2026, 3, number, hour, tzinfo=UTC).timestamp()


def text_of(number, tags, owner):
    return (
        f"---\ntags: [{', '.join(tags)}]\nowner: {owner}\n---\nA lantern stands here, number {number}. "
        f"{'moss ' * (number % 4)}\n"
    )


NOTES = {}
FACTS = {}
for _number in range(70):
    _folder = FOLDERS[_number % 7]
    _tags = TAG_SETS[(_number // 7) % 5]
    _owner = ("Ada", "Ben")[_number % 2]
    _path = f"{_folder}/{'Plan' if _number % 3 else 'Log'} {_number:02}.md".lstrip("/")
    _mtime = day(1 + _number % 20, 6 * (_number % 4))
    NOTES[_path] = (text_of(_number, _tags, _owner), _mtime)
    FACTS[_path] = {"folder": _folder, "tags": _tags, "mtime": _mtime, "owner": _owner, "moss": _number % 4 > 0}


def below(facts, folder):
    return f"{facts['folder']}/".startswith(f"{folder}/")


def tagged(facts, name):
    return any(f"{tag.casefold()}/".startswith(f"{name}/") for tag in facts["tags"])


# name -> (arguments, query text, what a plain filter says)
FILTERS = {
    "folder": ({"folder": "01-Projects"}, "", lambda path, facts: below(facts, "01-Projects")),
    "tag": ({"tags": ["homelab"]}, "", lambda path, facts: tagged(facts, "homelab")),
    "after": ({"modified_after": "2026-03-05"}, "", lambda path, facts: facts["mtime"] >= day(5)),
    "before": ({"modified_before": "2026-03-16T12:00Z"}, "", lambda path, facts: facts["mtime"] <= day(16, 12)),
    "not folder": (
        {"exclude_folder": "01-Projects/Roof"},
        "",
        lambda path, facts: not below(facts, "01-Projects/Roof"),
    ),
    "not tag": ({"exclude_tags": "k8s"}, "", lambda path, facts: not tagged(facts, "k8s")),
    "title": ({}, 'title:"plan"', lambda path, facts: "Plan" in path),
    "path": ({}, "path:PROJECTS", lambda path, facts: "projects" in path.lower()),
    "not path": ({}, "-path:AREAS", lambda path, facts: "areas" not in path.lower()),
    "property": ({}, "[Owner:ada]", lambda path, facts: facts["owner"] == "Ada"),
    "not word": ({}, "-moss", lambda path, facts: not facts["moss"]),
}
COMBINATIONS = [
    *((name,) for name in FILTERS),
    *combinations(FILTERS, 2),
    tuple(FILTERS),
]


@pytest.fixture(scope="module")
def desk(open_desk):
    return open_desk(NOTES, embedder=None)


def filters_of(names):
    arguments, query = {}, ""
    for name in names:
        arguments |= FILTERS[name][0]
        query = f"{query} {FILTERS[name][1]}".strip()
    return query, arguments


def passing(names):
    return {path for path, facts in FACTS.items() if all(FILTERS[name][2](path, facts) for name in names)}


def newest_first(paths):
    return sorted(paths, key=lambda path: (-FACTS[path]["mtime"], path))


@pytest.mark.requirement("T-1", "FR-10", "FR-12")
@pytest.mark.parametrize("names", COMBINATIONS, ids="+".join)
def test_filters_alone_in_pairs_and_together_pass_what_a_plain_filter_passes_newest_first(desk, names):
    query, arguments = filters_of(names)
    expected = newest_first(passing(names))
    assert expected or len(names) == len(FILTERS)
    answer = desk.ask(query, top_k=50, **arguments)
    assert [hit.path for hit in answer.hits] == expected[:50]
    assert answer.total == len(expected)
    assert all(hit.score is None and hit.matched == "filters" for hit in answer.hits)


@pytest.mark.requirement("T-1", "FR-11")
@pytest.mark.parametrize("ranking", ["best", "words", "meaning"])
@pytest.mark.parametrize(
    "names", [*((name,) for name in FILTERS), ("folder", "tag"), ("tag", "after", "before")], ids="+".join
)
def test_every_ranking_counts_top_k_within_the_same_filtered_notes(desk, names, ranking):
    query, arguments = filters_of(names)
    expected = passing(names)
    for top_k in (3, 50):
        found = desk.paths(f"lantern {query}", top_k=top_k, ranking=ranking, **arguments)
        assert len(found) == len(set(found)) == min(top_k, len(expected))
        assert set(found) <= expected


@pytest.mark.requirement("T-1", "Q-2")
@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["homelab", "k8s"], {("homelab", "k8s")}),
        (["#HomeLab"], {("homelab",), ("homelab", "k8s"), ("Homelab/rack", "status/active")}),
        (["=homelab"], {("homelab",), ("homelab", "k8s")}),
        (["homelab/rack"], {("Homelab/rack", "status/active")}),
        (["homelab", "status/active"], {("Homelab/rack", "status/active")}),
        (["type"], {("homelabs", "homelab-old", "type/howto")}),
        (["type/howto"], {("homelabs", "homelab-old", "type/howto")}),
        ("status", {("Homelab/rack", "status/active")}),
    ],
)
def test_tags_are_anded_hold_for_their_children_and_never_for_look_alikes(desk, tags, expected):
    found = desk.ask(tags=tags, top_k=50)
    assert {FACTS[hit.path]["tags"] for hit in found.hits} == expected
    assert found.total == sum(facts["tags"] in expected for facts in FACTS.values())


@pytest.mark.requirement("T-1")
@pytest.mark.parametrize(
    ("folder", "folders"),
    [
        ("01-Projects", {"01-Projects", "01-Projects/Roof"}),
        ("01-Projects/", {"01-Projects", "01-Projects/Roof"}),
        ("01-projects/roof", {"01-Projects/Roof"}),
        ("01-Pro", {"01-Pro"}),
        ("01_Projects", {"01_Projects"}),
        (["01-Pro", "02-Areas"], {"01-Pro", "02-Areas"}),
    ],
)
def test_a_folder_holds_what_lies_below_it_segment_by_segment_without_wildcards(desk, folder, folders):
    found = desk.ask(folder=folder, top_k=50)
    assert {hit.folder for hit in found.hits} == folders
    assert found.total == sum(facts["folder"] in folders for facts in FACTS.values())


@pytest.mark.requirement("T-1", "FR-10")
@pytest.mark.parametrize(
    ("after", "before", "hours"),
    [
        ("2026-03-09T00:00:00Z", "2026-03-09T00:00:00Z", {0}),
        ("2026-03-09T00:00:01Z", "2026-03-09T23:59:59Z", {6, 12, 18}),
        ("2026-03-09", "2026-03-09", {0, 6, 12, 18}),
        ("2026-03-09T06:00:00Z", "2026-03-09T12:00:00Z", {6, 12}),
        ("2026-03-09T06:00:01Z", "2026-03-09T11:59:59Z", set()),
        ("2026-03-09T06:00:00.000Z", "2026-03-09T12:00:00.000Z", {6, 12}),
        ("2026-03-09T01:00+01:00", "2026-03-09T07:00+01:00", {0, 6}),
    ],
)
def test_both_dates_include_their_own_moment(open_desk, after, before, hours):
    desk = open_desk({f"{hour:02}.md": ("A lantern.", day(9, hour)) for hour in (0, 6, 12, 18)}, embed=False)
    found = desk.paths(modified_after=after, modified_before=before)
    assert {int(path[:2]) for path in found} == hours


@pytest.mark.requirement("FR-10")
def test_a_move_does_not_count_as_a_modification(open_desk):
    desk = open_desk(
        {"Old/lantern.md": ("A lantern that moves.", day(3)), "Old/other.md": ("Another.", day(3))}, embed=False
    )
    (desk.vault.root / "New").mkdir()
    (desk.vault.root / "Old/lantern.md").rename(desk.vault.root / "New/lantern.md")
    desk.vault.write("New/lantern.md", "A lantern that moves.", mtime=day(20))
    assert desk.vault.sync().moved == 1
    assert desk.paths(folder="New", modified_after="2026-03-10") == []
    assert desk.paths(folder="New", modified_before="2026-03-03") == ["New/lantern.md"]


CROWD = {f"Crowd/{number:03}.md": "harbour crane harbour crane harbour crane" for number in range(230)}
FEW = {
    f"Quiet/{number}.md": (
        f"---\ntags: [quiet]\n---\nThe day was long and the road was dusty; {'stones ' * 30} a harbour crane {number}."
    )
    for number in range(4)
}


@pytest.fixture(scope="module")
def crowded(open_desk):
    return open_desk(CROWD | FEW)


@pytest.mark.requirement("T-2", "FR-11")
@pytest.mark.parametrize("ranking", ["best", "words", "meaning"])
@pytest.mark.parametrize("filters", [{"folder": "Quiet"}, {"tags": "quiet"}, {"exclude_folder": "Crowd"}])
def test_notes_far_below_the_best_of_the_vault_fill_the_top_of_their_filter(crowded, ranking, filters):
    assert not set(crowded.paths("harbour crane", top_k=50, ranking=ranking)) & set(FEW)
    answer = crowded.ask("harbour crane", top_k=5, ranking=ranking, **filters)
    assert {hit.path for hit in answer.hits} == set(FEW)
    assert answer.total == len(FEW)


@pytest.mark.requirement("FR-11", "NFR-2")
@pytest.mark.parametrize("ranking", ["best", "meaning"])
def test_a_filter_saves_reading_the_vectors_of_other_notes(crowded, ranking):
    before = crowded.reader.counters.vectors_read
    crowded.ask("harbour crane", ranking=ranking, folder="Quiet")
    filtered = crowded.reader.counters.vectors_read - before
    crowded.ask("harbour crane", ranking=ranking)
    unfiltered = crowded.reader.counters.vectors_read - before - filtered
    with crowded.reader.snapshot():
        quiet = crowded.reader.connection.execute(
            "SELECT count(*) FROM chunks JOIN files USING(doc) WHERE path GLOB 'Quiet/*'"
        ).get
    assert 0 < filtered <= quiet
    assert filtered < unfiltered


@pytest.mark.requirement("NFR-2")
@pytest.mark.parametrize("ranking", ["best", "meaning"])
def test_without_a_filter_no_vector_is_read_twice(desk, ranking):
    before = desk.reader.counters.vectors_read
    desk.ask("lantern moss", ranking=ranking)
    with desk.reader.snapshot():
        everything = desk.reader.connection.execute("SELECT count(*) FROM vectors WHERE chunk IS NOT NULL").get
    assert 0 < desk.reader.counters.vectors_read - before <= everything


@pytest.mark.requirement("T-3", "FR-12", "NFR-3")
@pytest.mark.parametrize(
    "arguments",
    [
        {"folder": "02-Areas"},
        {"tags": "k8s"},
        {"query": "-moss"},
        {"query": "path:plan"},
        {"modified_after": "2026-03-01"},
    ],
)
@pytest.mark.parametrize("ranking", ["best", "words", "meaning"])
def test_filters_alone_never_ask_for_an_embedder(open_desk, desk, exploding, arguments, ranking):
    alone = open_desk(None, vault=desk.vault)
    alone.embedders = exploding
    answer = alone.ask(**arguments, ranking=ranking)
    assert answer.hits
    assert answer.warnings == ()
    assert [hit.modified for hit in answer.hits] == sorted((hit.modified for hit in answer.hits), reverse=True)


@pytest.mark.requirement("FR-12", "T-4")
@pytest.mark.parametrize("query", ["", "   ", None])
def test_neither_words_nor_a_filter_is_an_error_that_names_the_query(desk, query):
    with pytest.raises(InvalidParameter, match="neither a word to look for nor a filter") as caught:
        desk.ask(query)
    assert caught.value.parameter == "query"


@pytest.mark.requirement("FR-13", "T-4")
def test_an_empty_answer_names_each_filter_and_what_each_alone_lets_through(desk):
    answer = desk.ask(folder="02-Areas", tags=["status/active", "k8s"], modified_after="2026-03-18")
    alone = {
        "folder": sum(below(facts, "02-Areas") for facts in FACTS.values()),
        "status": sum(tagged(facts, "status/active") for facts in FACTS.values()),
        "k8s": sum(tagged(facts, "k8s") for facts in FACTS.values()),
        "after": sum(facts["mtime"] >= day(18) for facts in FACTS.values()),
    }
    assert answer.hits == ()
    assert answer.message == (
        "0 matches for filters: folder=02-Areas, tags=status/active+k8s, modified_after=2026-03-18"
        f" (alone: folder {alone['folder']}, tag status/active {alone['status']}, tag k8s {alone['k8s']},"
        f" modified_after {alone['after']})"
    )


@pytest.mark.requirement("FR-13", "T-4")
@pytest.mark.parametrize(
    ("query", "arguments", "message"),
    [
        ("", {"modified_after": "2027-01-01"}, "0 matches for filters: modified_after=2027-01-01"),
        ("lantern", {"modified_before": "2020"}, "0 matches for filters: modified_before=2020-12-31"),
        ("zzyzzx", {}, "0 matches for 'zzyzzx'."),
        ("zzyzzx", {"folder": "02-Areas"}, "0 matches for 'zzyzzx' with filters: folder=02-Areas"),
        ('"no such piece"', {}, '0 matches: no note holds "no such piece".'),
        (
            "",
            {"exclude_folder": "01-Pro", "tags": "=homelab", "query": "[owner:Cleo]"},
            (
                "0 matches for filters: tags==homelab, property=owner:Cleo, not folder=01-Pro"
                " (alone: tag homelab 28, property owner 0, not folder 60)"
            ),
        ),
    ],
)
def test_messages_of_empty_answers(desk, query, arguments, message):
    answer = desk.ask(**{"query": query, "ranking": "words", **arguments})
    assert (answer.hits, answer.message) == ((), message)


@pytest.mark.requirement("FR-13", "T-4")
def test_an_empty_answer_whose_quoted_piece_is_to_blame_does_not_blame_the_folder(desk):
    message = desk.ask('"no such piece"', folder="02-Areas").message
    assert "no such piece" in message
    assert "folder=02-Areas" in message


@pytest.mark.requirement("FR-13")
def test_the_counts_of_an_empty_answer_are_those_of_the_scope(open_desk, desk):
    scoped = open_desk(None, vault=desk.vault, scope=Scope(folders=("01-Projects",)))
    answer = scoped.ask(tags="k8s", modified_after="2026-03-25")
    inside = sum(below(facts, "01-Projects") and tagged(facts, "k8s") for facts in FACTS.values())
    assert answer.message.endswith(f"(alone: tag k8s {inside}, modified_after 0)")


@pytest.mark.requirement("FR-14", "T-4")
@pytest.mark.parametrize(
    ("arguments", "parameter", "options"),
    [
        ({"tags": ["homelb"]}, "tags", {"homelab"}),
        ({"exclude_tags": "typ/howto"}, "tags", {"type/howto"}),
        ({"tags": ["=type"]}, "tags", {"type/howto"}),
        ({"folder": "01-Project"}, "folder", {"01-Projects"}),
        ({"exclude_folder": "02-Area"}, "folder", {"02-Areas"}),
        ({"modified_after": "tomorrow"}, "modified_after", set()),
        ({"modified_before": "2026-02-30"}, "modified_before", set()),
    ],
)
def test_an_unknown_tag_or_folder_or_a_bad_date_is_refused_by_name_with_the_nearest_ones(
    desk, arguments, parameter, options
):
    with pytest.raises(InvalidParameter) as caught:
        desk.ask("lantern", **arguments)
    assert caught.value.as_json()["error"]["parameter"] == parameter
    assert options <= set(caught.value.options)
