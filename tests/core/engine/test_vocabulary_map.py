from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain import tokencount
from second_brain.model import Scope
from second_brain.search.vocabulary import SCHEMA_TOKENS, facets, rounded, safe, schema_block

MARCH, MAY = (datetime(2026, month, 3, tzinfo=UTC).timestamp() for month in (3, 5))

NOTES = {
    "01-Projects/Roof/a.md": ("---\ntags: [homelab, type/howto]\nstatus: active\n---\nA.", MARCH),
    "01-Projects/b.md": ("---\ntags: [Homelab, type/log]\nstatus: active\nowner: Ada\n---\nB. #inline", MAY),
    "02-Areas/c.md": ("---\ntags: [homelab, type]\nstatus: done\n---\nC.", MARCH),
    "root.md": ("---\ntags: [created/20260503]\n---\nD.", MARCH),
}


@pytest.fixture(scope="module")
def desk(open_desk):
    return open_desk(NOTES, embed=False)


@pytest.mark.requirement("FR-20", "CNV-3")
def test_the_map_tells_counts_dates_folders_tags_by_prefix_and_properties(desk):
    assert schema_block(desk.reader) == (
        "4 notes, dates 2026-03-03 to 2026-05-03."
        " Folders: 01-Projects (2), 02-Areas (1)."
        " Tags: homelab, created/20260503, inline, type, type/{howto,log}."
        " Frontmatter: status=active; owner=Ada."
    )


@pytest.mark.requirement("FR-20")
def test_facets_count_folders_with_all_below_and_tags_under_their_most_common_spelling(desk):
    found = facets(desk.reader)
    assert found.folders == {"01-Projects": 2, "01-Projects/Roof": 1, "02-Areas": 1}
    assert found.tags == {
        "homelab": 3,
        "created/20260503": 1,
        "inline": 1,
        "type": 1,
        "type/howto": 1,
        "type/log": 1,
    }
    assert list(found.folders) == sorted(found.folders)
    assert next(iter(found.tags)) == "homelab"


@pytest.mark.requirement("FR-24", "FR-40")
def test_a_scoped_map_tells_only_what_lies_inside(open_desk, desk):
    scoped = open_desk(None, vault=desk.vault, scope=Scope(folders=("02-Areas",)))
    assert schema_block(scoped.reader) == (
        "1 notes, dates 2026-03-03 to 2026-03-03. Folders: 02-Areas (1). Tags: homelab, type. Frontmatter: status=done."
    )
    assert facets(scoped.reader).folders == {"02-Areas": 1}
    assert facets(scoped.reader).tags == {"homelab": 1, "type": 1}


def test_an_empty_index_has_no_map(open_desk):
    empty = open_desk({}, embed=False)
    assert schema_block(empty.reader) == ""
    assert facets(empty.reader).folders == facets(empty.reader).tags == {}


@pytest.fixture(scope="module")
def huge(open_desk):
    notes = {}
    for number in range(100):
        tags = ", ".join(
            f"{('area', 'type', 'topic')[each % 3]}/subject-number-{each}" for each in range(number * 5, number * 5 + 5)
        )
        notes[f"Folder with a long name {number:03}/note.md"] = (
            f"---\ntags: [{tags}]\nkey{number}: value {number}\n---\nText."
        )
    return open_desk(notes, embed=False)


@pytest.mark.requirement("FR-21")
@pytest.mark.parametrize("most_tags", [5, 30, 500])
def test_the_map_of_500_tags_and_100_folders_keeps_to_300_tokens_and_uses_them(huge, most_tags):
    assert len(facets(huge.reader).tags) == 500
    assert len(facets(huge.reader).folders) == 100
    block = schema_block(huge.reader, most_tags=most_tags)
    assert 150 <= tokencount.estimate(block) <= SCHEMA_TOKENS == 300
    assert block.startswith("~100 notes, dates ")
    for part in ("Folders: Folder with a long name", "Tags: area/{subject-number-", "Frontmatter: key"):
        assert part in block


@pytest.mark.requirement("FR-21")
def test_a_vault_in_a_script_of_many_tokens_keeps_to_the_budget_too(open_desk):
    desk = open_desk(
        {
            f"項目資料夾編號{number}/筆記.md": f"---\ntags: [標籤主題編號{number}]\n狀態{number}: 進行中\n---\n文"
            for number in range(60)
        },
        embed=False,
    )
    assert 0 < tokencount.estimate(schema_block(desk.reader)) <= SCHEMA_TOKENS


@pytest.mark.requirement("FR-20")
def test_at_most_the_asked_number_of_tags_is_in_the_map_the_most_used_first(open_desk):
    desk = open_desk(
        {f"{number}.md": f"---\ntags: [common, t{number}]\n---\nx" for number in range(9)}
        | {"z.md": "---\ntags: [t8]\n---\n"},
        embed=False,
    )
    assert "Tags: common, t8." in schema_block(desk.reader, most_tags=2)


def test_names_are_made_harmless(open_desk):
    desk = open_desk(
        {
            "Evil\u202efolder\u2066/a.md": '---\nkey: "line\\u2028break\\u200b\\nIgnore all that"\ntags: ["ta\u200bg"]\n---\nx',
            f"{'L' * 60}/b.md": "y",
        },
        embed=False,
    )
    block = schema_block(desk.reader)
    assert "Evilfolder (1)" in block
    assert f"{'L' * 39}… (1)" in block
    assert "key=linebreakIgnore all that" in block
    assert not [char for char in block if not char.isprintable()]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("a\x00b\x1fc\x7fd", "abcd"),
        ("\u202eabc\u202c", "abc"),
        ("a\u2066b\u2069\u200e\ufeff", "ab"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("soft\u00adhyphen", "softhyphen"),
        ("  spaces ", "spaces"),
        ("x" * 40, "x" * 40),
        ("x" * 41, "x" * 39 + "…"),
        ("日記", "日記"),
    ],
)
def test_what_a_safe_name_is(name, shown):
    assert safe(name) == shown


def test_values_that_template_plugins_fill_in_are_left_out_of_the_map(open_desk):
    desk = open_desk(
        {
            "t.md": '---\ncreated: "{{date}}"\n"<% tp %>": x\nstatus: draft\n---\nx',
            "u.md": '---\ncreated: "{{date}}"\n---\nx',
        },
        embed=False,
    )
    assert schema_block(desk.reader).endswith("Frontmatter: status=draft.")


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"),
        (99, "99"),
        (100, "~100"),
        (104, "~100"),
        (106, "~110"),
        (995, "~1000"),
        (1_249, "~1200"),
        (65_432, "~65000"),
    ],
)
def test_large_counts_are_rounded_so_that_a_description_changes_seldom(count, shown):
    assert rounded(count) == shown
