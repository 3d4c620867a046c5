"""Every command: its help, its summary, its parameters, and what it leaves unimported."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from rse_study.cli.app import COMMANDS, app, command_of
from rse_study.cli.arguments import study_file, study_folder, trial_file
from rse_study.cli.parameters import complete_model
from rse_study.errors import InputError
from rse_study.results.files.ledger import Ledger
from rse_study.study.definition.shipped import shipped_studies
from tests.analysis import tabled
from tests.cases import cases
from tests.cli.a_study import SEARCH, cell_of, run, start
from tests.cli.output_schema import SCHEMA

GROUPS = ("data", "cluster")


@cases("words", ["", *GROUPS, *COMMANDS])
def test_help_is_everywhere(rse, words):
    ended = rse(*words.split(), "--help")
    assert (ended.code, f"Usage: rse-study {words}".rstrip() in ended.out) == (0, True)


def test_every_argument_is_explained():
    commands = typer.main.get_command(app).commands
    calls = [*commands.values(), *(call for group in GROUPS for call in commands[group].commands.values())]
    unexplained = [
        f"{call.name} {param.name}"
        for call in calls
        for param in call.params
        if not (param.help or call.hidden)
    ]
    assert unexplained == []


@cases(
    "words", [[], ["quickstart", "--to", "mlflow"], ["x", "--to", "a:B", "--uri", "c", "--live"], ["--help"]]
)
def test_a_former_command_is_refused_with_what_takes_its_place(rse, words):
    ended = rse("track", *words)
    told = "`run --track mlflow|wandb|tensorboard` follows a run; docs/trackers.md logs a finished study"
    assert (ended.code, ended.out, ended.err) == (2, "", f"the command `track` was removed. {told}\n")


def test_the_version_is_said(rse):
    ended = rse("--version")
    assert (ended.code, ended.out.split()[0].rstrip(",")) == (0, "rse-study")


MODELS = ["torch", "ray", "optuna", "transformers", "mteb"]
TABLES = ["pandas", "scipy", "sklearn", "numpy"]
LEAVES_OUT = {
    "completion": MODELS + TABLES,
    "--help": MODELS + TABLES,
    "run --help": MODELS + TABLES,
    "status little": MODELS + TABLES,
    "status little --json": MODELS + TABLES,
    "studies --store empty": [*MODELS, "pandas"],
    "validate quickstart": MODELS,
    "data list": MODELS,
    "report little": ["torch", "ray", "transformers"],  # a search, whose figures are Optuna's
    "plan quickstart --store empty": [*MODELS[1:], "pandas", "scipy", "sklearn", "datasets"],
}
"""What each command does not import: seconds of its time."""
IMPORTS = """
import json, os, sys
from rse_study.cli.app import app
from rse_study.cli.parameters import complete_cluster, complete_data_set, complete_study
for line, unwanted in json.loads(sys.argv[1]).items():
    if os.fork():
        os.wait()
        continue
    if line == "completion":
        code = not (complete_study("q") and complete_cluster("s") and complete_data_set("STS"))
    else:
        try:
            app(line.split())
        except SystemExit as ended:
            code = ended.code
    with open("found", "a") as file:
        print([line, int(code or 0), sorted(set(unwanted) & set(sys.modules))], file=file)
    os._exit(0)
"""


def test_no_verb_imports_what_it_does_not_need(tmp_path):
    """Each in a process that has the command alone."""
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
        run(ledger, cell_of(0), 50.0)
        start(ledger, cell_of(1))
        ledger.fail(cell_of(1).identity, "worker killed by signal 9")
    command = [sys.executable, "-c", IMPORTS, json.dumps(LEAVES_OUT)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    found = (tmp_path / "found").read_text().splitlines()
    assert found == [str([line, 0, []]) for line in LEAVES_OUT], done.stderr


# What a user may write for a study or a trial.


def test_shipped_trials_go_by_name():
    assert trial_file("tiny-simcse") == trial_file("tiny_simcse")
    assert trial_file("tiny_simcse").is_file()


def test_an_archive_is_unpacked_before_its_file_is_named():
    with pytest.raises(InputError, match=r"is an archive: .*Run `rse-study unpack old\.tar\.xz` and name"):
        study_file("old.tar.xz")


@pytest.mark.parametrize("given", ["mien", "mine.yml", "mine2.yaml", "studies/min"])
def test_a_study_that_has_not_run_is_suggested_by_its_name_or_file(tmp_path, given):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "ledger.sqlite").touch()
    with pytest.raises(InputError, match=r"has run\. Did you mean 'mine'\?"):
        study_folder(given, tmp_path)


# Completion: installed for bash by one command, quick, and with the names a user may give.


PROGRAM = """#!{python}
from rse_study.cli import main
main()
"""


@pytest.fixture
def home(tmp_path):
    """A home folder with the program on the path, a study that has run and a file of one that has not."""
    program = tmp_path / "bin" / "rse-study"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    return tmp_path


def in_bash(home, script):
    """What a bash that has just started prints, with its own home folder."""
    path = f"{home / 'bin'}:{os.environ['PATH']}"
    environment = {"HOME": str(home), "PATH": path, "PYTHONPATH": os.getcwd()}
    called = {"cwd": home, "env": environment, "timeout": 120, "check": False}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, **called)
    assert done.returncode == 0, done.stderr
    return done.stdout


def completed(home, line):
    """What bash offers at the end of a line, by the file that was installed."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f"source ~/.bashrc; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
        "_rse_study_completion rse-study; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    return in_bash(home, script).split()


