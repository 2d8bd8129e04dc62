"""Filters equal a plain Python filter over the notes."""

from __future__ import annotations

import random
import unicodedata
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from indexed_vault import IndexedVault
from second_brain.errors import InvalidParameter
from second_brain.index import catalog
from second_brain.index.text import exact
from second_brain.search import narrowing
from second_brain.search.query import ContainsFilter, Filters, PropertyFilter, Query, TagFilter, Term
from second_brain.search.request import from_arguments

START = datetime(2026, 1, 1, tzinfo=UTC)
FOLDERS = (
    "", "01-Pro", "01-Projects", "01-Projects/a_b", "01-Projects/aXb", "01-Projects/100%", "01-Projects/100", "under_score",
    "underXscore", "Ärger", unicodedata.normalize("NFD", "Öde"), "Öde/tief", "sub/01-Projects", "01-Projects.old", "01-Projects0",
)  # fmt: skip
TAGS = (
    "area",
    "area/home",
    "area/home/kitchen",
    "areal",
    "area0",
    "Größe",
    unicodedata.normalize("NFD", "größe/klein"),
    "x_y",
    "xzy",
    "k8s",
)
KEYS = {
    "status": ("open", "done", "OPEN", "50%"),
    "Öffnung": ("groß", "klein"),
    "due": ("2026-02-28",),
    "owner.name": ("Åsa", "Asa"),
}
WORDS = ("river", "lantern", "C++", "50%", "a_b", "übung", "the", "中文")


def make(chance, count):
    """{path: (tags, properties, mtime, words)} of random notes."""
    notes = {}
    for number in range(count):
        folder = chance.choice(FOLDERS)
        path = f"{folder}/{chance.choice(('note', 'Über', 'C++', 'x_y'))} {number}.md".lstrip("/")
        tags = chance.sample(TAGS, chance.randrange(4))
        properties = {key: chance.choice(values) for key, values in KEYS.items() if chance.random() < 0.4}
        when = START + timedelta(hours=chance.randrange(24 * 60))
        notes[path] = (tags, properties, when.timestamp(), chance.sample(WORDS, chance.randrange(4)))
    return notes


def as_text(tags, properties, words):
    head = [f"tags: [{', '.join(tags)}]"]
    for key, value in properties.items():
        first, _, second = key.partition(".")
        head.append(f'{first}:\n  {second}: "{value}"' if second else f'{key}: "{value}"')
    return "---\n" + "\n".join(head) + "\n---\n" + " and ".join(words) + "\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    vault = IndexedVault(tmp_path_factory.mktemp("filters"))
    notes = make(random.Random(3), 150)
    for path, (tags, properties, mtime, words) in notes.items():
        vault.write(path, as_text(tags, properties, words), mtime=mtime)
    vault.sync()
    with vault.reader() as reader:
        yield reader, notes


# -- the plain filter: one sentence of the contract per function


def same(text):
    return unicodedata.normalize("NFC", text).casefold()


def below(path, folder):
    parts, wanted = same(path).split("/")[:-1], same(folder).split("/")
    return parts[: len(wanted)] == wanted


def has_tag(tags, wanted):
    key = same(wanted.name)
    return any(same(tag) == key or (not wanted.exact and same(tag).startswith(key + "/")) for tag in tags)


def has_property(properties, wanted):
    values = [value for key, value in properties.items() if same(key) == same(wanted.key)]
    return any(not wanted.value or loosely(value) == loosely(wanted.value) for value in values)


def loosely(text):
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def passes(path, note, query):
    tags, properties, mtime, words = note
    filters = query.filters
    text = as_text(tags, properties, words)
    title = path.rpartition("/")[2][:-3]
    fields = {"path": path, "title": title}
    return (
        (not filters.folders or any(below(path, folder) for folder in filters.folders))
        and not any(below(path, folder) for folder in filters.excluded_folders)
        and all(has_tag(tags, tag) for tag in filters.tags)
        and not any(has_tag(tags, tag) for tag in filters.excluded_tags)
        and (filters.modified_from is None or mtime >= filters.modified_from.timestamp())
        and (filters.modified_to is None or mtime <= filters.modified_to.timestamp())
        and all(has_property(properties, each) != each.excluded for each in filters.properties)
        and all((exact(each.text) in exact(fields[each.field])) != each.excluded for each in filters.contains)
        and all(exact(term.text) in exact(text) for term in query.terms if term.phrase and not term.excluded)
        and not any(exact(term.text) in exact(text) for term in query.terms if term.phrase and term.excluded)
    )


