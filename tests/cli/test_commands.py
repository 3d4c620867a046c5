"""Every command: its help, its summary, its parameters, and what it leaves unimported."""

import json
import subprocess
import sys

import typer

from rse_study.cli.app import COMMANDS, app
from rse_study.results.files.ledger import Ledger
from tests.cases import cases
from tests.cli.a_study import SEARCH, cell_of, run, start

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


MODELS = ["torch", "ray", "optuna", "transformers"]
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
