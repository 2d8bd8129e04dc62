"""What a scoped search sees, against a plain filter of paths and tags; leaks through figures are in `properties`."""

from __future__ import annotations

import pytest

from second_brain.model import Scope

FOLDERS = ("", "Work", "Work/Deep", "Work-old", "Wor", "Home", "W_rk")
TAGS = ((), ("team",), ("team/red", "open"), ("team-old",), ("TEAM", "open"))
NOTES = {
    f"{folder}/{number}.md".lstrip("/"): f"---\ntags: [{', '.join(tags)}]\n---\nThe heron, note {number}."
    for number, (folder, tags) in enumerate((folder, tags) for folder in FOLDERS for tags in TAGS)
}
TAGS_OF = {path: TAGS[number % len(TAGS)] for number, path in enumerate(NOTES)}


@pytest.fixture(scope="module")
def desk(open_desk):
    return open_desk(NOTES)


def inside(path, scope):
    def below(folder):
        return path.startswith(f"{folder}/")

    return (
        (not scope.folders or any(map(below, scope.folders)))
        and not any(map(below, scope.excluded))
        and all(any(f"{tag.lower()}/".startswith(f"{wanted}/") for tag in TAGS_OF[path]) for wanted in scope.tags)
    )


@pytest.mark.requirement("FR-40")
@pytest.mark.parametrize(
    "scope",
    [
        Scope(folders=("Work",)),
        Scope(folders=("Work/Deep", "Home")),
        Scope(folders=("W_rk",)),
        Scope(folders=("Wor",)),
        Scope(excluded=("Work",)),
        Scope(folders=("Work", "Home"), excluded=("Work/Deep", "Work-old")),
        Scope(tags=("team",)),
        Scope(tags=("team", "open")),
        Scope(folders=("Work",), excluded=("Work/Deep",), tags=("team",)),
        Scope(folders=("Nowhere",)),
    ],
    ids=str,
)
def test_every_ranking_and_every_filter_sees_the_notes_of_the_scope_alone(open_desk, desk, scope):
    scoped = open_desk(None, vault=desk.vault, scope=scope)
    visible = {path for path in NOTES if inside(path, scope)}
    for ranking in ("best", "words", "meaning"):
        answer = scoped.ask("heron", ranking=ranking, top_k=50)
        assert {hit.path for hit in answer.hits} == visible
        assert answer.total == len(visible)
    assert set(scoped.paths(modified_after="2001", top_k=50)) == visible
    assert set(scoped.paths('"the heron"', top_k=50)) == visible
    assert set(scoped.paths("path:work", top_k=50)) == {path for path in visible if "work" in path.lower()}
    assert answer.embedded == (len(visible), len(visible))
