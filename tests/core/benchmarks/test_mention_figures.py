"""The figures that are promised of mentions, on the vault with hubs that the shared script makes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

import mentions
from measure import Skipped
from stage import Stage, opened


@pytest.fixture(scope="module", params=["hubs469", "hubs469-7"])
def figures(request, tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("figures"))
    try:
        vault = stage.vault(request.param)
    except Skipped as reason:
        pytest.skip(str(reason))
    brain = opened(vault, stage.words_db(request.param))
    found = mentions.figures_of(brain)
    brain.close()
    return found


@pytest.mark.requirement("SV-12")
def test_most_linked_notes_are_complete_in_one_call(figures):
    assert figures.linked > 300
    assert figures.complete >= 0.9


@pytest.mark.requirement("SV-12")
def test_the_first_call_of_the_biggest_hub_reaches_every_folder_and_fills_its_budget(figures):
    assert figures.folders == 1.0
    assert 3_900 <= figures.excerpts <= 4_000


@pytest.mark.requirement("SV-12")
def test_no_note_takes_more_than_its_part_of_a_first_call(figures):
    assert 0 < figures.largest <= 0.27


@pytest.mark.requirement("SV-13")
def test_reading_by_mentions_takes_ten_times_fewer_tokens_than_whole_notes(figures):
    assert figures.ladder >= 10
