from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from second_brain.search.query import (
    ContainsFilter,
    Filters,
    PropertyFilter,
    Query,
    TagFilter,
    Term,
    parse,
    tag_filter,
    unparse,
)

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 6, 10, 15, 30, tzinfo=BERLIN)  # a Wednesday

KEYS = (
    "folder:",
    "tag:",
    "path:",
    "title:",
    "after:",
    "before:",
    "Folder:",
    "#",
    "[",
    "[due:",
    "[a:",
    "-",
    '"',
    "]",
    "=",
)
VALUES = (
    "x",
    "My Folder",
    "7d",
    "last week",
    "2026-06-01",
    "..",
    "/",
    "./a\\b",
    "é",
    "e\u0301",
    "#",
    "=",
    "\u037e",
    "1",
)
GLUE = (" ", "  ", "\n", "", "", '"', '"', '" "')
GRAMMATICAL = st.lists(st.sampled_from(KEYS + VALUES + GLUE), max_size=14).map("".join)


@given(GRAMMATICAL | st.text(max_size=40), st.sampled_from([NOW, NOW.astimezone(UTC), datetime(2026, 1, 1)]))  # noqa: DTZ001
@example('folder:"x y" "a', NOW)
@example('[a:"x folder:"q" "]', NOW)
@example('after:"last folder:x week"', NOW)
@example('folder:/"x tag:#"y tag:==z', NOW)
@example('" "" " "a', NOW)
@example("#a\u037e", NOW)
@example("before:0001 after:9999", NOW)
@example("before:9999999d after:120000m", NOW)
def test_any_text_parses_and_printing_is_the_inverse(text, now):
    query = parse(text, now=now)
    again = parse(unparse(query, now=now), now=now)
    assert again == query
    assert again.notes == query.notes


def test_a_long_text_is_read_in_linear_time():
    query = parse('" ' + '-"a" [b:"c d folder:"e ' * 5000, now=NOW)
    assert len(query.terms) > 5000


def plain(*words):
    return tuple(Term(word) for word in words)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("two words", plain("two", "words")),
        ('"a phrase" word', (Term("a phrase", phrase=True), Term("word"))),
        ('-word -"a phrase"', (Term("word", excluded=True), Term("a phrase", phrase=True, excluded=True))),
        ("-C++", (Term("C++", excluded=True),)),
        ("rock AND roll OR NOT NEAR(pier ^rock*", plain("rock", "AND", "roll", "OR", "NOT", "NEAR(pier", "^rock*")),
        ("C++ state-of-the-art DEC-0054 ...", plain("C++", "state-of-the-art", "DEC-0054", "...")),
        ("- -- --flag -> :-) #1 # #a,b", plain("-", "--", "--flag", "->", ":-)", "#1", "#", "#a,b")),
        ("http://example.org/x#frag other:thing", plain("http://example.org/x#frag", "other:thing")),
        ("[weekly] [[Link]] [12:30] [a]", plain("[weekly]", "[[Link]]", "[12:30]", "[a]")),
        ("[text](page) [a:b](c)", plain("[text](page)", "[a:b](c)")),
        ('"unclosed words', plain('"unclosed', "words")),
        ('-"unclosed', plain('-"unclosed')),
        ('5" pipe', plain('5"', "pipe")),
        ('"" x', plain('""', "x")),
        ("folder: Projects", plain("folder:", "Projects")),
        ("Ops & Dev | sync: Tuesday", plain("Ops", "&", "Dev", "|", "sync:", "Tuesday")),
        ("a\0b \ud800", plain("ab", "\ufffd")),
        ("", ()),
    ],
)
def test_everything_that_is_no_filter_is_text(text, terms):
    assert parse(text, now=NOW) == Query(terms)


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ('folder:"My Folder" -folder:x/y/', Filters(folders=("My Folder",), excluded_folders=("x/y",))),
        ("folder:.\\a\\b FOLDER:/a/b", Filters(folders=("a/b",))),
        ("#home tag:#home tag:work/", Filters(tags=(TagFilter("home"), TagFilter("work")))),
        (
            "tag:=area -#old #año #🎉",
            Filters((), (), (TagFilter("area", exact=True), TagFilter("año"), TagFilter("🎉")), (TagFilter("old"),)),
        ),
        ('tag:"a b" tag:1984', Filters(tags=(TagFilter("a b"), TagFilter("1984")))),
        (
            'path:logs\\2026 -title:"two words"',
            Filters(
                contains=(ContainsFilter("path", "logs/2026"), ContainsFilter("title", "two words", excluded=True))
            ),
        ),
        (
            '[status:done] -[due:] [rating:"4 5"]',
            Filters(
                properties=(
                    PropertyFilter("status", "done"),
                    PropertyFilter("due", "", excluded=True),
                    PropertyFilter("rating", "4 5"),
                )
            ),
        ),
    ],
)
def test_filters_are_read_and_leave_no_text(text, filters):
    assert parse(text, now=NOW) == Query((), filters)


def berlin(*parts):
    return datetime(*parts, tzinfo=BERLIN)


