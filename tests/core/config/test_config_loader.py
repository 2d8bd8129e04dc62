from __future__ import annotations

import pytest

from second_brain.config import load
from second_brain.errors import ConfigError


def refused(**arguments):
    with pytest.raises(ConfigError) as caught:
        load(**arguments)
    return caught.value


# --- which source decides


@pytest.mark.requirement("RG-15")
@pytest.mark.parametrize(
    ("flag", "variable", "line", "expected"),
    [
        ("http://a.invalid", "http://b.invalid", 'ollama_url = "http://c.invalid"', ("http://a.invalid", "flag")),
        (None, "http://b.invalid", 'ollama_url = "http://c.invalid"', ("http://b.invalid", "env")),
        (None, "", 'ollama_url = "http://c.invalid/"', ("http://c.invalid", "file")),
        (None, "", "", ("http://127.0.0.1:11434", "default")),
        ("http://a.invalid", "", "", ("http://a.invalid", "flag")),
    ],
)
def test_a_flag_goes_before_the_environment_before_the_file(write, flag, variable, line, expected):
    config = load(config_path=write(line), flags={"ollama_url": flag}, env={"SECOND_BRAIN_OLLAMA_URL": variable})
    assert (config.ollama_url, config.origin["ollama_url"]) == expected


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("SECOND_BRAIN_EMBED_MODEL", "tiny-model", "embedding_model", "tiny-model"),
        ("SECOND_BRAIN_SNIPPET_CHARS", " 120 ", "snippet_chars", 120),
        ("SECOND_BRAIN_SCHEMA_TAGS", "0", "schema_tags", 0),
        ("SECOND_BRAIN_RESULT_BUDGET", "900", "result_budget", 900),
        ("VAULT_SKIP_FOLDERS", "Archive, Old/Stuff ,", "skip_folders", ("Archive", "Old/Stuff")),
        ("VAULT_NAME_ENDINGS", "s,'s", "name_endings", ("s", "'s")),
        ("VAULT_NAME_ENDINGS", '["s", "en"]', "name_endings", ("s", "en")),
    ],
)
def test_each_documented_variable_sets_its_option(tmp_path, variable, text, key, value):
    config = load(env={variable: text}, cwd=tmp_path)
    assert getattr(config, key) == value
    assert config.origin[key] == "env"


@pytest.mark.parametrize("text", ["many", "0", "-5", "4.5", "1e3", "९"])
@pytest.mark.parametrize(
    ("variable", "key", "default"),
    [("SECOND_BRAIN_SNIPPET_CHARS", "snippet_chars", 400), ("SECOND_BRAIN_RESULT_BUDGET", "result_budget", 4000)],
)
def test_a_wrong_figure_in_the_environment_leaves_the_default_and_is_told(tmp_path, variable, key, default, text):
    config = load(env={variable: text}, cwd=tmp_path)
    assert getattr(config, key) == default
    assert config.origin[key] == "default"
    assert [variable in warning and repr(text) in warning for warning in config.warnings] == [True]


def test_a_wrong_figure_in_the_environment_leaves_that_of_the_file(write):
    config = load(config_path=write("schema_tags = 7"), env={"SECOND_BRAIN_SCHEMA_TAGS": "-1"})
    assert (config.schema_tags, config.origin["schema_tags"]) == (7, "file")


def test_a_wrong_figure_in_a_flag_is_refused(tmp_path):
    assert refused(flags={"snippet_chars": "many"}, env={}, cwd=tmp_path).parameter == "snippet_chars"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("watch_enabled", "no", False),
        ("inline_tags", "TRUE", True),
        ("chunk_size", "90", 90),
        ("poll_seconds", "1.5", 1.5),
        ("ranking", "Words", "words"),
        ("exclude_globs", "[ab]*.md, Old/**", ("[ab]*.md", "Old/**")),
        ("exclude_globs", "", ()),
        ("graph_knn_k", 3, 3),
        ("exclude_status", ("done",), ("done",)),
    ],
)
def test_flags_may_be_text_or_typed(tmp_path, key, text, value):
    assert getattr(load(flags={key: text}, env={}, cwd=tmp_path), key) == value


