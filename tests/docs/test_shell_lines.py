"""Lines that pages give to be pasted run in order, from an empty store; a made-up quickstart tells in seconds."""

import shlex

import pytest
import typer

from rse_study.cli.app import app
from rse_study.cli.arguments import study_file, study_folder
from rse_study.cli.models import find_cell
from rse_study.cli.verbs.compare import compare_rows
from rse_study.cli.verbs.studies import write_first_study
from rse_study.cluster.spec import read_cluster
from rse_study.results.reader import Reader
from rse_study.study.checking.validation import read_study
from tests.analysis import tabled
from tests.cases import cases
from tests.docs.shell import CODES, NOT_RUN, PAGES, reason_against, run_pages, shell_blocks

PASTED = [line for page in PAGES for block in shell_blocks(page) for line in block.lines]
PROGRAM = "rse-study "


def words_of(line):
    """A command of rse-study without its program and comment."""
    return shlex.join(shlex.split(line, comments=True)[1:])


LINES = sorted({words_of(line) for line in PASTED if line.startswith(PROGRAM)})


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
    for line in (line for line in LINES if line.startswith("init ")):
        write_first_study(given_in(line)["name"], grid="--grid" in line)
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
    if cluster := given.get("cluster"):
        read_cluster(cluster)
    if cell:
        with Reader(study_folder(study, store)) as reader:
            assert find_cell(reader.cells(), cell, store)["status"] == "complete"
    if line.startswith("compare "):
        compare_rows(given["rows"], given["metric"], out=given["out"], store=store)


def test_a_line_that_is_not_run_has_a_reason_and_no_reason_is_left_over():
    assert all(reason_against(line) for line in PASTED if not line.startswith(PROGRAM))
    assert {start for start in NOT_RUN if not any(start in line for line in PASTED)} == set()
    assert {line.removeprefix(PROGRAM) for line in CODES} <= set(LINES)


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_every_block_of_the_readme_runs_as_pasted_from_an_empty_store_and_home(tmp_path):
    """`python -m tests.docs.shell` runs those of all pages."""
    assert [block.page for block, _ in run_pages(tmp_path, PAGES[:1])] == ["README.md"] * len(
        shell_blocks(PAGES[0])
    )
