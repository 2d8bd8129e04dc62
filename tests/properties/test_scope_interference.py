"""Inside a scope nothing can be told of what lies outside: two vaults that differ only there give the same answers."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import apsw
import pytest

from indexed_vault import IndexedVault
from second_brain.errors import SecondBrainError
from second_brain.index import catalog, postings, scope
from second_brain.index.columns import Columns
from second_brain.index.reader import Reader, open_reader
from second_brain.model import Scope
from second_brain.search.engine import search
from second_brain.search.explain import why_not
from second_brain.search.request import from_arguments
from second_brain.search.vocabulary import facets, schema_block

NOW = datetime(2026, 6, 1, tzinfo=UTC)
INSIDE = [
    "river",
    "survey",
    "lantern",
    "repair",
    "kitchen",
    "clock",
    "signal",
    "flags",
    "orchard",
    "rope",
    "harbour",
    "winter",
    "bread",
    "paper",
    "boats",
    "tide",
    "tables",
    "checking",
    "checked",
    "checks",
    "running",
    "runner",
    "measure",
    "measured",
    "übung",
    "größe",
]
OUTSIDE = [
    "salary",
    "merger",
    "diagnosis",
    "lawsuit",
    "surveyed",
    "lanterns",
    "harbours",
    "signals",
    "checker",
    "runs",
    "measuring",
    "rivet",
    "lanterm",
    "riverbank",
    "clocks",
    "breads",
    "payroll",
    "ropes",
    "tidal",
    "orchards",
    "übungen",
    "confidential",
    "zebra",
]
SCOPES = {
    "folder": Scope(folders=("Work",)),
    "excluded": Scope(excluded=("Private", "Work.old", "Ärger")),
    "tag": Scope(tags=("shared",)),
    "all three": Scope(folders=("Work", "Notes"), excluded=("Work/secret",), tags=("shared",)),
}
FOREIGN = {"folder": "Private", "excluded": "Private", "tag": "Work", "all three": "Work/secret"}


def inside_notes():
    chance = random.Random(1)
    notes = {}
    for number in range(30):
        words = " ".join(chance.choices(INSIDE, k=40))
        title = " ".join(chance.sample(INSIDE, 2))
        notes[f"Work/{'deep/' if number % 3 else ''}{title} {number % 20}.md"] = (
            f"---\ntags: [shared, area/{chance.choice(INSIDE)}]\naliases: [{title} alias]\nstatus: open\n---\n"
            f"# {title}\n\n{words}\n\n## Part\n\n{words[::-1][:80]}\n"
        )
    notes["Work/twin one.md"] = notes["Work/twin two.md"] = (
        "---\ntags: [shared]\n---\nthe same words river lantern in two notes\n"
    )
    return notes


def outside_notes(where, seed, count):
    chance = random.Random(seed)
    notes = {}
    theirs = OUTSIDE if seed == 10 else [word[::-1] for word in OUTSIDE]
    for number in range(count):
        words = " ".join(chance.choices(theirs + INSIDE, k=60))
        title = " ".join(chance.sample(theirs, 2))
        notes[f"{where}/{title} {number}.md"] = (
            f"---\ntags: [hidden{number}, {chance.choice(theirs)}]\naliases: [{chance.choice(INSIDE)} alias]\nsalary: {number}\n---\n"
            f"# {chance.choice(INSIDE)}\n\n{words} [[{title}]]\n"
        )
    notes[f"{where}/twin one.md"] = "an outside note of an inside name, river lantern"
    if seed == 10:
        notes[f"{where}/broken.md"] = "---\nbroken: [\n---\n"
    return notes


def pair(folder, where):
    """Two vaults, equal inside; all files of one age inside, of other ages outside."""
    vaults = []
    for name, seed, count in (("one", 10, 40), ("two", 20, 3)):
        vault = IndexedVault(folder / name)
        for path, text in inside_notes().items():
            vault.write(path, text, mtime=1_770_000_000 + len(path))
        for path, text in outside_notes(where, seed, count).items():
            vault.write(path, text, mtime=1_700_000_000 + 1000 * seed)
        vaults.append(vault.index())
    return vaults


def requests(count, seed, foreign):
    """Half of the words come from outside the scope."""
    chance = random.Random(seed)
    for _ in range(count):
        words = [chance.choice(chance.choice((INSIDE, OUTSIDE))) for _ in range(chance.randrange(1, 5))]
        words = [misspelt(chance, word) if chance.random() < 0.25 else word for word in words]
        words = [f'"{word[:4]}"' if chance.random() < 0.1 else word for word in words]
        words = [f"-{word}" if chance.random() < 0.05 else word for word in words]
        arguments = {"query": " ".join(words), "top_k": chance.choice((1, 5, 20, 50))}
        if chance.random() < 0.2:
            arguments["tags"] = [chance.choice(("shared", "area", "hidden1", "salary", "area/river"))]
        if chance.random() < 0.2:
            arguments["folder"] = chance.choice(("Work", "Work/deep", foreign, "Privat", "Nowhere"))
        if chance.random() < 0.1:
            arguments["modified_before"] = "2026-02-02"
        if chance.random() < 0.1:
            del arguments["query"]
            arguments.setdefault("tags", ["shared"])
        yield arguments


def misspelt(chance, word):
    place = chance.randrange(len(word))
    return chance.choice(
        (word[:place] + word[place + 1 :], word[:place] + "x" + word[place:], word[:place] + "y" + word[place + 1 :])
    )


def told(vault, reader, arguments, target):
    """Everything a person or an agent could see of one search."""
    tools = vault.tools(explain=True)
    try:
        request = from_arguments(**arguments, now=NOW)
        answer = search(reader, request, tools)
        explained = why_not(reader, request, target, tools) if target else None
        return answer.as_json(), answer, explained
    except SecondBrainError as error:
        return error.as_json()


def overview(vault, reader):
    with reader.snapshot():
        links = [(link.source, link.target) for link in catalog.links(reader)]
        figures = (
            catalog.problems(reader),
            catalog.note_count(reader),
            catalog.date_range(reader),
            links,
            catalog.aliases(reader),
        )
    return facets(reader), schema_block(reader), figures


def differences(vaults, name, count, *, seed=7):
    """What of all answers differs between the two vaults, seen through the scope *name*."""
    found = []
    one, two = (open_reader(vault.db, SCOPES[name]) for vault in vaults)
    try:
        if overview(vaults[0], one) != overview(vaults[1], two):
            found.append("overview")
        chance = random.Random(seed)
        targets = [*inside_notes(), f"{FOREIGN[name]}/twin one.md"]
        for arguments in requests(count, seed, FOREIGN[name]):
            target = chance.choice(targets) if chance.random() < 0.25 else ""
            rankings = ("words", "best", "meaning")
            for ranking in rankings if chance.random() < 0.5 else [chance.choice(rankings)]:
                asked = {**arguments, "ranking": ranking}
                if told(vaults[0], one, asked, target) != told(vaults[1], two, asked, target):
                    found.append(asked)
    finally:
        one.close()
        two.close()
    return found


@pytest.fixture(scope="module")
def vaults(tmp_path_factory):
    return {name: pair(tmp_path_factory.mktemp(name.replace(" ", "-")), FOREIGN[name]) for name in SCOPES}


@pytest.mark.slow
@pytest.mark.requirement("NFR-5", "FR-24", "FR-40", "AC-3")
@pytest.mark.parametrize(("name", "count"), [("folder", 320), ("excluded", 50), ("tag", 50), ("all three", 50)])
def test_no_answer_depends_on_what_lies_outside_the_scope(vaults, name, count):
    assert differences(vaults[name], name, count) == []


@pytest.mark.requirement("NFR-5")
def test_the_answers_that_are_compared_are_not_all_empty(vaults):
    vault = vaults["folder"][0]
    reader = open_reader(vault.db, SCOPES["folder"])
    answers = [
        told(vault, reader, {**arguments, "ranking": "best"}, "Work/twin one.md")
        for arguments in requests(100, 7, "Private")
    ]
    hits = [len(answer[1].hits) for answer in answers if isinstance(answer, tuple)]
    assert sum(map(bool, hits)) > 60
    assert any(answer[1].corrections for answer in answers if isinstance(answer, tuple))
    assert any(isinstance(answer, dict) for answer in answers)
    reader.close()


@pytest.fixture
def raw():
    """Unscoped connections to the database that a reader looks at."""
    opened = {}

    def connection(reader):
        if reader.path not in opened:
            opened[reader.path] = apsw.Connection(str(reader.path), flags=apsw.SQLITE_OPEN_READONLY)
        return opened[reader.path]

    yield connection
    for each in opened.values():
        each.close()


@pytest.mark.requirement("NFR-5")
def test_a_planted_mean_length_of_the_whole_vault_is_caught(vaults, monkeypatch, raw):
    columns = Reader.columns.fget
    mean = {}

    def leaking(reader):
        found = columns(reader)
        mean[id(found)] = raw(reader).execute("SELECT avg(words) FROM files").get
        return found

    monkeypatch.setattr(Reader, "columns", property(leaking))
    monkeypatch.setattr(Columns, "mean_words", property(lambda found: mean[id(found)]))
    assert differences(vaults["folder"], "folder", 20)


@pytest.mark.requirement("NFR-5")
def test_a_planted_vocabulary_of_the_whole_vault_is_caught(vaults, monkeypatch, raw):
    monkeypatch.setattr(Reader, "frequency", lambda reader, term: len(postings.read(raw(reader), ("main",), term).docs))
    assert differences(vaults["folder"], "folder", 30)


@pytest.mark.requirement("NFR-5")
@pytest.mark.parametrize("table", ["tags", "problems", "frontmatter", "files"])
def test_planted_rows_that_pass_by_the_scope_are_caught(vaults, monkeypatch, table):
    install = scope.install

    def leaking(connection, of, **options):
        install(connection, of, **options)
        connection.authorizer = None
        connection.execute("PRAGMA query_only = 0")
        connection.execute(f"DROP VIEW temp.{table}; CREATE TEMP VIEW {table} AS SELECT * FROM main.{table}")

    monkeypatch.setattr(scope, "install", leaking)
    assert differences(vaults["folder"], "folder", 5)
