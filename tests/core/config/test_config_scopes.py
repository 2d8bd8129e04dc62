from __future__ import annotations

import pytest

from second_brain.config import NamedScope, load, parse_scope, select_scope
from second_brain.errors import InvalidParameter
from second_brain.model import Scope


@pytest.mark.requirement("R-3")
@pytest.mark.parametrize("form", ["{}", "{}/", "{}/**"])
@pytest.mark.parametrize(
    "folder",
    ["01-Projects", "Areas/Home", "50%_done", "ünï/日本", "a b", "..hidden", "x.y", "{draft}", "[", "C: drive"],
)
def test_the_three_forms_of_a_folder_mean_the_same_literal_folder(form, folder):
    assert parse_scope(form.format(folder)) == Scope(folders=(folder,))


@pytest.mark.requirement("R-3")
@pytest.mark.parametrize(
    "form",
    [
        "",
        "  ",
        "/",
        "/etc",
        "/**",
        "**",
        "*",
        "Pro*",
        "P/*",
        "P/**/Q",
        "P/**/",
        "P/***",
        "P?",
        "[0-9]x",
        "{a,b}",
        "..",
        "../x",
        "P/..",
        "P/../Q",
        "P/../**",
        ".",
        "./P",
        "P//Q",
        "P//",
        "P//**",
        "~/Notes",
        "C:\\Notes",
        "C:/Notes",
        "\\\\host\\share",
        "P\\Q",
        "P\0",
        "P\nQ",
        "P\x85",
    ],
)
def test_a_form_that_could_mean_something_else_is_refused(form):
    with pytest.raises(InvalidParameter) as caught:
        parse_scope(form)
    assert caught.value.parameter == "scope"
    assert repr(form) in caught.value.message
    assert caught.value.hint


NAMED = {"work": NamedScope("work", Scope(folders=("Jobs",), excluded=("Jobs/Private",), tags=("now",)), profile="rag")}


def test_a_name_of_the_configuration_goes_before_a_folder_of_that_name():
    assert select_scope(["work"], NAMED) is NAMED["work"]
    assert parse_scope("work", NAMED) == NAMED["work"].scope
    assert parse_scope("work/", NAMED) == parse_scope("work") == Scope(folders=("work",))


def test_several_folders_are_joined_once_each():
    assert select_scope(["A", "B/**", "A/"]).scope == Scope(folders=("A", "B"))


def test_no_scope_is_the_whole_vault():
    assert select_scope([]).scope.whole_vault


@pytest.mark.parametrize("values", [["work", "A"], ["A", "work"], ["work", "work"]])
def test_a_name_cannot_be_joined_with_other_scopes(values):
    with pytest.raises(InvalidParameter) as caught:
        select_scope(values, NAMED)
    assert "work/" in caught.value.hint


def test_a_refused_scope_offers_the_names():
    with pytest.raises(InvalidParameter) as caught:
        parse_scope("*", NAMED)
    assert caught.value.options == ("work",)


def test_configured_scopes_are_read_with_all_their_columns(write):
    path = write("""
ranking = "words"
[vaults.home]
path = "/notes"
[scopes.work]
vault = "home"
folders = ["Jobs/**", "Tools/"]
excluded = ["Jobs/Private"]
tags = ["now"]
instructions = "Current work."
profile = "retrieval"
ranking = "meaning"
allow_sync = true
[scopes.all]
""")
    scopes = load(config_path=path, env={}).scopes
    scope = Scope(folders=("Jobs", "Tools"), excluded=("Jobs/Private",), tags=("now",))
    assert scopes["work"] == NamedScope("work", scope, "home", "Current work.", "retrieval", "meaning", allow_sync=True)
    assert scopes["all"] == NamedScope("all", Scope())
