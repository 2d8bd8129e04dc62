"""The scores by words against a plain ranker that goes note by note, and what holds for every order."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from math import log

import numpy as np
import pytest

from second_brain.index import terms as bulk
from second_brain.index import text as texts
from second_brain.index import words
from second_brain.model import Scope, stem_of

VERBS = ("drain", "drains", "draining", "drained", "valve", "valves", "pump", "pumping", "copper", "gasket", "heron")
FILLERS = ("the", "and", "is", "with", "of", "water", "cellar", "winter", "wrench", "blanket", "ladder")
GERMAN = "Das Ventil ist nicht dicht und wir haben es mit dem alten Hahn ersetzt "


def random_note(dice, number):
    head = ""
    if dice.random() < 0.5:
        tags = dice.sample(VERBS, dice.randint(0, 2))
        aliases = [" ".join(dice.sample(VERBS, 2))] if dice.random() < 0.5 else []
        head = f"---\ntags: [{', '.join(tags)}]\naliases: [{', '.join(aliases)}]\n---\n"
    title = f"# {' '.join(dice.sample(VERBS, dice.randint(1, 2)))} {number}\n\n" if dice.random() < 0.6 else ""
    body = " ".join(dice.choices(VERBS + FILLERS * 2, k=dice.randint(3, 80)))
    heading = f"\n\n## About {dice.choice(VERBS)}\n\n" if dice.random() < 0.4 else "\n"
    german = GERMAN * 3 if dice.random() < 0.2 else ""
    return f"{head}{title}{german}{body}{heading}{' '.join(dice.choices(VERBS, k=3))}\n"


@pytest.fixture(scope="module")
def plumbing(open_desk):
    dice = random.Random(20260615)
    return open_desk(
        {f"{('In', 'Out')[number % 2]}/{number:02}.md": random_note(dice, number) for number in range(70)}, embed=False
    )


@dataclass
class Counted:
    """One note as a plain count of its words."""

    path: str
    body: dict
    fields: list
    length: int
    english: bool


def counted(note):
    found = bulk.terms(note.text)
    places = {}
    for term, position in found:
        places.setdefault(term, set()).add(position)
    title = note.title if note.title == stem_of(note.path) else f"{note.title}\n{stem_of(note.path)}"
    fields = [
        Counter(term for term, _ in bulk.terms("\n".join(parts)))
        for parts in ([title], note.aliases, [each.text for each in note.headings], [tag.name for tag in note.tags])
    ]
    return Counted(
        note.path, places, fields, found[-1][1] + 1 if found else 0, texts.is_english(term for term, _ in found)
    )


def plain_scores(notes, query):
    """BM25F as `words` describes it, over just these notes."""
    vocabulary = set().union(*(note.body for note in notes), *(field for note in notes for field in note.fields))
    stops = words.stop_words_of([each[0] for each in _spread(query)])
    asked = [each for each in _spread(query) if each[0] not in stops]
    times = Counter(term for term, _, _ in asked)
    concepts = [each for number, each in enumerate(asked) if each[0] not in {term for term, _, _ in asked[:number]}]
    mean = sum(note.length for note in notes) / len(notes)
    score, held = Counter(), {note.path: [] for note in notes}
    idf = []
    for number, (term, _, _) in enumerate(concepts):
        alike = [other for other in vocabulary if other != term and texts.stem(other) == texts.stem(term)]
        weights = {note.path: _weight(note, term, alike, mean) for note in notes}
        df = sum(weight > 0 for weight in weights.values())
        idf.append(log(1 + (len(notes) - df + 0.5) / (df + 0.5)))
        for path, weight in weights.items():
            score[path] += times[term] * idf[number] * weight * (words.K1 + 1) / (weight + words.K1)
            if weight > 0:
                held[path].append(number)
    if len(concepts) > 1:
        for note in notes:
            share = sum(idf[number] for number in held[note.path]) / sum(idf)
            score[note.path] *= 1 + words.COMPLETE_BONUS * share**2
            score[note.path] += _neighbours(note, concepts, idf, vocabulary)
    return score


def _spread(query):
    offset = 0
    for piece, part in enumerate(query.split()):
        found = texts.query_terms(part)
        yield from ((term, offset + position, piece) for term, position in found)
        offset += found[-1][1] + 1 if found else 0


def _weight(note, term, alike, mean):
    total = 0.0
    for variant in [term, *(alike if note.english else ())]:
        value = len(note.body.get(variant, ())) / (1 - words.B + words.B * note.length / mean)
        value += sum(weight * field[variant] for weight, field in zip(words.FIELD_WEIGHTS, note.fields, strict=True))
        total += value * (1.0 if variant == term else words.STEM_WEIGHT)
    return total


def _neighbours(note, concepts, idf, vocabulary):
    gain = 0.0
    for number, ((left, at, piece), (right, then, other)) in enumerate(pairwise(concepts)):
        if not 0 < then - at <= 3:
            continue
        first, second = (
            set().union(*(note.body.get(each, ()) for each in vocabulary if texts.stem(each) == texts.stem(term)))
            for term in (left, right)
        )
        together = sum(position + then - at in second for position in first)
        bonus = words.COMPOUND_BONUS if piece == other else words.ADJACENT_BONUS
        gain += bonus * (idf[number] + idf[number + 1]) / 2 * together / (together + words.K1) * (words.K1 + 1)
    return gain


QUERIES = (
    "drain",
    "copper valves",
    "draining the copper valve",
    "valve draining valve",
    "heron gasket pump copper drain",
    "drain-valve",
    "pump of the heron",
    "winter wrench pumping",
)


@pytest.mark.parametrize("scope", [Scope(), Scope(folders=("In",))], ids=["vault", "scope"])
@pytest.mark.parametrize("query", QUERIES)
def test_word_scores_equal_those_of_a_plain_ranker_over_just_the_visible_notes(open_desk, plumbing, query, scope):
    desk = open_desk(None, vault=plumbing.vault, scope=scope)
    inside = [path for path in sorted(paths_of(plumbing)) if path.startswith("In/" if scope.folders else "")]
    expected = plain_scores([counted(plumbing.vault.read(path)) for path in inside], query)
    with desk.reader.snapshot():
        ranking = words.rank(desk.reader, words.concepts_of(desk.reader, query.split()))
        ordered = ranking.best(None, 10)
    assert np.allclose(ranking.score, [expected[path] for path in inside])
    by_score = sorted((path for path in inside if expected[path] > 0), key=lambda path: -expected[path])
    assert [inside[place] for place in ordered] == by_score[:10]


def paths_of(desk):
    with desk.reader.snapshot():
        return [path for (path,) in desk.reader.connection.execute("SELECT path FROM files")]


@pytest.mark.parametrize("ranking", ["words", "best", "meaning"])
def test_the_same_question_has_the_same_answer_in_a_new_reader_whatever_was_asked_before(open_desk, plumbing, ranking):
    if ranking != "words":
        plumbing.vault.embed()
    first = open_desk(None, vault=plumbing.vault)
    second = open_desk(None, vault=plumbing.vault)
    for query in reversed(QUERIES):
        second.ask(query, ranking=ranking)
    for query in QUERIES:
        assert first.ask(query, ranking=ranking) == second.ask(query, ranking=ranking)


@pytest.mark.parametrize("ranking", ["words", "best", "meaning"])
def test_a_smaller_top_k_is_the_beginning_of_a_larger_one(plumbing, ranking):
    if ranking != "words":
        plumbing.vault.embed()
    most = plumbing.ask("copper valve", top_k=50, ranking=ranking)
    assert len(most.hits) == min(50, most.total)
    scores = [hit.score for hit in most.hits]
    assert scores == sorted(scores, reverse=True)
    for top_k in (1, 7):
        few = plumbing.ask("copper valve", top_k=top_k, ranking=ranking)
        assert [(hit.path, hit.score) for hit in few.hits] == [(hit.path, hit.score) for hit in most.hits[:top_k]]
        assert few.total == most.total


def test_scores_lie_between_nought_and_one_and_the_best_by_words_has_one(plumbing):
    scores = [hit.score for hit in plumbing.ask("copper valve", ranking="words", top_k=50).hits]
    assert scores[0] == 1.0
    assert all(0 < score <= 1 for score in scores)


def test_hits_beyond_the_pool_of_the_best_are_still_there_by_words(open_desk):
    notes = {f"{number:03}.md": f"otter {'reed ' * (number % 7)}" for number in range(260)}
    desk = open_desk(notes, embed=False)
    with desk.reader.snapshot():
        ranking = words.rank(desk.reader, words.concepts_of(desk.reader, ["otter"]))
        everything = ranking.best(None, 1_000).tolist()
        assert ranking.best(None, 230).tolist() == everything[:230]
    assert everything == sorted(range(260), key=lambda place: (-ranking.score[place], place))