def test_one_command_installs_it_and_names_are_completed(home):
    said = in_bash(home, "rse-study --install-completion; exit $?")
    assert "bash completion installed in" in said
    assert "validate" in completed(home, "rse-study va")
    assert {path.stem for path in shipped_studies()} | {"mine.yaml"} <= {*completed(home, "rse-study run ")}
    assert completed(home, "rse-study status l") == ["little"]


def test_every_argument_completes_its_own_names(rse, home, monkeypatch):
    def offered(line):
        monkeypatch.setenv("_RSE_STUDY_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", f"rse-study {line}")
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" "))))
        return rse().out.split()

    lines = {
        "run q": ["quickstart"],
        "plan mini_": ["mini_joint", "mini_robust"],
        "plan mine": ["mine.yaml"],
        "train tiny_s": ["tiny_simcse"],
        "check l": ["little"],
        "cluster validate sl": ["slurm"],
        "evaluate minilm --suite f": ["fast", "full"],
    }
    assert {line: offered(line) for line in lines} == lines
    assert "STS-B" in offered("data verify STS-")
    assert "--probe" in offered("plan quickstart --p")


def test_folders_with_a_model_are_offered(tmp_path, monkeypatch):
    for folder in ("mine", "cell/model", "other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "mine" / "config.json").write_text("{}")
    (tmp_path / "cell" / "model" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert complete_model("") == ["minilm", "cell", "mine"]
    assert complete_model("mi") == ["minilm", "mine"]
    assert complete_model(f"{Path('.')}/c") == []


# What a script may ask of every verb: JSON, by the schema in docs/.


ROWS = {"SimCSE": (70.0, 71.0, 72.0), "ours": (73.0, 74.5, 75.0)}


def test_the_schema_describes_each_command_that_prints_json_and_no_other():
    asked = [
        name
        for name, place in COMMANDS.items()
        if "as_json" in inspect.signature(command_of(place)).parameters
    ]
    parts = {"range", "score", "ended_cell", "ranked_trial", "problem", "data_set", "contrast"}
    assert set(asked) == set(SCHEMA["$defs"]) - parts


@pytest.fixture
def grid(tmp_path):
    return tabled.make(tmp_path / "studies" / "tabled", ROWS, baseline="SimCSE")


def told(ended, code=0):
    """Output as data; `rse` has held it against the schema."""
    assert (ended.code, ended.next) == (code, ""), ended.err
    return json.loads(ended.out)


def test_check_gives_contrasts_by_the_names_of_the_frame_and_its_exit_code(rse, grid):
    content = told(rse("check", "tabled", "--json"), 3)
    assert (content["baseline"], content["is_complete"], content["exit_code"]) == ("SimCSE", True, 3)
    assert [(one["row"], one["minus"], one["mean"]) for one in content["contrasts"] if not one["metric"]] == [
        ("ours", "SimCSE", pytest.approx(9.5 / 3))
    ]
    other = told(rse("check", "tabled", "--json", "--baseline", "ours"), 3)
    assert {one["minus"] for one in other["contrasts"]} == {"ours"}


def test_compare_gives_each_pair_with_its_verdict(rse, grid):
    (one,) = told(rse("compare", "tabled:ours", "tabled:SimCSE", "--json"))["compared"]
    assert one["by_seed"] == {"0": 3.0, "1": 3.5, "2": 3.0}
    assert one["verdict"] == "better"
    assert one["low"] < one["mean"] < one["high"]


def test_validate_gives_the_whole_study_or_every_problem(rse):
    content = told(rse("validate", "quickstart", "--json"))
    assert content["study"]["base"]["method"]["name"]
    assert content["num_cells"] == 24
    content = told(
        rse("validate", "quickstart", "--json", "-o", "seeds=[]", "-o", "objective.metric=nosuch"), 2
    )
    assert content["is_valid"] is False
    assert all(one["what"] for one in content["problems"])


def test_what_is_here_is_told_to_scripts_too(rse, grid):
    by_name = {one["name"]: one for one in told(rse("studies", "--json"))}
    assert by_name["tabled"]["text"] == "6 cells: 6 complete"
    assert by_name["quickstart"]["size"] == "3 rows x 8 seeds, 1 evaluation"
    sets = told(rse("data", "list", "--json"))["sets"]
    assert all(one["num_present"] == 0 for one in sets if one["missing"])
    needs = told(rse("data", "list", "rse_table6_mini", "--json"))
    assert needs["sets"]
    verified = told(rse("data", "verify", "--json", sets[0]["name"]))
    assert {one["name"] for one in verified} == {sets[0]["name"]}
    assert len(verified) == sets[0]["num_files"]
    assert {one["is_ok"] for one in told(rse("doctor", "--json"))} == {True, False}
