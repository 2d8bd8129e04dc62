from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path
from urllib.parse import unquote

import click
import numpy as np
import pytest

from second_brain.cli.app import _COMMANDS, program
from second_brain.cli.session import Session
from second_brain.config import load
from second_brain.index import words
from second_brain.index.terms import terms
from second_brain.indexing.chunks import layout_for
from second_brain.search import fusion
from second_brain.service import SecondBrain

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "installers").glob("*.md")])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def text_of(name):
    return (ROOT / name).read_text("utf-8")


def console_lines():
    for name in NAMES:
        for block in re.findall(r"^```console\n(.*?)^```", text_of(name), re.DOTALL | re.MULTILINE):
            yield from ((name, line) for line in block.splitlines() if line.strip())


def commands(program_name):
    found = sorted({(name, line) for name, line in console_lines() if re.search(rf"\b{program_name} ", line)})
    assert found
    return found


def parse(line):
    """Go through the command tree as click does, without running anything."""
    given = shlex.split(line)
    assert given[0].rpartition("/")[2] == "second-brain"
    context = program.make_context("second-brain", given[1:], obj=Session())
    while isinstance(context.command, click.Group):
        rest = [*context._protected_args, *context.args]
        _, command, rest = context.command.resolve_command(context, rest)
        context = command.make_context(command.name, rest, parent=context)


@pytest.mark.parametrize(("page", "line"), commands("second-brain"))
def test_each_command_of_a_document_exists_with_its_options(page, line):
    try:
        parse(line)
    except click.exceptions.Exit as end:  # --help
        assert end.exit_code == 0


@pytest.mark.parametrize(("page", "line"), commands("setup.sh"))
def test_each_call_of_the_setup_is_one_of_its_two_commands(page, line):
    given = shlex.split(line)
    assert given[:2] == ["sh", "setup.sh"]
    assert given[2] in {"run", "test"}
    assert len(given) <= (5 if given[2] == "run" else 3)


@pytest.mark.parametrize("line", sorted({line for _, line in console_lines() if "bin/python" in line}))
def test_each_python_call_names_files_that_exist(line):
    places = [word for word in shlex.split(line) if word.startswith(("tests/", "docs/", "benchmarks/"))]
    assert places
    assert all((ROOT / place).exists() for place in places)


@pytest.mark.parametrize("name", NAMES)
def test_links_between_documents_lead_somewhere(name):
    prose = re.sub(r"^```.*?^```", "", text_of(name), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose))
    missing = [target for target in targets if not ((ROOT / name).parent / unquote(target.partition("#")[0])).exists()]
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_no_document_tells_of_the_machine_it_was_written_on(name):
    assert re.findall(r"(?<![\w.~-])/(?:tmp|work|home|root|opt|usr|var|Users)/\S*|\.\./shared", text_of(name)) == []


def test_the_readme_lists_every_command():
    table = text_of("README.md").partition("## Commands")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ((?:`[a-z]+`(?:, )?)+) \|", table, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([a-z]+)`", row)} == set(_COMMANDS)


def test_the_contributing_page_gives_the_reason_for_every_dependency():
    declared = [*PYPROJECT["project"]["dependencies"], *PYPROJECT["project"]["optional-dependencies"]["dev"]]
    declared += PYPROJECT["build-system"]["requires"]
    wanted = {re.match(r"[\w.-]+", requirement)[0] for requirement in declared}
    table = text_of("CONTRIBUTING.md").partition("## Dependencies")[2]
    rows = re.findall(r"^\| ([\w, -]+) \| .+ \| .+ \| (?:pure|built).* \|$", table, re.MULTILINE)
    assert {name for row in rows for name in row.split(", ")} == wanted


def test_the_architecture_shows_the_layers_that_are_checked():
    contract = PYPROJECT["tool"]["importlinter"]["contracts"][0]
    shown = text_of("ARCHITECTURE.md").partition("## Layers")[2]
    assert "```\n" + "\n".join(contract["layers"]) + "\n```" in shown


@pytest.fixture
def three_notes(tmp_path):
    """The notes of how-retrieval-works.md, indexed by words."""
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, text in re.findall(r"^\| `(\w+\.md)` \| (.+) \|$", text_of("docs/how-retrieval-works.md"), re.MULTILINE):
        (vault / name).write_text(text, "utf-8")
    brain = SecondBrain(load(flags={"db_path": tmp_path / "x.db"}, vault=str(vault)))
    brain.sync(embed=False)
    yield brain
    brain.close()


def test_the_architecture_explains_every_table(three_notes):
    table = text_of("ARCHITECTURE.md").partition("## The schema")[2].partition("\n## ")[0]
    told = {name for row in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    with three_notes.writer() as writer:
        rows = writer.connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
        )
        assert told == {name for (name,) in rows}


def worked(name):
    """The rows of a table of how-retrieval-works.md."""
    table = text_of("docs/how-retrieval-works.md").partition(f"<!-- worked: {name} -->\n")[2].partition("\n\n")[0]
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert len(rows) > 2
    return rows[2:]


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def test_the_terms_on_the_page_are_those_of_the_index():
    for written, shown in worked("terms"):
        assert {term for term, _ in terms(written)} == set(shown.replace("`", "").split())