@pytest.mark.requirement("FR-10")
@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        ("2026-06-01", berlin(2026, 6, 1), berlin(2026, 6, 1, 23, 59, 59, 999999)),
        ("2026-02", berlin(2026, 2, 1), berlin(2026, 2, 28, 23, 59, 59, 999999)),
        ("2025", berlin(2025, 1, 1), berlin(2025, 12, 31, 23, 59, 59, 999999)),
        ("2026-01-15T10:00", berlin(2026, 1, 15, 10), berlin(2026, 1, 15, 10, 0, 59, 999999)),
        (
            "2026-01-15T10:00:00Z",
            datetime(2026, 1, 15, 10, tzinfo=UTC),
            datetime(2026, 1, 15, 10, 0, 0, 999999, tzinfo=UTC),
        ),
        ("today", berlin(2026, 6, 10), berlin(2026, 6, 10, 23, 59, 59, 999999)),
        ("yesterday", berlin(2026, 6, 9), berlin(2026, 6, 9, 23, 59, 59, 999999)),
        ("7d", berlin(2026, 6, 3), berlin(2026, 6, 3, 23, 59, 59, 999999)),
        ("2w", berlin(2026, 5, 27), berlin(2026, 5, 27, 23, 59, 59, 999999)),
        ("4m", berlin(2026, 2, 10), berlin(2026, 2, 10, 23, 59, 59, 999999)),
        ("1y", berlin(2025, 6, 10), berlin(2025, 6, 10, 23, 59, 59, 999999)),
        ('"this week"', berlin(2026, 6, 8), berlin(2026, 6, 14, 23, 59, 59, 999999)),
        ('"last week"', berlin(2026, 6, 1), berlin(2026, 6, 7, 23, 59, 59, 999999)),
        ("last-month", berlin(2026, 5, 1), berlin(2026, 5, 31, 23, 59, 59, 999999)),
        ("LAST-YEAR", berlin(2025, 1, 1), berlin(2025, 12, 31, 23, 59, 59, 999999)),
        ("this-month", berlin(2026, 6, 1), berlin(2026, 6, 30, 23, 59, 59, 999999)),
    ],
)
def test_a_date_means_its_whole_unit_in_local_time(value, start, end):
    filters = parse(f"after:{value} before:{value}", now=NOW).filters
    assert (filters.modified_from, filters.modified_to) == (start.astimezone(UTC), end.astimezone(UTC))


def test_of_several_dates_the_narrowest_count():
    filters = parse("after:2026-01-01 after:2026-03-01 before:2026-05-01 before:2026-04-01", now=NOW).filters
    assert filters.describe() == "modified_after=2026-03-01, modified_before=2026-04-01"


@pytest.mark.parametrize(
    ("text", "words", "notes"),
    [
        ("after:foo bar", ("after:foo", "bar"), ("after:foo is not a date; searched as text",)),
        ("tag:", ("tag:",), ("tag: has no value right behind the colon; searched as text",)),
        ("Title: minutes", ("Title:", "minutes"), ("title: has no value right behind the colon; searched as text",)),
        ('folder:"" x', ('folder:""', "x"), ("folder: has no value right behind the colon; searched as text",)),
        ("before:2026-02-30", ("before:2026-02-30",), ("before:2026-02-30 is not a date; searched as text",)),
        ('after:"not a date"', ('after:"not a date"',), ("after:not a date is not a date; searched as text",)),
        ("folder:../x", ("folder:../x",), ("folder:../x is not a folder of the vault; searched as text",)),
        ("tag:#", ("tag:#",), ("tag:# is not a tag; searched as text",)),
        ("-after:2026", (), ("after:2026 cannot be excluded; searched as text",)),
        (
            "after: foo",
            ("after:", "foo"),
            ("after: has no value right behind the colon; searched as text",),
        ),
    ],
)
def test_a_malformed_filter_is_searched_as_text_and_told(text, words, notes):
    query = parse(text, now=NOW)
    assert not query.filters
    assert (query.words, query.notes) == (words, notes)


def test_the_embedder_sees_words_and_phrases_only():
    query = parse('plain "two words" -gone #tag folder:x end', now=NOW)
    assert query.text == "plain two words end"
    assert query.words == ("plain", "end")
    assert query.phrases == ("two words",)
    assert query.excluded == (Term("gone", excluded=True),)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ('x folder:"a b" y #home', 'folder:"a b" #home x y'),
        ('after:"last week"', "after:2026-06-01"),
        ("before:yesterday", "before:2026-06-09"),
        ("after:2026-01-15T10:00", "after:2026-01-15T10:00:00.000000+01:00"),
        ('tag:=area tag:"a b" -[due:] [r:"4 5"]', 'tag:=area tag:"a b" -[due:] [r:"4 5"]'),
        ("-title:x PATH:y -z", "-title:x path:y -z"),
    ],
)
def test_a_query_is_printed_filters_first_and_dates_absolute(text, printed):
    assert unparse(parse(text, now=NOW), now=NOW) == printed


@pytest.mark.requirement("FR-13")
def test_active_filters_are_described_each_by_name():
    query = parse("folder:01-Projects #homelab tag:=k8s after:2026-06-01 [status:done] -#old title:plan", now=NOW)
    assert query.filters.describe() == (
        "folder=01-Projects, tags=homelab+=k8s, modified_after=2026-06-01, title=plan, property=status:done, not tags=old"
    )
    assert query.filters
    assert not Filters()
    assert Filters().describe() == ""


def test_a_moment_inside_a_day_is_described_to_the_second():
    assert (
        parse("after:2026-06-01T10:30:00+05:30", now=NOW).filters.describe()
        == "modified_after=2026-06-01T10:30:00+05:30"
    )


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("#a", TagFilter("a")),
        (" =#a/ ", TagFilter("a", exact=True)),
        ("c#", TagFilter("c#")),
        ("#", None),
        ("=", None),
        ("/", None),
    ],
)
def test_a_tag_is_read_from_any_way_to_write_it(text, tag):
    assert tag_filter(text) == tag


def test_an_hour_that_exists_twice_is_meant_from_first_to_last():
    filters = parse("after:2026-10-25T02:30 before:2026-10-25T02:30", now=NOW).filters
    assert filters.modified_to - filters.modified_from == timedelta(hours=1, seconds=59, microseconds=999999)
    assert filters.modified_from.tzinfo == timezone(timedelta(hours=2))