# --- which file is read


@pytest.mark.requirement("RG-15")
def test_the_file_is_the_named_one_else_the_variables_else_the_local_else_the_platforms(tmp_path, home, write):
    named, by_variable = write("chunk_size = 101"), write("chunk_size = 102", "other.toml")
    local, platform = tmp_path / "work" / "rag_config.toml", home / "conf" / "second-brain" / "config.toml"
    for path, size in ((local, 103), (platform, 104)):
        path.parent.mkdir(parents=True)
        path.write_text(f"chunk_size = {size}", "utf-8")
    env = {"SECOND_BRAIN_CONFIG": str(by_variable)}
    read = [
        load(config_path=named, env=env, cwd=local.parent),
        load(env=env, cwd=local.parent),
        load(env={}, cwd=local.parent),
        load(env={}, cwd=tmp_path),
    ]
    assert [config.chunk_size for config in read] == [101, 102, 103, 104]
    assert [config.source for config in read] == [named, by_variable, local, platform]


@pytest.mark.parametrize(
    ("arguments", "named_by"),
    [
        ({"config_path": "none.toml", "env": {}}, "--config"),
        ({"env": {"SECOND_BRAIN_CONFIG": "~/none.toml"}}, "SECOND_BRAIN_CONFIG"),
    ],
)
def test_a_file_that_was_asked_for_must_exist(tmp_path, arguments, named_by):
    error = refused(**arguments, cwd=tmp_path)
    assert named_by in error.message
    assert "none.toml" in error.message
    assert "init" in error.hint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"chunk_size = 90\nchunk_overlap = = 3\n", "line 2"),
        (b'vault_path = "C:\\Users\\me"\n', "line 1"),
        (b"vault_path = '\xe4'\n", "not UTF-8"),
    ],
)
def test_a_broken_file_is_told_with_its_place(write, content, said):
    path = write("")
    path.write_bytes(content)
    error = refused(config_path=path, env={})
    assert said in error.message
    assert str(path) in error.message


def test_a_folder_instead_of_a_file_is_told(tmp_path):
    assert "is a folder (--config)" in refused(config_path=tmp_path, env={}).message


def test_a_byte_order_mark_and_windows_newlines_do_no_harm(write):
    path = write("")
    path.write_bytes(b"\xef\xbb\xbfchunk_size = 90\r\ninline_tags = false\r\n")
    config = load(config_path=path, env={})
    assert (config.chunk_size, config.inline_tags) == (90, False)


# --- paths


@pytest.mark.requirement("RG-15")
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("$CWD", "{cwd}"),
        ("${CWD}/sub", "{cwd}/sub"),
        ("~/Notes", "{home}/Notes"),
        ("~", "{home}"),
        ("$PLACE/x", "/somewhere/x"),
        ("${PLACE}x", "/somewherex"),
        ("$PLACE/$$HOME", "/somewhere/$HOME"),
        ("notes", "{conf}/notes"),
        ("../notes/./x", "{tmp}/notes/x"),
        ("/abs/notes", "/abs/notes"),
    ],
)
def test_written_paths_are_expanded_and_start_at_the_file(tmp_path, home, write, written, expected):
    path = write(f'vault_path = "{written}"')
    cwd = tmp_path / "elsewhere"
    config = load(config_path=path, env={"PLACE": "/somewhere", "HOME": str(home), "SECOND_BRAIN_DB": "/x.db"}, cwd=cwd)
    assert str(config.vault_path) == expected.format(cwd=cwd, home=home, conf=path.parent, tmp=tmp_path)
    assert config.warnings == ()


