from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.errors import InvalidParameter
from second_brain.search.query import Filters, TagFilter, Term
from second_brain.search.request import Ranking, from_arguments

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)


def refused(**arguments):
    with pytest.raises(InvalidParameter) as failure:
        from_arguments(**{"now": NOW, **arguments})
    assert failure.value.hint
    return failure.value.parameter


def filters_of(**arguments):
    return from_arguments(**{"now": NOW, **arguments}).query.filters


@pytest.mark.requirement("FR-12")
@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": "  \n"}, {"query": "", "tags": []}])
def test_neither_words_nor_filters_is_refused(arguments):
    assert refused(**arguments) == "query"


@pytest.mark.requirement("FR-12")
@pytest.mark.parametrize(
    "arguments",
    [{"folder": "a"}, {"tags": "a"}, {"modified_after": "2026"}, {"query": "folder:a"}, {"query": " ", "tags": ["a"]}],
)
def test_one_filter_is_enough(arguments):
    request = from_arguments(**arguments, now=NOW)
    assert request.query.text == ""
    assert request.query.filters


@pytest.mark.requirement("FR-14")
@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"top_k": 0}, "top_k"),
        ({"top_k": -5}, "top_k"),
        ({"top_k": 51}, "top_k"),
        ({"top_k": 100000}, "top_k"),
        ({"top_k": True}, "top_k"),
        ({"top_k": 2.5}, "top_k"),
        ({"top_k": "5"}, "top_k"),
        ({"top_k": None}, "top_k"),
        ({"ranking": "fuzzy"}, "ranking"),
        ({"ranking": 1}, "ranking"),
        ({"query": 7}, "query"),
        ({"folder": ".."}, "folder"),
        ({"folder": "a/../b"}, "folder"),
        ({"folder": ""}, "folder"),
        ({"folder": "/"}, "folder"),
        ({"folder": {"a": 1}}, "folder"),
        ({"exclude_folder": "..\\x"}, "exclude_folder"),
        ({"tags": ["a", 5]}, "tags"),
        ({"tags": "#"}, "tags"),
        ({"exclude_tags": [""]}, "exclude_tags"),
        ({"modified_after": "last tuesday"}, "modified_after"),
        ({"modified_after": ""}, "modified_after"),
        ({"modified_before": "2026-02-30"}, "modified_before"),
        ({"modified_before": 2026}, "modified_before"),
    ],
)
def test_an_unusable_argument_is_refused_by_name(arguments, parameter):
    assert refused(**{"query": "cello", **arguments}) == parameter


@pytest.mark.parametrize(
    "folder", ["Thoughts/x", "Thoughts/x/", "/Thoughts/x", "Thoughts\\x\\", "./Thoughts//x", ["Thoughts/x"]]
)
def test_a_folder_is_the_same_however_its_slashes_are_given(folder):
    assert filters_of(folder=folder).folders == ("Thoughts/x",)


@pytest.mark.requirement("FR-10")
def test_tags_come_as_text_or_list_with_or_without_the_hash():
    assert filters_of(tags="#area").tags == (TagFilter("area"),)
    assert filters_of(tags=["a", "#=b", "a"]).tags == (TagFilter("a"), TagFilter("b", exact=True))


def test_dates_with_and_without_an_offset_go_together():
    filters = filters_of(modified_after="2020-01-01T00:00:00Z", modified_before="2099-01-01")
    assert filters.modified_from < filters.modified_to
    assert filters.describe() == "modified_after=2020-01-01, modified_before=2099-01-01"


def test_arguments_and_the_grammar_of_the_query_apply_together():
    request = from_arguments(
        query="heron folder:a/b #x after:2026-02-01 -[done:]",
        folder=["A", "c"],
        tags=["y"],
        modified_after="2026-01-01",
        modified_before="2026-03-01",
        exclude_folder="a/b/c",
        exclude_tags="z",
        now=NOW,
    )
    assert request.query.terms == (Term("heron"),)
    assert request.query.filters.describe() == (
        "folder=a/b, tags=y+x, modified_after=2026-02-01, modified_before=2026-03-01, "
        "not folder=a/b/c, not tags=z, not property=done:"
    )


def test_a_folder_beside_the_one_in_the_query_is_refused_and_does_not_widen():
    assert refused(query="heron folder:ab", folder="a") == "folder"


@pytest.mark.parametrize("ranking", ["best", "meaning", "words"])
def test_rankings_are_known_by_name(ranking):
    assert from_arguments(query="x", ranking=ranking, now=NOW).ranking is Ranking(ranking)


def test_what_is_left_out_has_its_default():
    request = from_arguments(query="after:foo", now=NOW)
    assert (request.top_k, request.ranking, request.query.filters) == (5, Ranking.BEST, Filters())
    assert request.query.notes == ("after:foo is not a date; searched as text",)


@given(st.text(), st.text(), st.text(), st.text())
def test_any_text_gives_a_request_or_an_error_that_names_an_argument(query, folder, tag, date):
    arguments = {"query": query, "folder": folder, "tags": [tag], "modified_after": date}
    failed = None
    try:
        request = from_arguments(**arguments, now=NOW)
    except InvalidParameter as failure:
        failed = failure.parameter
    assert failed in arguments if failed else request.query.filters
