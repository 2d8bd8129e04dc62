from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys

import pytest

from second_brain.config import OPTIONS, Config, NamedScope, VaultEntry, load
from second_brain.config.options import RETIRED, SECTIONS

EXTRA = {"vault_name", "source", "warnings", "origin"}
TYPES = {
    "str": "str",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "url": "str",
    "list": "tuple[str, ...]",
    "choice": "str",
}
S4_DEFAULTS = {
    "ollama_url": "http://127.0.0.1:11434",
    "embedding_model": "nomic-embed-text",
    "chunk_size": 500,
    "chunk_overlap": 80,
    "watch_enabled": True,
    "exclude_globs": (
        ".obsidian/**",
        ".git/**",
        "Templates/**",
        "_types/**",
        "_templates/**",
        "**/_templates*/**",
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
    ),
    "exclude_status": (),
    "max_context_chunks": 8,
    "redact_patterns": (),
    "graph_enabled": True,
    "graph_knn_k": 8,
    "graph_semantic_min": 0.35,
    "graph_min_edge_score": 0.15,
    "graph_weight_semantic": 0.5,
    "graph_weight_link": 0.25,
    "graph_weight_tag": 0.15,
    "graph_weight_comention": 0.10,
    "graph_comention_cap": 3,
    "graph_comention_max_fanout": 20,
}


def test_the_fields_of_the_configuration_are_the_declared_options():
    fields = {field.name: field.type for field in dataclasses.fields(Config)}
    assert fields.keys() - EXTRA == {option.name for option in OPTIONS}
    typed = {option.name: TYPES[option.kind] for option in OPTIONS if option.kind in TYPES}
    assert {name: fields[name] for name in typed} == typed


@pytest.mark.parametrize(
    ("section", "kind", "extra"), [("vaults", VaultEntry, set()), ("scopes", NamedScope, {"scope"})]
)
def test_the_fields_of_an_entry_are_the_declared_columns(section, kind, extra):
    fields = {field.name for field in dataclasses.fields(kind)} - {"name"} - extra
    in_scope = {"folders", "excluded", "tags"} if extra else set()
    assert fields == {option.name for option in SECTIONS[section]} - in_scope


def test_every_option_has_one_sentence_and_a_default_that_passes_its_own_check():
    for option in (*OPTIONS, *SECTIONS["vaults"], *SECTIONS["scopes"]):
        assert option.help.endswith(".")
        assert "\n" not in option.help
        assert not (option.check and option.check(option.default)), option.name


def test_no_name_or_variable_is_declared_twice():
    names = [option.name for option in OPTIONS] + list(RETIRED)
    variables = [option.env for option in OPTIONS if option.env]
    assert len(names) == len(set(names))
    assert len(variables) == len(set(variables))


@pytest.mark.requirement("RG-15")
def test_without_any_file_the_documented_defaults_hold(tmp_path):
    config = load(env={}, cwd=tmp_path)
    assert {key: getattr(config, key) for key in S4_DEFAULTS} == S4_DEFAULTS
    assert (config.source, config.vault_path, config.warnings) == (None, None, ())
    assert set(config.origin.values()) == {"default"}


def test_a_configuration_survives_the_way_to_another_process(write, vault):
    path = write(f'vault_path = "{vault}"\n[scopes.work]\nfolders = ["Areas"]\n')
    config = load(config_path=path, env={})
    assert pickle.loads(pickle.dumps(config)) == config


def test_importing_the_package_loads_nothing_that_only_some_commands_need():
    code = (
        "import sys, second_brain.config, second_brain.config.writer\n"
        "print(sorted({'tomllib', 'tomlkit', 'rapidfuzz', 'platformdirs', 'filelock', 'hashlib'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