def test_a_variable_that_is_not_set_is_told(write):
    config = load(config_path=write('vault_path = "/x/$MISSPELT/notes"'), env={})
    assert str(config.vault_path) == "/x/$MISSPELT/notes"
    assert any("MISSPELT" in warning for warning in config.warnings)


def test_paths_of_flags_and_variables_start_at_the_working_directory(tmp_path, write):
    path, cwd = write('db_path = "ours.db"'), tmp_path / "elsewhere"
    by_variable = load(config_path=path, env={"SECOND_BRAIN_DB": "x.db"}, cwd=cwd)
    by_flag = load(config_path=path, env={"SECOND_BRAIN_DB": "x.db"}, flags={"db_path": "y$HOME.db"}, cwd=cwd)
    by_file = load(config_path=path, env={}, cwd=cwd)
    assert (by_variable.db_path, by_flag.db_path) == (cwd / "x.db", cwd / "y$HOME.db")
    assert by_file.db_path == path.parent / "ours.db"


# --- what is refused


WRONG = [
    ("chunk_size = 19", "chunk_size", "at least 20"),
    ("chunk_size = true", "chunk_size", "whole number"),
    ('chunk_size = "500"', "chunk_size", "whole number"),
    ("chunk_overlap = -1", "chunk_overlap", "at least 0"),
    ("chunk_size = 50\nchunk_overlap = 50", "chunk_overlap", "smaller than chunk_size"),
    ("chunk_size = 60", "chunk_overlap", "smaller than chunk_size"),
    ("watch_enabled = 1", "watch_enabled", "true or false"),
    ('exclude_globs = "a"', "exclude_globs", "list of texts"),
    ("exclude_status = [1]", "exclude_status", "list of texts"),
    ('ranking = "cosine"', "ranking", "best, meaning, words"),
    ("embedding_model = ' '", "embedding_model", "not be empty"),
    ('ollama_url = "localhost:11434"', "ollama_url", "http://"),
    ('ollama_url = "ftp://a.invalid"', "ollama_url", "http://"),
    ('ollama_url = "http://"', "ollama_url", "http://"),
    ('redact_patterns = ["ok", "(oops"]', "redact_patterns", "'(oops'"),
    ('redact_patterns = ["x*"]', "redact_patterns", "empty text"),
    ("redact_patterns = ['\\b']", "redact_patterns", "empty text"),
    ('redact_patterns = ["a{99999999999999}"]', "redact_patterns", "no regular expression"),
    ("graph_semantic_min = 1.5", "graph_semantic_min", "between -1 and 1"),
    ("graph_min_edge_score = nan", "graph_min_edge_score", "a number"),
    ("poll_seconds = 0", "poll_seconds", "greater than 0"),
    ("endpoint_port = 70000", "endpoint_port", "between 0 and 65535"),
    ("max_context_chunks = 0", "max_context_chunks", "at least 1"),
    ("vault_path = ''", "vault_path", "a path"),
    ('vault_path = "a\\u0000b"', "vault_path", "a path"),
    ('embedder = "olama"', "embedder", "auto, builtin, ollama"),
    ('log_level = "loud"', "log_level", "debug, info, warning, error"),
    ('skip_folders = ["../x"]', "skip_folders", "'../x'"),
    ("vaults = 3", "vaults.NAME", "must be a table"),
    ("[vaults]\nwork = 'x'", "vaults.work", "must be a table"),
    ("[vaults.work]\ndb = 'x.db'", "vaults.work.path", "has no path"),
    ('[scopes.a]\nfolders = ["x*"]', "scopes.NAME.folders", "wildcard"),
    ('[scopes.a]\nexcluded = ["/x"]', "scopes.NAME.excluded", "absolute"),
    ('[scopes.a]\nprofile = "full"', "scopes.NAME.profile", "core, retrieval"),
    ('[scopes.a]\nvault = "none"', "scopes.a.vault", "'none'"),
    ('[scopes.a]\nfolder = ["x"]', "scopes.a.folder", "did you mean folders?"),
]


