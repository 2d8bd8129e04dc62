from __future__ import annotations

import gc

import pytest

from second_brain import memory


def test_the_search_for_cycles_is_put_off_and_taken_up_again():
    assert gc.isenabled()
    with memory.without_cycle_search():
        assert not gc.isenabled()
        with memory.without_cycle_search():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_taken_up_after_an_error_too():
    with pytest.raises(ZeroDivisionError), memory.without_cycle_search():
        1 / 0  # noqa: B018
    assert gc.isenabled()


def test_who_had_it_off_keeps_it_off():
    gc.disable()
    try:
        with memory.without_cycle_search():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
