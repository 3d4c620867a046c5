"""What every answer says to do next: commands that exist, with the options of this call, and nothing beside JSON."""

import json
import shlex
import shutil

import pytest
import typer

from rse_study.cli.app import app
from rse_study.cli.terminal.screen import command, in_store, run_again, with_overrides
from rse_study.results.files.ledger import Ledger
from tests.analysis import tabled
from tests.cli.a_study import SEARCH, cell_of, run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("next")
    tabled.make(root / "studies" / "little", {"A": (1.0, 2.0, 4.0), "B": (2.0, 4.0, 5.0)}, name="little")
    with Ledger.open(root / "studies" / "searched") as ledger:
        ledger.freeze(SEARCH.model_copy(update={"name": "searched"}))
        run(ledger, cell_of(0), 50.0)
    return root


@pytest.fixture
def store(made, tmp_path):
    """A complete grid, and a search that nobody goes on with."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)


CASES = [
    ("init mine", "rse-study validate mine.yaml; rse-study plan mine.yaml --probe; rse-study run mine.yaml"),
    ("validate quickstart -o resources.threads=2", "rse-study plan quickstart -o resources.threads=2"),
    (
        "plan quickstart -o resources.threads=2 --store other",
        "rse-study plan quickstart -o resources.threads=2 --store other --probe",
    ),
    ("status little", "rse-study check little"),
    ("status searched", "rse-study run STUDY.yaml"),
    ("check little", "rse-study check little --out tables"),
    ("check little --out tables", "rse-study report little"),
    ("compare little:A little:B", "rse-study report little"),
    ("report little", "open studies/little/report.html in a browser"),
    ("studies", "rse-study plan STUDY; rse-study init my-study"),
]


@pytest.mark.parametrize(("line", "follows"), CASES, ids=[line for line, _ in CASES])
def test_the_next_step_is_said_beside_the_answer(rse, store, line, follows):
    ended = rse(*line.split())
    code = 3 if line.startswith("check") else 0  # its rows are of no paper
    assert (ended.code, ended.next) == (code, follows), ended.err
    assert "Next: " not in ended.out


def test_what_follows_is_a_command_with_its_options():
    for step in "; ".join(follows for _, follows in CASES).split("; "):
        if step.startswith("rse-study "):
            verb, *words = shlex.split(step)[1:]
            called = typer.main.get_command(app).commands[verb]
            options = {name for param in called.params for name in param.opts}
            assert {word for word in words if word.startswith("-")} <= options


@pytest.mark.parametrize("line", ["status little --json", "plan quickstart --json"])
def test_nothing_is_said_beside_json(rse, store, line):
    ended = rse(*line.split())
    assert (ended.next, ended.err) == ("", "")
    json.loads(ended.out)


def test_an_error_has_its_remedy_alone(rse, store):
    ended = rse("check", "litle")
    assert (ended.code, ended.next) == (2, "")
    assert "Did you mean 'little'?" in ended.err


def test_words_are_quoted_for_a_shell(tmp_path):
    assert command("check", "a study", *in_store(tmp_path / "x y")) == (
        f"rse-study check 'a study' --store '{tmp_path / 'x y'}'"
    )
    assert with_overrides(["a=1", "b=2"]) == ("-o", "a=1", "-o", "b=2")


def test_a_study_runs_again_by_its_file_where_that_is_known(rse, tmp_path):
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    names = {"mine": "mine.yaml", "rse-table6-mini": "rse-table6-mini", "gone": "STUDY.yaml"}
    store = tmp_path / "studies"
    for name, file in names.items():
        assert run_again(name, store) == f"rse-study run {file} --store {store}"
