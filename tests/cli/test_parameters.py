"""Completion: installed for bash by one command, quick, and with the names a user may give."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rse_study.cli.parameters import complete_model
from rse_study.results.files.ledger import Ledger
from rse_study.study.definition.shipped import shipped_studies
from tests.cli.a_study import SEARCH

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
