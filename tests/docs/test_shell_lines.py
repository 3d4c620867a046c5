"""Lines that pages give to be pasted name what is there once README's quickstart has run."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from rse_study.cli.app import app
from rse_study.cli.arguments.cell import find_cell
from rse_study.cli.arguments.study import study_file, study_folder
from rse_study.cli.verbs.compare import compare_rows
from rse_study.cli.verbs.init import write_first_study
from rse_study.cluster.reading import read_cluster
from rse_study.results.reader import Reader
from rse_study.study.checking.validation import read_study
from tests.analysis import tabled
from tests.cases import cases

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SHELL_LINE = re.compile(r"^    (?:\$ )?rse-study (.+)$", re.MULTILINE)


def lines_of(page):
    """The commands of a page's shell blocks, without comments."""
    commands = SHELL_LINE.findall(page.read_text(encoding="utf-8"))
    return [shlex.join(shlex.split(command, comments=True)) for command in commands]


LINES = sorted({line for page in PAGES for line in lines_of(page)})


def given_in(line):
    """What a line gives to its command, by the command's own names of arguments and options."""
    words, command = shlex.split(line), typer.main.get_command(app)
    while members := getattr(command, "commands", None):
        command = members[words.pop(0)]
    return command.make_context("", words).params


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The store of a folder where the shipped quickstart has run, beside the files that `init` lines write."""
    monkeypatch.chdir(tmp_path)
    for line in lines_of(ROOT / "README.md"):
        if line.startswith("init "):
            write_first_study(given_in(line)["name"], is_grid="--grid" in line)
    quickstart = read_study(study_file("quickstart"))
    scores = {row.label: [50.0 + seed for seed in quickstart.study.seeds] for row in quickstart.rows}
    tabled.make(tmp_path / "studies" / "quickstart", scores, quickstart.study.seeds, name="quickstart")
    return tmp_path / "studies"


@cases("line", [line for line in LINES if not line.startswith("init ")])
def test_a_line_names_studies_rows_cells_and_clusters_that_are_there(line, store):
    given = given_in(line)
    study, cell = given.get("study") or given.get("source"), given.get("cell") or given.get("trial")
    if study:
        read_study(study_file(study))
    for cluster in filter(None, (given.get("spec"), given.get("cluster"))):
        read_cluster(cluster)
    if cell:
        with Reader(study_folder(study, store)) as reader:
            assert find_cell(reader.cells(), cell, store)["status"] == "complete"
    if line.startswith("compare "):
        compare_rows(given["rows"], given["metric"], given["unpaired"], store, given["out"])


def test_the_pages_lines_are_found():
    verbs = {line.split()[0] for line in LINES}
    assert {"check", "cluster", "compare", "export", "init", "plan", "replay", "run"} <= verbs
