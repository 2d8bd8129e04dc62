from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from importlib.resources import files

import pytest

from indexed_vault import IndexedVault
from second_brain.config import load
from second_brain.embedding.builtin import BuiltinEmbedder
from second_brain.errors import VaultUnavailable
from second_brain.model import Scope
from second_brain.search.engine import Tools, search
from second_brain.search.request import MOST_EMBEDDED
from second_brain.service import SecondBrain
from stub_embedder import StubEmbedder

JULY = datetime(2026, 7, 11, 9, 30, 15, 700_000, tzinfo=UTC).timestamp()

NOTES = {
    "02-Areas/Lab/Node.md": (
        "---\ntags: ['#homelab', status/active]\n---\n# The node\n\n## Draining\n\nDrain the heron node first. #k8s\n",
        JULY,
    ),
    "Node.md": ("A heron near the node.", JULY - 86_400),
    "Unique.md": ("Another heron.", JULY - 2 * 86_400),
    "Elsewhere/UNIQUE two.md": ("Gravel.", JULY - 3 * 86_400),
}


@pytest.fixture(scope="module")
def desk(open_desk):
    return open_desk(NOTES)


@pytest.mark.requirement("FR-30")
def test_a_result_has_its_link_score_folder_tags_time_and_snippet(desk):
    answer = desk.ask("draining heron", ranking="words")
    assert answer.as_json()["results"][0] == {
        "wikilink": "[[02-Areas/Lab/Node]]",
        "score": 1.0,
        "folder": "02-Areas/Lab",
        "tags": ["homelab", "status/active", "k8s"],
        "modified": "2026-07-11T09:30:15Z",
        "snippet": "## Draining\n\nDrain the heron node first. #k8s",
        "path": "02-Areas/Lab/Node.md",
        "title": "The node",
        "heading": ["The node", "Draining"],
        "line": 6,
        "matched": "words",
    }
    assert json.loads(json.dumps(answer.as_json()))["ranking"] == "words"
    assert answer.as_json()["total"] == 3


@pytest.mark.requirement("FR-30")
def test_a_result_of_filters_alone_has_no_score_and_a_root_note_no_folder(desk):
    (result,) = desk.ask("path:unique.md").as_json()["results"]
    assert (result["score"], result["folder"], result["tags"]) == (None, "", [])
    assert (result["wikilink"], result["title"], result["matched"]) == ("[[Unique]]", "Unique", "filters")
    assert "note" not in result


@pytest.mark.requirement("FR-30")
def test_a_link_is_qualified_by_its_path_only_where_another_visible_note_has_the_name(open_desk, tmp_path):
    names = ("A/Same.md", "B/same.md", "B/Other.md", "C/Oth\u0301er.md", "C/Oth\u00e9r.md")
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(16)).write_all(dict.fromkeys(names, "A heron."))
    vault.sync()
    whole = open_desk(None, vault=vault)
    assert {hit.wikilink for hit in whole.ask("heron", ranking="words").hits} == {
        "[[A/Same]]",
        "[[B/same]]",
        "[[Other]]",
        "[[Oth\u0301er]]",
        "[[Oth\u00e9r]]",
    }
    scoped = open_desk(None, vault=vault, scope=Scope(folders=("A",)))
    assert [hit.wikilink for hit in scoped.ask("heron", ranking="words").hits] == ["[[Same]]"]


@pytest.mark.parametrize(
    ("query", "matched"),
    [("heron", {"Node.md": "both", "Elsewhere/UNIQUE two.md": None}), ("drain", {"02-Areas/Lab/Node.md": "both"})],
)
def test_best_says_by_what_a_hit_was_found(desk, query, matched):
    found = {hit.path: hit.matched for hit in desk.ask(query, top_k=50).hits}
    for path, how in matched.items():
        assert found.get(path) in ({how} if how else {None, "meaning"})
    assert set(found.values()) <= {"both", "meaning"}


def test_ill_formed_filters_in_the_query_are_told_and_searched_as_text(desk):
    answer = desk.ask("heron after:soonish", ranking="words")
    assert answer.warnings == ("after:soonish is not a date; searched as text",)
    assert len(answer.hits) == 3


def test_a_total_counts_all_that_match_and_not_just_what_is_shown(desk):
    assert desk.ask("heron", ranking="words", top_k=1).total == 3
    assert desk.ask("heron", ranking="words", top_k=1, folder="02-Areas").total == 1
    assert desk.ask("heron", ranking="meaning", top_k=1).total == 4
    assert desk.ask(modified_after="2026-07-09", top_k=1).total == 3


