"""How the command begins, in a process of its own: its words, its working folder, its modules, its store."""

import os
import subprocess
import sys

import pytest

from tests.cases import cases
from tests.docs.scratch import ROOT

COMMAND = [sys.executable, "-m", "rse_study"]


def command(*words, folder, **environment):
    return subprocess.run(
        [*COMMAND, *words],
        cwd=folder,
        env=os.environ | {"HOME": str(folder)} | environment,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )


@cases(
    ("words", "named"),
    [
        ((b"studies", b"--store", b"caf\xe9"), r"b'caf\xe9'"),
        ((b"run", b"\xff.yaml"), r"b'\xff.yaml'"),
        ((b"validate", b"quickstart", b"-o", b"name=\xc3\x28"), r"b'name=\xc3('"),
    ],
)
def test_words_that_are_no_text_are_refused_by_name(tmp_path, words, named):
    done = command(*words, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"the command or its working folder: {named} is not UTF-8. Rename the file or folder\n"
    )


def test_a_working_folder_that_is_no_text_or_gone_is_refused(tmp_path):
    odd = os.fsencode(tmp_path) + b"/\xe9"
    os.mkdir(odd)
    done = command("studies", folder=odd, HOME=str(tmp_path))
    assert done.returncode == 2 and r"\xe9' is not UTF-8" in done.stderr
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'rmdir "{gone}"; exec {sys.executable} -m rse_study studies'
    done = subprocess.run(["sh", "-c", script], cwd=gone, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "the working folder was removed: change to another one\n"


@pytest.mark.parametrize(("closed", "code"), [("<&-", 2), (">&-", 0), ("2>&-", 2), ("<&- >&- 2>&-", 0)])
def test_a_stream_that_is_closed_is_no_internal_error(tmp_path, closed, code):
    words = "validate quickstart" + (" -o gird=1" if code else "")
    script = f"exec {sys.executable} -m rse_study {words} {closed}"
    assert subprocess.run(["sh", "-c", script], cwd=tmp_path, check=False).returncode == code


@pytest.mark.parametrize("python_path", ["", f":{ROOT}:."])
def test_installed_modules_come_before_those_of_the_working_folder(tmp_path, python_path):
    for name in ("random", "tempfile", "pydantic", "ruamel", "rich", "psutil"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('of the working folder')\n", encoding="utf-8")
    done = command("validate", "quickstart", folder=tmp_path, PYTHONPATH=python_path)
    assert done.returncode == 0, done.stderr


def test_the_store_may_be_a_fixed_one(tmp_path):
    (tmp_path / "kept" / "mine").mkdir(parents=True)
    (tmp_path / "kept" / "mine" / "ledger.sqlite").write_bytes(b"")
    done = command("status", "mine", folder=tmp_path, RSE_STUDY_STORE="~/kept")
    assert done.returncode == 2
    assert done.stderr == f"{tmp_path}/kept/mine: the ledger is empty. Run the study first\n"


def test_compiled_modules_are_in_the_cache_not_under_a_name_in_tmp(tmp_path):
    code = "import atexit, os; atexit.register(lambda: print(os.environ['TORCHINDUCTOR_CACHE_DIR']))\n"
    code += "import sys; sys.argv[1:] = ['--version']; from rse_study.cli import main; main()"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TORCHINDUCTOR")}
    environment = kept | {"RSE_STUDY_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == str(tmp_path / "inductor")
