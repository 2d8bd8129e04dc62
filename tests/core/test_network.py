"""Links found through the index are those that a look at all links finds."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexed_vault import IndexedVault
from second_brain.index import schema
from second_brain.model import Scope
from second_brain.network import network_of
from second_brain.vault import links

NAMES = [
    "Mira",
    "mira",
    "C#",
    "Ünder",
    "U\u0308nder",
    "100% done",
    "a.b",
    "Straße",
    "STRASSE",
    "x.md",
    "日記",
    "[odd",
    "half%20way",
    "İstanbul",
    "a/b",
]
FOLDERS = ["", "a/", "a/b/", "B/"]


def _target(rng, paths):
    name = rng.choice(NAMES)
    form = rng.choice(
        [
            "{n}",
            "{f}{n}",
            "{n}.md",
            "{n}#h",
            "{n}#^b",
            "./{n}",
            "../{n}",
            "a/../{n}",
            "a/./{n}",
            "/{f}{n}",
            "{n}|t",
            "{F}\\{n}",
        ]
    )
    return form.format(n=name, f=rng.choice(FOLDERS), F=rng.choice(["a", "B"]))


def _random_vault(rng):
    files = {}
    for _ in range(rng.randint(2, 14)):
        path = f"{rng.choice(FOLDERS)}{rng.choice(NAMES).replace('/', '')}.md"
        alias = (
            f"---\naliases: ['{rng.choice(NAMES)}{rng.choice(['', '.md', '/'])}']\n---\n" if rng.random() < 0.3 else ""
        )
        body = " ".join(
            f"[[{_target(rng, files)}]]" if rng.random() < 0.7 else f"[t](<{_target(rng, files)}>)"
            for _ in range(rng.randint(0, 5))
        )
        files[path] = f"{alias}{body}\n"
    return files


@pytest.mark.requirement("SV-9")
@pytest.mark.parametrize("scope", [Scope(), Scope(folders=("a",))], ids=["vault", "scope"])
@pytest.mark.parametrize("seed", range(12))
def test_links_of_one_note_are_those_among_all_links(tmp_path, seed, scope):
    vault = IndexedVault(tmp_path)
    vault.write_all(_random_vault(random.Random(seed)))
    vault.sync()
    with vault.reader(scope) as reader:
        network = network_of(reader)
        into, out = defaultdict(list), defaultdict(list)
        for row, target in network.everything():
            out[row.source].append((row, target))
            if target is not None:
                into[target].append(row)
        paths = [path for (path,) in reader.connection.execute("SELECT path FROM files")]
        assert len(paths) > 0 or scope.folders
        assert {path: network.links_from(path) for path in paths} == {path: out[path] for path in paths}
        assert {path: network.links_to(path) for path in paths} == {path: into[path] for path in paths}


@given(st.text(st.characters(exclude_characters="#^%/\\.", exclude_categories=["Cs"]), max_size=12))
def test_names_that_links_take_for_equal_have_equal_keys(name):
    assert schema.link_key(name) == schema.value_key(links.key(name))
