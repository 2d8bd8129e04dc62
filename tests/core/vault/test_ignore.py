from __future__ import annotations

import pytest

from second_brain.errors import ConfigError
from second_brain.vault.ignore import IgnoreRules

DEFAULTS = (
    ".obsidian/**",
    ".git/**",
    "Templates/**",
    "_types/**",
    "_templates/**",
    "**/_templates*/**",
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
)


@pytest.mark.requirement("RG-14")
@pytest.mark.parametrize(
    ("globs", "path", "kept"),
    [
        (DEFAULTS, "Notes/a.md", True),
        (DEFAULTS, "Templates/a.md", False),
        (DEFAULTS, "Work/Templates/deep/a.md", False),
        (DEFAULTS, "Templates-old/a.md", True),
        (DEFAULTS, "MyTemplates/a.md", True),
        (DEFAULTS, "Templates.md", True),
        (DEFAULTS, "templates/a.md", True),
        (DEFAULTS, "x/_templates_old/a.md", False),
        (DEFAULTS, "x/my_templates/a.md", True),
        (DEFAULTS, "CLAUDE.md", False),
        (DEFAULTS, "deep/er/CLAUDE.md", False),
        (DEFAULTS, "CLAUDE.md.md", True),
        (DEFAULTS, "MY-CLAUDE.md", True),
        (DEFAULTS, "claude.md", True),
        (("drafts/*.md",), "drafts/a.md", False),
        (("drafts/*.md",), "x/drafts/a.md", False),
        (("drafts/*.md",), "drafts/deep/a.md", True),
        (("drafts/**/*.md",), "drafts/a.md", False),
        (("drafts/**/*.md",), "drafts/deep/er/a.md", False),
        (("/drafts/**",), "drafts/a.md", False),
        (("drafts/",), "x/drafts/a.md", False),
        (("drafts",), "drafts/a.md", True),
        (("day-?.md",), "x/day-1.md", False),
        (("day-?.md",), "x/day-10.md", True),
        (("day-[0-3].md",), "day-2.md", False),
        (("day-[!0-3].md",), "day-2.md", True),
        (("day-[!0-3].md",), "day-7.md", False),
        (("day-[].md",), "day-[].md", False),
        (("a+b(c).md",), "a+b(c).md", False),
        (("a.md",), "axmd.md", True),
        (("a[z-a].md",), "a[z-a].md", False),
        (("**",), "any/where.md", False),
        (("", ".", "/"), "a.md", True),
        ((), "CLAUDE.md", True),
        ((), ".obsidian/a.md", False),
        ((), "x/.trash/a.md", False),
        ((), ".hidden.md", False),
        ((), "a.b/c.d.md", True),
        ((), "a.MD", True),
        ((), "a.txt", False),
        ((), "md", False),
    ],
)
def test_a_glob_keeps_or_excludes_a_path(globs, path, kept):
    assert IgnoreRules(globs).allows(path) is kept


@pytest.mark.parametrize(
    ("text", "path", "kept"),
    [
        ("private/\n", "x/private/a.md", False),
        ("/private/\n", "x/private/a.md", True),
        ("*.draft.md\n!keep.draft.md\n", "a.draft.md", False),
        ("*.draft.md\n!keep.draft.md\n", "keep.draft.md", True),
        ("# only a comment\n\n", "a.md", True),
    ],
)
def test_the_ignore_file_follows_gitignore(text, path, kept):
    assert IgnoreRules((), text).allows(path) is kept


@pytest.mark.parametrize(
    ("globs", "text", "folder", "kept"),
    [
        (DEFAULTS, "", "Work/Templates", False),
        (DEFAULTS, "", "Work/Templates/deep", False),
        (DEFAULTS, "", "Work", True),
        (DEFAULTS, "", "Templates-old", True),
        (("**",), "", "Work", False),
        (("drafts/*.md",), "", "drafts", True),
        (("**/*.md",), "", "drafts", True),
        ((), "", ".git", False),
        ((), "", "x/.git", False),
        ((), "private/\n", "x/private", False),
        ((), "private/*\n!private/open.md\n", "private", True),
    ],
)
def test_a_folder_is_pruned_only_when_nothing_in_it_can_be_a_note(globs, text, folder, kept):
    rules = IgnoreRules(globs, text)
    assert rules.allows_folder(folder) is kept
    if not kept:
        assert not rules.allows(f"{folder}/any note.md")
        assert not rules.allows(f"{folder}/deep/any note.md")


def test_a_line_that_is_no_pattern_is_named_with_its_number():
    with pytest.raises(ConfigError, match=r"Line 2 of \.secondbrainignore") as caught:
        IgnoreRules((), "drafts/\n!\n")
    assert caught.value.parameter == ".secondbrainignore"
