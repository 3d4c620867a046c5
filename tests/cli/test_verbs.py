import json
import subprocess
import sys

import numpy as np
import pytest

from rse_study.cli.arguments import trial_file
from rse_study.cli.evaluate_here import find_tasks, table_of
from rse_study.data import builtin
from rse_study.evaluation.sts import evaluate_sts

VERBS = ["train", "validate", "run", "report", "studies", "evaluate", "export", "doctor", "data"]


@pytest.mark.parametrize("arguments", [[], *([verb] for verb in VERBS), ["data", "list"], ["data", "fetch"]])
def test_help_is_everywhere(rse, arguments):
    ended = rse(*arguments, "--help")
    assert ended.code == 0
    assert "Usage: rse-study" in ended.out


def test_the_version_is_said(rse):
    ended = rse("--version")
    assert (ended.code, ended.out.split()[0].rstrip(",")) == (0, "rse-study")


def test_a_valid_study_is_said_to_be(rse):
    ended = rse("validate", "quickstart", "-o", "num_trials=3")
    assert (ended.code, ended.out) == (
        0,
        "quickstart: valid. 3 trials over alpha, beta, N, norm, rho, lambda1, lambda2, phi\n",
    )


def test_shipped_studies_are_listed(rse):
    ended = rse("studies")
    assert ended.code == 0
    assert "quickstart: " in ended.out
    assert "mini_joint: " in ended.out
    assert "tiny_simcse: encoder tiny, 60 steps" in ended.out


def test_shipped_trials_go_by_name():
    assert trial_file("tiny-simcse") == trial_file("tiny_simcse")
    assert trial_file("tiny_simcse").is_file()


def test_the_doctor_says_what_is_missing(rse):
    ended = rse("doctor")
    assert ended.code == 0
    assert "data folder" in ended.out
    assert "is not there; set RSE_STUDY_DATA" in ended.out


def test_data_sets_are_listed_with_licence(rse):
    ended = rse("data", "list")
    assert ended.code == 0
    assert "STS12: " in ended.out
    assert "0 of" in ended.out


def test_a_changed_file_is_found(rse, tmp_path):
    path = tmp_path / "data" / "sts" / "STS12" / "orig" / "STS.gs.MSRpar.txt"
    path.parent.mkdir(parents=True)
    path.write_text("4.0\n")
    ended = rse("data", "verify", "STS12", "--data", str(tmp_path / "data"))
    assert ended.code == 2
    assert "different" in ended.out


def test_a_set_that_lacks_a_file_is_not_called_absent(tmp_path):
    folder = tmp_path / "sts" / "STS13" / "orig"
    folder.mkdir(parents=True)
    for subset in ("FNWN", "headlines"):
        (folder / f"STS.input.{subset}.txt").write_text("a\tb\n")
        (folder / f"STS.gs.{subset}.txt").write_text("1\n")
    tasks, absent = find_tasks(tmp_path, "orig")
    assert tasks == []
    assert (absent["STS13 test"], absent["STS12 test"]) == ("lacks OnWN", "absent")


def test_absent_sets_are_listed_as_absent():
    pairs = builtin.graded_pairs("test")
    scores = evaluate_sts(lambda texts: np.random.default_rng(0).normal(size=(len(texts), 3)), [pairs])
    frame = table_of(scores, {"STS13 test": "absent", "STS15 test": "lacks belief"})
    assert frame["set"].tolist() == [f"{pairs.name} test", "STS13 test", "STS15 test"]
    assert frame["pairs"].tolist() == [str(len(pairs)), "absent", "lacks belief"]


@pytest.mark.parametrize("verb", ["report", "studies", "data list", "--help"])
def test_torch_and_ray_stay_away_from_verbs_that_need_neither(verb):
    code = (
        "import sys, json; from rse_study.cli.app import app\n"
        f"try: app({verb.split() + (['nothing'] if verb == 'report' else [])!r})\n"
        "except SystemExit: pass\n"
        "import importlib; [importlib.import_module(m) for m in "
        f"{['analysis.report'] if verb == 'report' else []!r}]\n"
        "print(json.dumps(sorted({'torch', 'ray', 'optuna', 'transformers'} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == []
