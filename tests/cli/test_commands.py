"""Every command: its help, its summary, its file, and what it leaves unimported."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from rse_study.cli import verbs
from rse_study.cli.app import app
from rse_study.cli.cluster_commands import CLUSTER_COMMANDS
from rse_study.cli.commands import COMMANDS, DATA_COMMANDS
from rse_study.results.ledger import Ledger
from tests.cli.a_study import SEARCH, cell_of, run

NAMES = [command.__name__ for command in COMMANDS]
GROUPS = {"data": DATA_COMMANDS, "cluster": CLUSTER_COMMANDS}
SUMMARIES = {"data": "The data sets the project knows.", "cluster": "The same study on many machines."}
CALLS = [
    *([name] for name in NAMES),
    *([group, name] for group, commands in GROUPS.items() for name in commands),
]


@pytest.mark.parametrize("arguments", [[], *([group] for group in GROUPS), *CALLS], ids=" ".join)
def test_help_is_everywhere(rse, arguments):
    ended = rse(*arguments, "--help")
    assert ended.code == 0
    assert "Usage: rse-study" in ended.out


@pytest.mark.parametrize(
    ("arguments", "commands"),
    [
        ([], dict(zip(NAMES, COMMANDS, strict=True))),
        *(([group], commands) for group, commands in GROUPS.items()),
    ],
    ids=["rse-study", *GROUPS],
)
def test_every_summary_is_whole_at_80_columns(rse, monkeypatch, arguments, commands):
    monkeypatch.setenv("COLUMNS", "80")
    lines = rse(*arguments, "--help").out.split("Commands:\n")[1].splitlines()
    assert not [line for line in lines if line.endswith("...")]
    listed = dict(line.split(maxsplit=1) for line in lines)
    summaries = {name: inspect.getdoc(command).splitlines()[0] for name, command in commands.items()}
    assert listed == summaries | ({} if arguments else SUMMARIES)


def test_every_argument_is_explained():
    commands = typer.main.get_command(app).commands
    calls = {
        **commands,
        **{f"{group} {name}": call for group in GROUPS for name, call in commands[group].commands.items()},
    }
    unexplained = [
        f"{name} {param.name}" for name, call in calls.items() for param in call.params if not param.help
    ]
    assert {*NAMES, *(f"{group} {name}" for group, names in GROUPS.items() for name in names)} <= set(calls)
    assert unexplained == []


def test_every_command_has_its_file():
    files = {path.stem for path in Path(verbs.__file__).parent.glob("*.py")}
    assert {*NAMES, "data", *(f"cluster_{name}" for name in CLUSTER_COMMANDS)} <= files


def test_the_version_is_said(rse):
    ended = rse("--version")
    assert (ended.code, ended.out.split()[0].rstrip(",")) == (0, "rse-study")


@pytest.mark.parametrize(
    "command",
    [
        "report little",
        "status little",
        "status little --json",
        "studies",
        "validate quickstart",
        "data list",
        "--help",
        "run --help",
    ],
)
def test_torch_and_ray_stay_away_from_verbs_that_need_neither(command, tmp_path):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
        run(ledger, cell_of(0), 50.0)
    code = (
        "import sys, json; from rse_study.cli.app import app\n"
        f"try: app({command.split()!r}); code = 0\n"
        "except SystemExit as ended: code = ended.code or 0\n"
        "heavy = sorted({'torch', 'ray', 'optuna', 'transformers'} & set(sys.modules))\n"
        "print(json.dumps([code, heavy]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []], done.stderr
