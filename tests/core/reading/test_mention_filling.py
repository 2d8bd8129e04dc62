from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from second_brain.reading.filling import fill, fill_in_order
from second_brain.reading.mentions import find_mentions
from second_brain.tokencount import estimate

PARAGRAPH = (
    "[[Mira]] "
    + "took the lantern down to the harbour and counted the boats twice before she said anything at all about it " * 4
)


class Note(NamedTuple):
    path: str
    total: int
    least: int = 0


def filled(costs, budget, totals=None, least=None):
    """What `fill` shows of notes with these costs, and the notes whose costs it asked for."""
    asked = []

    def costs_of(path):
        asked.append(path)
        return costs[path]

    notes = [
        Note(path, (totals or {}).get(path, len(own)), sum(own) if least is None else least.get(path, 0))
        for path, own in sorted(costs.items())
    ]
    shown = fill(notes, costs_of, budget)
    return {path: count for path, count in shown.items() if count}, asked


@pytest.mark.requirement("SV-4")
@pytest.mark.parametrize(
    ("costs", "budget", "expected"),
    [
        pytest.param({"a.md": [10, 10], "b.md": [20]}, 40, {"a.md": 2, "b.md": 1}, id="everything fits"),
        pytest.param({"a.md": [40]}, 40, {"a.md": 1}, id="one that fits exactly"),
        pytest.param({"a.md": [10] * 10}, 50, {"a.md": 5}, id="one note may take the whole budget"),
        pytest.param({"a.md": [10] * 10, "b.md": [10] * 10}, 80, {"a.md": 4, "b.md": 4}, id="an even share of two"),
        pytest.param(
            {name: [10] * 9 for name in ("a.md", "b.md", "c.md", "d.md", "e.md")},
            80,
            dict.fromkeys(("a.md", "b.md", "c.md", "d.md"), 2),
            id="a quarter each",
        ),
        pytest.param(
            {"a.md": [10] * 9, "x/b.md": [10], "x/c.md": [10], "y/d.md": [30], "y/e.md": [9]},
            40,
            {"a.md": 1, "x/b.md": 1, "x/c.md": 1, "y/e.md": 1},
            id="every folder, and the next note after one that does not fit",
        ),
        pytest.param(
            {"a/x.md": [10, 10, 30, 10], "b.md": [5], "c.md": [5], "d.md": [100]},
            100,
            {"a/x.md": 2, "b.md": 1, "c.md": 1},
            id="a note ends at the first that does not fit",
        ),
        pytest.param({"a.md": [10], "b.md": [10]}, 0, {}, id="no budget"),
        pytest.param({"a.md": [10], "b.md": [10]}, -5, {}, id="less than none"),
        pytest.param({"a.md": [0]}, 0, {"a.md": 1}, id="nothing costs nothing"),
        pytest.param({}, 100, {}, id="no notes"),
        pytest.param({}, -1, {}, id="no notes, less than no budget"),
    ],
)
def test_the_budget_is_filled(costs, budget, expected):
    assert filled(costs, budget)[0] == expected
    assert filled(costs, budget, least={})[0] == expected


@pytest.mark.requirement("SV-4")
def test_the_notes_with_the_most_mentions_come_first():
    costs = {"x/a.md": [30], "x/b.md": [30], "y/c.md": [30], "y/d.md": [30], "y/e.md": [30]}
    assert filled(costs, 120, {"x/b.md": 5, "y/d.md": 3, "y/e.md": 4})[0] == {
        "x/a.md": 1,
        "x/b.md": 1,
        "y/d.md": 1,
        "y/e.md": 1,
    }


@pytest.mark.requirement("SV-4")
def test_the_folders_take_turns_by_single_excerpts():
    costs = {"x/a.md": [10] * 5, "y/b.md": [10] * 5, "c.md": [10] * 5, "d.md": [10] * 5}
    assert filled(costs, 50)[0] == {"c.md": 1, "x/a.md": 1, "y/b.md": 1, "d.md": 1}
    assert filled(costs, 120)[0] == {"c.md": 3, "x/a.md": 3, "y/b.md": 3, "d.md": 3}


