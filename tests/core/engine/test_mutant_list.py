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
        assert name in TESTS


def test_the_mutants_are_different():
    assert len({(mutant.file, mutant.original, mutant.replacement) for mutant in MUTANTS}) == len(MUTANTS) >= 30
