from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.errors import InvalidParameter
from second_brain.search.dates import (
    LOCAL,
    describe_moment,
    iso_moment,
    iso_text,
    local_now,
    moment_of,
    relative_moment,
)

PLUS_TWO = timezone(timedelta(hours=2))


@pytest.mark.requirement("FR-10", "FR-14")
@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("2026", "2026-01-01T00:00:00+02:00"),
        ("2026-06", "2026-06-01T00:00:00+02:00"),
        (" 2026-06-01 ", "2026-06-01T00:00:00+02:00"),
        ("2026-06-01 10:30", "2026-06-01T10:30:00+02:00"),
        ("2026-06-01t10:30:05z", "2026-06-01T10:30:05+00:00"),
        ("2026-06-01T10:30:05.25-03:30", "2026-06-01T10:30:05.250000-03:30"),
        ("2026-06-01T10:30:05,5+0200", "2026-06-01T10:30:05.500000+02:00"),
        ("2026-06-01T10+02", None),
        ("2020-01-01T00:00:00+02", "2020-01-01T00:00:00+02:00"),
    ],
)
def test_iso_forms_are_read_in_the_zone_given(text, start):
    if start is None:
        with pytest.raises(InvalidParameter):
            iso_moment(text, parameter="modified_after", end=False, zone=PLUS_TWO)
    else:
        moment = iso_moment(text, parameter="modified_after", end=False, zone=PLUS_TWO)
        assert moment.isoformat() == start


@pytest.mark.requirement("FR-14")
@pytest.mark.parametrize(
    "text",
    ["last tuesday", "7d", "", "2026-02-30", "2026-13-01", "0000", "2026-W10", "2026-160", "20260601", "٢٠٢٦", "2026-06-01T25:00",
     "2026-06-01T10:00+25:00", "1750000000", "2026-06-01T", 2026, None],
)  # fmt: skip
def test_anything_else_is_refused_by_the_name_of_its_parameter(text):
    with pytest.raises(InvalidParameter) as failure:
        iso_moment(text, parameter="modified_before", end=True, zone=UTC)
    assert failure.value.parameter == "modified_before"
    assert "modified_before" in failure.value.message
    assert "2026-06-01" in failure.value.hint


@given(st.datetimes(), st.booleans(), st.sampled_from([UTC, PLUS_TWO, LOCAL]))
def test_the_printed_form_of_a_moment_reads_back_as_the_same_moment(naive, end, zone):
    moment = iso_moment(naive.isoformat(timespec="microseconds"), parameter="x", end=end, zone=zone)
    assert iso_moment(iso_text(moment, zone=zone, end=end), parameter="x", end=end, zone=zone) == moment


@given(
    st.text(max_size=12) | st.from_regex(r"\A[0-9]{1,6}[dwmy]\Z"), st.datetimes(timezones=st.just(UTC)), st.booleans()
)
def test_reading_a_date_never_raises(text, now, end):
    for moment in (relative_moment(text, now=now, end=end), moment_of(text, now=now, end=end)):
        assert moment is None or moment.tzinfo is not None


def test_months_back_from_a_long_month_end_in_the_last_day_of_a_short_one():
    now = datetime(2026, 3, 31, 12, tzinfo=UTC)
    assert relative_moment("1m", now=now, end=False) == datetime(2026, 2, 28, tzinfo=UTC)


@pytest.mark.parametrize("text", ["9999y", "999999d", "3000y", "next week", "d", "-3d", "3 d x"])
def test_what_lies_before_the_calendar_or_is_no_date_is_none(text):
    assert relative_moment(text, now=datetime(2026, 6, 1, tzinfo=UTC), end=False) is None


def test_a_whole_day_is_described_by_its_date_alone():
    assert describe_moment(datetime(2026, 6, 1, 23, 59, 59, 999999, tzinfo=UTC), end=True) == "2026-06-01"
    assert describe_moment(datetime(2026, 6, 1, 23, 59, 59, 999999, tzinfo=UTC), end=False) != "2026-06-01"


def test_the_local_zone_knows_summer_time():
    code = (
        "from second_brain.search.dates import iso_moment, LOCAL\n"
        "from datetime import datetime, UTC\n"
        "for day in ('2026-01-15', '2026-07-15'):\n"
        "    print(iso_moment(day, parameter='x', end=False, zone=LOCAL).isoformat())\n"
        "print(datetime(2026, 7, 15, 12, tzinfo=UTC).astimezone(LOCAL).isoformat())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"TZ": "Europe/Berlin"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [
        "2026-01-15T00:00:00+01:00",
        "2026-07-15T00:00:00+02:00",
        "2026-07-15T14:00:00+02:00",
    ]


def test_the_present_is_aware_and_now():
    assert abs(local_now() - datetime.now(UTC)) < timedelta(minutes=1)
    assert local_now().tzinfo is LOCAL
