from __future__ import annotations

import ast
from pathlib import Path

import pytest

from second_brain.config.docs import table
from second_brain.config.options import LATER, OPTIONS, RETIRED, SCOPE_OPTIONS, VAULT_OPTIONS
from second_brain.config.template import render

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "configuration.md"
ASKED_FOR_NOTHING = {"watch_enabled", "schema_tags"}
"""Read, but only to be reported, or for a face that is not there yet."""


def test_every_key_and_variable_stands_in_the_table_once():
    text = table()
    plain = [option for option in OPTIONS if option.kind != "table"]
    for option in (*plain, *VAULT_OPTIONS, *SCOPE_OPTIONS):
        assert text.count(f"| `{option.key}` |") == 1
        assert not option.env or f"`{option.env}`" in text
    assert all(f"`{key}` | retired" in text for key in RETIRED)
    assert {line.replace("\\|", "").count("|") for line in text.splitlines()} == {6}


def test_the_page_holds_the_generated_table():
    assert table() in PAGE.read_text("utf-8")


def read_by_the_program():
    """The options, and the columns of scopes, that code outside of `config` reads as attributes."""
    core = ROOT / "core" / "second_brain"
    files = [path for path in core.rglob("*.py") if path.parent.name != "config"]
    attributes = set()
    for path in files:
        tree = ast.parse(path.read_text("utf-8"))
        attributes |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return attributes


@pytest.mark.parametrize(
    "option",
    [*(option for option in OPTIONS if option.kind != "table"), *SCOPE_OPTIONS],
    ids=lambda option: option.key,
)
def test_an_option_that_changes_nothing_yet_says_so_and_no_other_does(option):
    works = option.name in read_by_the_program() - ASKED_FOR_NOTHING
    assert (LATER in option.help) is not works
    row = next(line for line in table().splitlines() if line.startswith(f"| `{option.key}` |"))
    assert (LATER in row) is not works
    assert not works or LATER in PAGE.read_text("utf-8").partition("## All options")[0]


def test_all_columns_of_a_vault_work():
    assert not [option.key for option in VAULT_OPTIONS if LATER in option.help]


def test_the_file_of_init_says_what_changes_nothing_yet():
    assert render(Path("notes")).count(LATER) == table().count(LATER)