@pytest.mark.requirement("RG-15")
@pytest.mark.parametrize(("text", "key", "said"), WRONG, ids=[text for text, _, _ in WRONG])
def test_a_wrong_value_is_refused_with_key_file_and_line(write, text, key, said):
    path = write("# first\n" + text)
    error = refused(config_path=path, env={})
    assert said in error.message
    assert str(path) in error.message
    assert "line " in error.message or key == "chunk_overlap"
    assert error.parameter == key.replace("vaults.NAME", "vaults" if "vaults = 3" in text else "vaults.NAME")
    assert error.hint or error.parameter == "vaults.work"


def test_instructions_are_refused_beyond_600_characters_with_the_figure(write):
    text = "[scopes.a]\ninstructions = '{}'"
    assert load(config_path=write(text.format("x" * 600)), env={}).scopes["a"].instructions == "x" * 600
    assert "601" in refused(config_path=write(text.format("x" * 601)), env={}).message


def test_the_line_of_an_error_is_that_of_the_key_in_its_own_table(write):
    path = write('ranking = "best"\n\n[scopes.a]\nranking = "words"\n\n[scopes."b"]\n# here\nranking = "loud"\n')
    assert f"{path}, line 8: scopes.b.ranking" in refused(config_path=path, env={}).message


def test_a_wrong_variable_is_named(tmp_path):
    error = refused(env={"SECOND_BRAIN_OLLAMA_URL": "nowhere"}, cwd=tmp_path)
    assert "SECOND_BRAIN_OLLAMA_URL" in error.message
    assert error.parameter == "ollama_url"


def test_a_flag_that_no_option_has_is_refused_with_the_nearest(tmp_path):
    assert "chunk_size" in refused(flags={"chunksize": 3}, env={}, cwd=tmp_path).options


# --- what is only told


@pytest.mark.requirement("RG-15")
def test_retired_keys_are_ignored_with_one_notice(write, vault):
    path = write(
        f'vault_path = "{vault}"\nqdrant_path = "q"\nfts_path = "f/x"\nsync_state_path = 3\ncollection_name = "c"'
    )
    config = load(config_path=path, env={})
    assert len(config.warnings) == 1
    assert all(key in config.warnings[0] for key in ("qdrant_path", "fts_path", "sync_state_path", "collection_name"))
    assert path.parent not in config.db_path.parents


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("exclude_glob = []", "exclude_glob", "exclude_globs"),
        ("chunkSize = 3", "chunkSize", "chunk_size"),
        ("[vault.x]\npath = 'y'", "vault", "vaults"),
        ("[vaults.x]\npath = 'y'\ndatabase = 'z'", "database", ""),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_and_is_no_error(write, text, key, nearest):
    config = load(config_path=write(text), env={})
    assert [key in warning and nearest in warning and "line" in warning for warning in config.warnings] == [True]


def test_weights_that_do_not_sum_to_one_are_told(write):
    config = load(config_path=write("graph_weight_link = 0.5"), env={})
    assert any("1.25" in warning for warning in config.warnings)


# --- vault and database


@pytest.mark.requirement("RG-15")
def test_each_vault_has_its_own_database_in_the_data_folder(tmp_path, home):
    first, second = tmp_path / "a" / "My Notes", tmp_path / "b" / "My Notes"
    for folder in (first, second):
        folder.mkdir(parents=True)
    databases = [load(env={}, cwd=tmp_path, vault=str(folder)).db_path for folder in (first, second)]
    assert databases[0] != databases[1]
    for path in databases:
        assert path.parent == home / "share" / "second-brain"
        assert path.name.startswith("My-Notes-")
        assert len(path.stem) == len("My-Notes-") + 8


def test_two_names_of_one_folder_share_the_database(tmp_path, vault):
    link = tmp_path / "link"
    link.symlink_to(vault)
    direct, linked = (load(env={}, cwd=tmp_path, vault=name) for name in (str(vault), "link"))
    assert direct.db_path == linked.db_path
    assert linked.vault_path == link