def test_few_costs_are_asked_for_when_the_least_is_too_much():
    costs = {f"{number % 7}/{number}.md": [100] for number in range(2000)}
    shown, asked = filled(costs, 4000, least=dict.fromkeys(costs, 5))
    assert len(shown) == 40
    assert len(set(asked)) < 100


@pytest.mark.parametrize("seed", range(100))
def test_notes_stay_within_cap_and_budget_whatever_they_cost(seed):
    dice = random.Random(seed)
    costs = {
        f"{dice.choice(('', 'x/', 'y/', 'z/w/'))}{number}.md": [dice.randint(1, 60) for _ in range(dice.randint(1, 9))]
        for number in range(dice.randint(1, 12))
    }
    budget = dice.randint(0, 700)
    shown, _ = filled(costs, budget, least={path: dice.randint(0, sum(own)) for path, own in costs.items()})
    spent = {path: sum(costs[path][:count]) for path, count in shown.items()}
    assert sum(spent.values()) <= budget
    if sum(map(sum, costs.values())) <= budget:
        assert shown == {path: len(own) for path, own in costs.items()}
    else:
        cap = max(budget / 4, budget / len(costs))
        assert all(cost <= max(cap, costs[path][0]) for path, cost in spent.items())


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (100, {"a": 2, "b": 1, "c": 1}),
        (50, {"a": 2, "b": 1, "c": 0}),
        (45, {"a": 2, "b": 0}),
        (9, {"a": 0}),
        (-1, {"a": 0}),
    ],
)
def test_in_order_it_ends_at_the_first_that_does_not_fit(budget, expected):
    costs = {"a": [10, 20], "b": [20], "c": [1]}
    assert fill_in_order(costs, costs.__getitem__, budget) == expected


@pytest.fixture(scope="module")
def heavy():
    """Four notes that link to one; the first has 60 mentions of about 93 tokens each."""
    text = PARAGRAPH[: 93 * 4]
    assert estimate(text) == 93
    files = {"People/Mira.md": "# Mira\n", "Sessions/Session 12.md": "\n\n".join([text] * 60)}
    return files | {f"{folder}/n.md": "with [[Mira]]" for folder in ("Items", "Places", "Lore")}


@pytest.mark.requirement("SV-4")
def test_of_a_heavy_note_a_quarter_of_the_budget_is_shown(index_of, heavy):
    found = find_mentions(index_of(heavy).reader, "Mira")
    assert (found.total, found.notes) == (63, 4)
    counts = {path: sum(one.mentions for one in found.shown if one.path == path) for path in heavy}
    assert counts["Sessions/Session 12.md"] == 10
    assert [counts[f"{folder}/n.md"] for folder in ("Items", "Places", "Lore")] == [1, 1, 1]
    assert [(note.path, note.count) for note in found.map] == [("Sessions/Session 12.md", 50)]
    assert found.next.paths == ("Sessions/Session 12.md",)
    assert found.next.after == ("Sessions/Session 12.md:19",)


@pytest.mark.requirement("SV-4")
@pytest.mark.parametrize("paths", ["Session 12", ["Sessions/Session 12"], ["[[Session 12]]", "Sessions/Session 12.md"]])
def test_a_call_for_the_heavy_note_alone_takes_the_whole_budget(index_of, heavy, paths):
    found = find_mentions(index_of(heavy).reader, "Mira", paths=paths)
    assert (found.total, found.notes) == (60, 1)
    assert sum(one.mentions for one in found.shown) == 43
    assert found.tokens == 43 * 93
    assert found.next.after == ("Sessions/Session 12.md:85",)


@pytest.mark.requirement("SV-3")
def test_a_first_excerpt_dearer_than_its_share_is_shown_when_the_budget_holds_it():
    shown, _ = filled({f"{number}.md": [1_800] for number in range(5)}, 4_000)
    assert sum(shown.values()) == 2
    shown, _ = filled({**{f"a/{number}.md": [110, 9] for number in range(3)}, "a/3.md": [10], "b/1.md": [40]}, 400)
    assert shown["b/1.md"] == 1
    assert sum(path.startswith("a/") for path in shown) >= 3
