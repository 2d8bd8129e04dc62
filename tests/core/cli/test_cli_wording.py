from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain.cli import wording
from second_brain.cli.hit_text import _stretches
from second_brain.cli.output import as_json, harmless
from second_brain.search.query import parse

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (5, "just now"),
        (61, "1 min ago"),
        (3_700, "1 h ago"),
        (86_400, "1 day ago"),
        (13 * 86_400, "13 days ago"),
        (14 * 86_400, "2 weeks ago"),
        (61 * 86_400, "2026-04-30"),
        (-86_400 * 2, "2026-07-02"),
    ],
)
def test_ages_are_told_in_the_largest_fitting_unit(age, expected):
    assert wording.ago(NOW.timestamp() - age, NOW.timestamp()) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("boiler pressure", "boiler pressure"),
        ('"red tap" -rust', '"red tap" without rust'),
        ("folder:Home #a/b -tag:done", "all notes, in Home, tagged #a/b, not tagged #done"),
        ("x after:2026-06-01 before:2026-06-03", "x, changed since 2026-06-01, changed until 2026-06-03"),
        (
            "x title:tap -path:old [status:active] -[due:]",
            'x, title with "tap", path without "old", with status = active, without due',
        ),
        ("tag:=home", "all notes, tagged #home (exactly)"),
    ],
)
def test_a_query_in_plain_words(query, expected):
    assert wording.plain_words(parse(query, now=NOW)) == expected


@pytest.mark.parametrize(("count", "expected"), [(1, "1 note"), (0, "0 notes"), (2310, "2,310 notes")])
def test_counts_agree_with_their_noun(count, expected):
    assert wording.plural(count, "note") == expected


@pytest.mark.parametrize(
    ("count", "expected"), [(512, "512 B"), (3_400_000, "3.4 MB"), (7_000_000_000_000, "7000.0 GB")]
)
def test_sizes(count, expected):
    assert wording.size(count) == expected


def test_lists_are_cut_and_say_how_many_are_left():
    assert wording.listed(["a", "b"]) == "a, b"
    assert wording.listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


@pytest.mark.parametrize("room", [0, 3, 8, 100])
@pytest.mark.parametrize("text", ["one two three four", "", "\n\na", "unbreakable-word here", "a  b   c"])
def test_wrapping_loses_nothing_but_spaces_and_keeps_lines(text, room):
    lines = [text[start:end] for start, end in _stretches(text, room)]
    assert "".join(lines).replace(" ", "") == text.replace("\n", "").replace(" ", "")
    assert len(lines) >= text.count("\n") + 1
    assert all(len(line) <= room for line in lines) or not room


def test_what_commands_a_terminal_is_replaced_one_by_one():
    assert harmless("a\x1b[31m\tb\n\u202ec\x9b") == "a\ufffd[31m\tb\n\ufffdc\ufffd"


def test_json_fits_the_stream_and_has_no_half_characters():
    class Ascii:
        encoding = "ascii"

    class Utf8:
        encoding = "UTF-8"

    assert as_json({"a": "é"}, Ascii()) == '{"a": "\\u00e9"}'
    assert as_json({"a": "é\ud800"}, Utf8()) == '{"a": "é\ufffd"}'