@pytest.mark.requirement("RG-15")
def test_the_database_lies_in_data_beside_a_local_configuration(write, vault):
    path = write(f'vault_path = "{vault}"', "rag_config.toml")
    without = load(config_path=path, env={}).db_path
    (path.parent / "data").mkdir()
    config = load(config_path=path, env={})
    assert config.db_path == path.parent / "data" / "second-brain.db"
    assert without.parent != config.db_path.parent
    assert config.origin["db_path"] == "default"


@pytest.mark.requirement("NG1", "RG-15")
def test_a_configuration_inside_the_vault_keeps_working_without_a_database_there(vault, home):
    (vault / "data").mkdir()
    path = vault / "rag_config.toml"
    path.write_text('vault_path = "$CWD"\n', "utf-8")
    config = load(config_path=path, env={}, cwd=vault)
    assert config.vault_path == vault
    assert home in config.db_path.parents


@pytest.mark.requirement("NG1")
@pytest.mark.parametrize("where", ["index.db", ".hidden/index.db", "../Notes/index.db", "{link}/index.db", "."])
@pytest.mark.parametrize("by", ["flag", "env", "file"])
def test_a_database_inside_the_vault_is_refused_naming_both(tmp_path, write, vault, where, by):
    (tmp_path / "link").symlink_to(vault / "Areas")
    database = str(vault / where.format(link=tmp_path / "link"))
    path = write(f'vault_path = "{vault}"\n' + (f'db_path = "{database}"' if by == "file" else ""))
    error = refused(
        config_path=path,
        flags={"db_path": database if by == "flag" else None},
        env={"SECOND_BRAIN_DB": database} if by == "env" else {},
    )
    assert error.parameter == "db_path"
    assert str(vault) in error.message
    assert by in error.hint


@pytest.mark.requirement("NG1")
def test_a_vault_that_holds_the_data_folder_needs_another_database(tmp_path, home):
    assert "--db" in refused(env={}, cwd=tmp_path, vault=str(home)).hint
    assert load(env={"SECOND_BRAIN_DB": "x.db"}, cwd=tmp_path, vault=str(home)).db_path == tmp_path / "x.db"


@pytest.mark.requirement("NG1")
def test_a_log_inside_the_vault_is_refused(write, vault):
    path = write(f'vault_path = "{vault}"\nlog_file = "{vault}/log.txt"')
    assert refused(config_path=path, env={}).parameter == "log_file"


def test_a_database_named_like_a_sibling_of_the_vault_is_fine(write, vault):
    path = write(f'vault_path = "{vault}"\ndb_path = "{vault}-index/x.db"')
    assert load(config_path=path, env={}).db_path == vault.with_name("Notes-index") / "x.db"


@pytest.fixture
def several(write, vault, tmp_path):
    for name in ("second", "third"):
        (tmp_path / name).mkdir()
    return write(f"""
vault_path = "{vault}"
db_path = "main.db"
[vaults.two]
path = "{tmp_path}/second"
db = "two.db"
[vaults.three]
path = "{tmp_path}/third"
""")


@pytest.mark.parametrize(
    ("chosen", "folder", "name"),
    [
        (None, "Notes", "Notes"),
        ("Notes", "Notes", "Notes"),
        ("{tmp}/Notes", "Notes", "Notes"),
        ("two", "second", "two"),
        ("{tmp}/second", "second", "two"),
        ("three", "third", "three"),
    ],
)
def test_a_vault_is_chosen_by_name_or_folder(several, tmp_path, chosen, folder, name):
    config = load(config_path=several, env={}, vault=chosen and chosen.format(tmp=tmp_path))
    assert (config.vault_path, config.vault_name) == (tmp_path / folder, name)


