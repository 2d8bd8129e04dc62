from __future__ import annotations

import pytest

from mutants import MUTANTS, PACKAGE, ROOT, TESTS

NUMBERED = [pytest.param(mutant, id=f"{number}-{mutant.file}") for number, mutant in enumerate(MUTANTS, start=1)]


@pytest.mark.parametrize("mutant", NUMBERED)
def test_every_mutant_still_fits_its_file_and_has_tests(mutant):
    text = (ROOT / "core" / PACKAGE / mutant.file).read_text("utf-8")
    changed = mutant.applied(text)
    assert changed != text
    compile(changed, mutant.file, "exec")
    assert mutant.tests
    for name in mutant.tests:
        assert (ROOT / TESTS / name).is_file()


def test_there_are_thirty_different_mutants():
    assert len({(mutant.file, mutant.original, mutant.replacement) for mutant in MUTANTS}) == len(MUTANTS) == 30
