from __future__ import annotations

from pathlib import Path

from second_brain.config.docs import table
from second_brain.config.options import OPTIONS, RETIRED, SCOPE_OPTIONS, VAULT_OPTIONS

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


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