def test_the_word_scores_on_the_page_are_those_of_the_code(three_notes):
    reader = three_notes.reader
    with reader.snapshot():
        for word, shown_df, shown_idf in worked("idf"):
            ranking = words.rank(reader, words.concepts_of(reader, [word]))
            assert int((ranking.score > 0).sum()) == int(shown_df)
            assert ranking.idf[0] == pytest.approx(float(shown_idf), abs=6e-4)
        ranking = words.rank(reader, words.concepts_of(reader, ["tea", "pot"]))
        order = ranking.best(None, 3).tolist()
        names = [("Garden", "Kettle", "Tea")[place] for place in order]
        assert [row[0] for row in worked("scores tea pot")] == names
        shown = [float(row[1]) for row in worked("scores tea pot")]
        assert shown == pytest.approx(ranking.score[order].tolist(), abs=6e-4)


def test_relatives_and_corrections_on_the_page_are_those_of_the_code(three_notes):
    with three_notes.reader.snapshot():
        for asked, searched, weight in worked("corrections"):
            (concept,) = words.concepts_of(three_notes.reader, [asked])
            assert (concept.variants[1].term, round(concept.variants[1].weight, 2)) == (searched, float(weight))


def test_layout_cosine_and_fusion_on_the_page_are_those_of_the_code():
    for configured, takes, passages in worked("layout"):
        made = layout_for(*map(int, numbers(configured)), int(takes))
        assert [made.size, made.overlap] == numbers(passages)
    for question, passage, cosine in worked("cosine"):
        assert float(np.dot(numbers(question), numbers(passage))) == pytest.approx(float(cosine))
    rows = worked("fusion")
    candidates = fusion.Candidates(
        np.arange(len(rows)), np.array([float(row[0]) for row in rows]), np.array([float(row[1]) for row in rows])
    )
    fused = fusion.fuse(candidates, fusion.meaning_weight(covered=True, named=0.0, complete=1.0))
    assert [float(row[2]) for row in rows] == pytest.approx(fused.tolist(), abs=6e-3)
    assert [row[3] == "yes" for row in rows] == fusion.worth_showing(candidates).tolist()
    page = text_of("docs/how-retrieval-works.md")
    assert f"1/62 + 1/61 = {fusion.reciprocal_ranks([[0, 1], [1]])[1]:.4f}." in page


def test_the_weights_of_meaning_on_the_page_are_those_of_the_code():
    for known, complete, named, shown in worked("weights"):
        weight = fusion.meaning_weight(covered=known == "yes", named=float(named), complete=float(complete))
        assert weight == pytest.approx(float(shown))


def test_the_architecture_names_every_module():
    """Packages by their name; modules of `index` and `indexing`, which are told apart one by one, by theirs."""
    table = text_of("ARCHITECTURE.md").partition("## What each module hides")[2].partition("\n## ")[0]
    told = set(re.findall(r"`(?:\w+\.)*(\w+\*?)`", table))
    core = ROOT / "core" / "second_brain"
    modules = {path.stem for path in core.glob("*.py")} | {path.parent.name for path in core.glob("*/__init__.py")}
    modules |= {path.stem for name in ("index", "indexing") for path in (core / name).glob("*.py")}
    modules -= {"__init__", "__main__", "index", "indexing", "vault", "embedding", "search"}
    assert {name for name in modules if name not in told and not name.startswith("chunk_")} == set()


def test_the_positions_on_the_page_are_those_of_the_index(three_notes):
    with three_notes.reader.snapshot():
        for term, places in worked("positions"):
            at, found = three_notes.reader.occurrences(term)
            names = [("Garden", "Kettle", "Tea")[place] for place in at.tolist()]
            split = np.split(found.positions, np.cumsum(found.body_tf)[:-1])
            told = {name: [int(number) for number in numbers(rest)] for name, rest in _told(places)}
            assert told == {name: positions.tolist() for name, positions in zip(names, split, strict=True)}


def _told(places):
    return re.findall(r"(Garden|Kettle|Tea) ([\d, ]+)", places)


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo vault with words and meaning, which takes seconds."""
    brain = script("trace_query").open_demo(tmp_path_factory.mktemp("demo"))
    yield brain
    brain.close()


@pytest.mark.slow
def test_the_traced_query_gives_the_figures_of_the_page(demo):
    module = script("trace_query")
    page, made = module.written(), module.trace(demo, module.QUERY)
    assert page.keys() == made.keys()
    for name in ("terms", "concepts", "words"):
        assert page[name] == made[name]
    for name in ("fused", "scores", "answer"):
        assert re.sub(r"\d\.\d\d", "N", page[name]) == re.sub(r"\d\.\d\d", "N", made[name])
        # Another processor rounds the model's 8-bit numbers a little differently.
        assert numbers(page[name]) == pytest.approx(numbers(made[name]), abs=0.03)
    assert page["meaning"].splitlines()[0].partition("  ")[2] == made["meaning"].splitlines()[0].partition("  ")[2]
    assert [numbers(line)[0] for line in page["meaning"].splitlines()] == pytest.approx(
        [numbers(line)[0] for line in made["meaning"].splitlines()], abs=0.03
    )


def questions():
    table = text_of("README.md").partition("<!-- questions -->\n")[2].partition("\n\n")[0]
    return re.findall(r"^\| (.+) \| (.+) \|$", table, re.MULTILINE)[1:]


@pytest.mark.slow
@pytest.mark.parametrize(("question", "title"), questions())
def test_a_question_of_the_readme_finds_its_note_first(demo, question, title):
    (hit,) = demo.search(demo.request(query=question, top_k=1)).hits
    assert hit.title == title


def test_the_picture_of_the_readme_loads_nothing():
    picture = text_of("docs/answer.svg")
    assert "@font-face" not in picture
    assert not re.search(r"(?:url\(|href=)[\"']?(?!#)", picture)
    assert script("make_picture").QUESTION.split()[-1] in picture