def test_each_vault_of_a_configuration_has_the_database_that_is_meant_for_it(several, home):
    main, two, three = (load(config_path=several, env={}, vault=name) for name in (None, "two", "three"))
    assert (main.db_path, two.db_path) == (several.parent / "main.db", several.parent / "two.db")
    assert three.db_path.name.startswith("third-")
    assert home in three.db_path.parents
    assert [any("db_path" in warning for warning in config.warnings) for config in (main, two, three)] == [
        False,
        False,
        True,
    ]


def test_the_environments_database_goes_before_that_of_a_vault(several, tmp_path):
    config = load(config_path=several, env={"SECOND_BRAIN_DB": "/x/y.db"}, vault="two")
    assert str(config.db_path) == "/x/y.db"


def test_without_vault_path_the_first_vault_of_the_table_is_taken(write):
    config = load(config_path=write("[vaults.b]\npath = '/b'\n[vaults.a]\npath = '/a'"), env={})
    assert (config.vault_name, config.origin["vault_path"]) == ("b", "file")


def test_naming_the_configured_vault_in_the_table_does_not_change_its_database(write, vault):
    before = load(config_path=write(f'vault_path = "{vault}"'), env={})
    after = load(config_path=write(f'vault_path = "{vault}"\n[vaults.home]\npath = "{vault}"'), env={})
    assert (before.vault_name, after.vault_name) == ("Notes", "home")
    assert before.db_path == after.db_path


@pytest.mark.parametrize("name", ["four", "", "/nowhere/at/all"])
def test_an_unknown_vault_is_refused_with_the_known_names(several, name):
    error = refused(config_path=several, env={}, vault=name)
    assert error.parameter == "vault"
    assert error.options == ("two", "three", "Notes")


def test_with_a_database_and_no_vault_there_is_still_a_configuration(tmp_path, home):
    assert load(env={}, cwd=tmp_path).db_path == home / "share" / "second-brain" / "second-brain.db"
    assert load(env={}, cwd=tmp_path, flags={"db_path": "old.db"}).db_path == tmp_path / "old.db"


# --- the embedder


@pytest.mark.parametrize(
    ("text", "env", "flags", "kind"),
    [
        ("", {}, {}, "builtin"),
        ('embedding_model = "nomic-embed-text"', {}, {}, "ollama"),
        ('ollama_url = "http://127.0.0.1:11434"', {}, {}, "ollama"),
        ("", {"SECOND_BRAIN_EMBED_MODEL": "m"}, {}, "ollama"),
        ("", {"SECOND_BRAIN_OLLAMA_URL": ""}, {}, "builtin"),
        ("", {}, {"embedding_model": "m"}, "ollama"),
        ('embedder = "builtin"\nembedding_model = "m"', {}, {}, "builtin"),
        ('embedder = "ollama"', {}, {}, "ollama"),
        ('embedder = "models/tiny"', {}, {}, "folder"),
        ('embedding_model = "m"', {}, {"embedder": "builtin"}, "builtin"),
    ],
)
def test_auto_is_ollama_only_when_a_model_or_url_is_named(write, text, env, flags, kind):
    path = write(text)
    config = load(config_path=path, env=env, flags=flags)
    assert config.embedder_kind() == kind
    assert kind != "folder" or config.embedder == str(path.parent / "models" / "tiny")


# --- odd surroundings


def test_a_deleted_working_directory_does_not_stop_the_program(tmp_path, home, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert load(env={}, flags={"log_file": "x.log"}).log_file == home / "x.log"


def test_a_tilde_that_names_no_user_is_a_name(write):
    path = write('vault_path = "~no-such-user-here/notes"')
    assert load(config_path=path, env={}).vault_path == path.parent / "~no-such-user-here" / "notes"


def test_text_that_is_no_number_is_refused_as_such(tmp_path):
    assert "must be a number" in refused(flags={"poll_seconds": "soon"}, env={}, cwd=tmp_path).message
