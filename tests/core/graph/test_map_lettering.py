"""Labels of a picture: clean, short enough, never over each other; discs beside each other."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from second_brain.graph import packing
from second_brain.graph.lettering import Box, Wish, clean, place, shortened, width

pytestmark = pytest.mark.requirement("RG-7")

FRAME = Box(0, 0, 400, 300)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b\x1bc", "abc"),
        ("two\n lines\tof  it ", "two lines of it"),
        ("over\u202eride\u2066d", "overrided"),
        ("\ud800lone\ufffe\uffff", "lone"),
        ("\ufeffmark", "mark"),
        ("👩\u200d👩 Café 日本", "👩\u200d👩 Café 日本"),
    ],
)
def test_what_xml_or_the_direction_of_others_forbids_is_left_out(text, shown):
    assert clean(text) == shown


def test_a_letter_of_chinese_takes_about_twice_a_latin_one_and_a_mark_above_nothing():
    assert 1.5 < width("日本語", 10) / width("abc", 10) < 2.5
    assert width("e\u0301", 10) == width("e", 10)
    assert width("abc", 10, bold=True) > width("abc", 10)


@pytest.mark.parametrize(
    "text", ["short", "a title that is much too long to fit", "長い題名は収まりませんので切ります", "W" * 90, "🚣" * 50]
)
@pytest.mark.parametrize("widest", [40, 80, 150])
def test_a_long_title_is_its_beginning_and_an_ellipsis(text, widest):
    shown = shortened(text, 12, widest)
    assert width(shown, 12) <= widest
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1].rstrip()))


def test_a_title_is_not_cut_between_a_letter_and_its_mark():
    for widest in range(10, 80):
        shown = shortened("e\u0301" * 30, 12, widest)
        assert shown.endswith("…")
        assert shown.count("e") == shown.count("\u0301")


def test_a_sign_is_not_cut_from_the_tone_of_its_skin():
    for widest in range(30, 200):
        shown = shortened("🚣🏽" * 30, 12, widest)
        assert shown.count("🚣") == shown.count("🏽")


def scattered(seed, number=60):
    rng = random.Random(seed)
    words = ["Boat", "Restore drill", "バックアップ", "A title of many words that goes on", "x"]
    return [
        Wish(rng.choice(words), rng.uniform(0, 400), rng.uniform(0, 300), 6, must=at % 9 == 0) for at in range(number)
    ]


def test_labels_meet_neither_each_other_nor_dots_nor_leave_the_picture():
    for seed in range(30):
        wishes = scattered(seed)
        taken = [Box(w.x - 4, w.y - 4, w.x + 4, w.y + 4) for w in wishes]
        boxes = [label.box for label in place(wishes, taken, FRAME) if label]
        assert len(boxes) > 10
        assert all(box.within(FRAME) for box in boxes)
        assert not any(one.meets(other) for one, other in combinations(boxes, 2))
        assert not any(box.meets(dot) for box in boxes for dot in taken)


def test_a_label_that_must_stand_goes_farther_off_where_others_are_left_out():
    crowd = [Wish("Alone here", 200, 150, 5, must=True) for _ in range(15)] + [Wish("Alone here", 200, 150, 5)]
    labels = place(crowd, [], FRAME)
    assert all(labels[:-1])
    assert labels[-1] is None
    assert any(label.far for label in labels[:-1])


def test_a_label_that_must_stand_is_placed_before_others():
    first, must = place([Wish("one", 5, 150, 3), Wish("two", 5, 150, 3, must=True)], [], Box(0, 130, 40, 170))
    assert must.text == "two"
    assert not must.far
    assert first is None or not first.box.meets(must.box)


@pytest.mark.parametrize("number", [1, 2, 7, 24])
def test_discs_lie_apart_inside_the_frame_and_their_areas_are_as_the_weights(number):
    for seed in range(4):
        rng = random.Random(seed)
        weights = [rng.choice([1, 2, 5, 30]) for _ in range(number)]
        ties = {pair: rng.random() for pair in combinations(range(number), 2) if rng.random() < 0.3}
        found = packing.discs(weights, ties, FRAME, 20)
        assert all(Box(x - r, y - r, x + r, y + r).within(Box(-1, -1, 401, 301)) for x, y, r in found)
        apart = [((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5 - a[2] - b[2] for a, b in combinations(found, 2)]
        assert min(apart, default=1) > 0
        assert all(
            r * r / w == pytest.approx(found[0][2] ** 2 / weights[0])
            for (_, _, r), w in zip(found, weights, strict=True)
        )


def test_discs_have_the_same_places_each_time():
    ties = {(0, 1): 1.0, (2, 3): 0.5}
    turned = dict(reversed(ties.items()))
    assert packing.discs([3, 2, 1, 1], ties, FRAME, 20) == packing.discs([3, 2, 1, 1], turned, FRAME, 20)


def test_no_discs_need_no_room():
    assert packing.discs([], {}, FRAME, 20) == []