def random_query(chance, reader):
    folders = [name for name in catalog.folder_counts(reader) if name]
    some = lambda values, most: tuple(chance.sample(list(values), chance.randrange(most + 1)))  # noqa: E731
    forms = lambda name: chance.choice((name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)))  # noqa: E731
    tag = lambda name: TagFilter(chance.choice((name, name.upper())), chance.random() < 0.3)  # noqa: E731
    key = lambda name: chance.choice((name, name.upper(), name.capitalize(), name.lower()))  # noqa: E731
    moment = lambda: START + timedelta(hours=chance.randrange(24 * 60))  # noqa: E731
    filters = Filters(
        folders=tuple(map(forms, some(folders, 2))) if chance.random() < 0.5 else (),
        excluded_folders=tuple(map(forms, some(folders, 1))),
        tags=tuple(map(tag, some(TAGS, 2))) if chance.random() < 0.5 else (),
        excluded_tags=tuple(map(tag, some(TAGS, 1))),
        modified_from=moment() if chance.random() < 0.2 else None,
        modified_to=moment() if chance.random() < 0.2 else None,
        properties=tuple(
            PropertyFilter(key(name), chance.choice(("", chance.choice(KEYS[name]))), chance.random() < 0.3)
            for name in some(KEYS, 1)
        ),
        contains=tuple(
            ContainsFilter(chance.choice(("path", "title")), text, chance.random() < 0.3)
            for text in some(("ÜBER", "x_y", "c++", "100%", "1"), 1)
        )
        if chance.random() < 0.4
        else (),
    )
    terms = tuple(Term(word, phrase=True, excluded=chance.random() < 0.4) for word in some(WORDS, 2))
    return Query(terms if chance.random() < 0.4 else (), filters)


@pytest.mark.requirement("FR-10", "FR-11", "T-1", "FR-40")
def test_random_filters_let_through_what_a_plain_filter_does(corpus):
    reader, notes = corpus
    chance = random.Random(4)
    some = every = 0
    paths = dict(reader.connection.execute("SELECT doc, path FROM files"))
    for _ in range(1_000):
        query = random_query(chance, reader)
        mask = narrowing.allowed(reader, query)
        docs = reader.columns.docs if mask is None else reader.columns.docs[mask]
        expected = {path for path, note in notes.items() if passes(path, note, query)}
        assert {paths[doc] for doc in docs.tolist()} == expected, query
        some += 0 < len(expected) < len(notes)
        every += len(expected) == len(notes)
    assert some > 500
    assert every < 500


@pytest.mark.requirement("FR-10", "T-1")
def test_both_ends_of_a_date_range_count(corpus):
    reader, notes = corpus
    for path, (_, _, mtime, _) in list(notes.items())[:20]:
        moment = datetime.fromtimestamp(mtime, UTC)
        for filters in (
            Filters(modified_from=moment, modified_to=moment),
            Filters(modified_from=moment),
            Filters(modified_to=moment),
        ):
            mask = narrowing.allowed(reader, Query((), filters))
            place = reader.columns.docs.tolist().index(catalog.note_at(reader, path).doc)
            assert mask[place]


@pytest.mark.requirement("FR-10")
def test_a_day_alone_is_that_whole_day(corpus):
    reader, notes = corpus
    request = from_arguments(modified_after="2026-01-10", modified_before="2026-01-10", now=START)
    mask = narrowing.allowed(reader, request.query)
    expected = sum(
        datetime.fromtimestamp(mtime, UTC).date().isoformat() == "2026-01-10" for _, _, mtime, _ in notes.values()
    )
    assert np.count_nonzero(mask) == expected > 0


@pytest.mark.requirement("FR-14", "FR-40")
@pytest.mark.parametrize(
    "filters",
    [
        {"folder": "01-Pr"}, {"folder": "01-Projects/a%b"}, {"folder": "01-Projects/%"}, {"folder": "01_Projects"},
        {"tags": ["are"]}, {"tags": ["x%y"]}, {"tags": ["=area/home/k"]}, {"tags": ["%"]},
    ],
)  # fmt: skip
def test_names_that_only_a_wildcard_would_fit_are_refused(corpus, filters):
    reader, _ = corpus
    request = from_arguments(**filters, now=START)
    with pytest.raises(InvalidParameter) as refused:
        narrowing.check(reader, request.query.filters)
    assert refused.value.parameter == next(iter(filters))


@pytest.mark.requirement("R-1")
def test_a_tag_filter_uses_the_index_on_tags(corpus):
    reader, _ = corpus
    from second_brain.index import selection

    for condition in (selection.tagged("area"), selection.tagged("area", exactly=True)):
        plan = reader.connection.execute(
            f"EXPLAIN QUERY PLAN SELECT doc FROM files WHERE {condition.sql}", condition.values
        )
        assert any("tags_key" in row[3] for row in plan.fetchall())