@pytest.mark.parametrize("ranking", ["words", "best", "meaning"])
def test_excluded_statuses_are_no_hits_unless_the_query_asks_for_a_status(open_desk, ranking):
    desk = open_desk(
        {
            "a.md": "---\nstatus: Archived\n---\nA heron.",
            "b.md": "---\nstatus: active\n---\nA heron.",
            "c.md": "A heron.",
        }
    )
    settings = {"exclude_status": ("archived", "dropped")}

    def found(query):
        return {hit.path for hit in desk.ask(query, ranking=ranking, settings=settings).hits}

    assert found("heron") == {"b.md", "c.md"}
    assert found("heron [status:archived]") == {"a.md"}
    assert found("path:a") == set()
    assert len(desk.paths("heron", ranking=ranking)) == 3


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("arguments", [{"query": "heron"}, {"folder": "Elsewhere"}])
def test_a_vault_that_cannot_be_reached_leaves_hits_without_excerpts_and_says_so(desk, arguments):
    def gone(path):
        raise VaultUnavailable("The vault folder /lost cannot be read: no such folder")

    answer = search(desk.reader, desk.request(**arguments), Tools(gone, desk.embedders.get))
    assert answer.hits
    assert {hit.snippet.text for hit in answer.hits} == {""}
    assert {hit.note for hit in answer.hits} == {""}
    assert answer.warnings == (
        "The vault folder /lost cannot be read: no such folder. Excerpts need the notes themselves.",
    )


def test_an_empty_index_answers_that_nothing_matches(open_desk):
    desk = open_desk({}, embed=False)
    for ranking in ("words", "best", "meaning"):
        answer = desk.ask("heron", ranking=ranking)
        assert (answer.hits, answer.total) == ((), 0)
        assert answer.message == "0 matches for 'heron'."
    assert desk.ask(modified_after="2020").message == "0 matches for filters: modified_after=2020-01-01"


@pytest.mark.parametrize("ranking", ["words", "best", "meaning"])
@pytest.mark.parametrize(
    "query",
    ['"', "-", "***", "()", "a" * 5_000, "heron " * 300, "\U0001f980", "NEAR(a b)", "'; DROP TABLE files", "\0\ud800"],
)
def test_no_text_of_a_query_is_an_error(desk, query, ranking):
    answer = desk.ask(query, ranking=ranking)
    assert answer.ranking == ranking
    assert len(answer.hits) <= 5


WANTED = "02-Areas/Homelab/When a New Release Breaks the Cluster.md"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo vault, its homelab notes modified in summer but for two, embedded by the builtin model."""
    folder = tmp_path_factory.mktemp("demo")
    source = files("second_brain_resources") / "demo_vault"
    shutil.copytree(str(source), folder / "vault")
    spring, summer = (datetime(2026, month, 3, tzinfo=UTC).timestamp() for month in (4, 7))
    for note in (folder / "vault").rglob("*.md"):
        modified = spring if note.name in ("Home Server.md", "Backups.md") else summer
        os.utime(note, (modified, modified))
    config = load(flags={"db_path": str(folder / "index.db")}, env={}, vault=str(folder / "vault"))
    brain = SecondBrain(config, embedder=BuiltinEmbedder())
    brain.sync()
    yield brain
    brain.close()


@pytest.mark.requirement("AC-1")
@pytest.mark.parametrize("query", ["upgrade rollback", "Kubernetes upgrade rollback"])
def test_one_call_finds_the_homelab_note_on_going_back_after_a_failed_upgrade(demo, query):
    request = demo.request(query=query, tags=["homelab"], folder="02-Areas", modified_after="2026-06-01")
    answer = demo.search(request)
    assert WANTED in [hit.path for hit in answer.hits[:3]]
    assert answer.warnings == ()
    for hit in answer.hits:
        assert "homelab" in hit.tags
        assert hit.modified >= datetime(2026, 6, 1, tzinfo=UTC).timestamp()
        assert len(hit.snippet.text.split()) >= 12
        assert not hit.snippet.text.startswith("---")
    assert 3 <= len(answer.hits) <= 5


def test_of_a_very_long_query_the_answer_says_how_much_counts_and_no_more_is_embedded(desk, monkeypatch):
    asked = []
    embed_query = type(desk.vault.embedder).embed_query
    monkeypatch.setattr(
        type(desk.vault.embedder), "embed_query", lambda self, text: asked.append(text) or embed_query(self, text)
    )
    answer = desk.ask("heron " + " ".join(f"word{number}" for number in range(5_000)), ranking="best")
    assert [len(text) for text in asked] == [MOST_EMBEDDED]
    assert [("64 different words" in each, "2000 characters" in each) for each in answer.warnings] == [
        (True, False),
        (False, True),
    ]
    assert answer.hits
    assert not desk.ask("heron " * 1_000, ranking="words").warnings
    exactly = " ".join(f"word{number}" for number in range(64))
    assert not desk.ask(f"the {exactly}", ranking="words").warnings
    assert desk.ask(f"{exactly} heron", ranking="words").warnings
