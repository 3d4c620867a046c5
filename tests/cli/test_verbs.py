import json
import subprocess
import sys

import numpy as np
import pytest

from rse_study.cli.arguments import study_file, trial_file
from rse_study.cli.verbs.evaluate_frozen import find_tasks, table_of
from rse_study.cli.verbs.studies import size_of
from rse_study.data import builtin
from rse_study.evaluation.sts import evaluate_sts
from rse_study.results.ledger import Ledger
from tests.cli.a_study import SEARCH, cell_of, run, start

VERBS = [
    "train", "validate", "plan", "run", "status", "dashboard", "report", "studies",
    "evaluate", "export", "doctor", "data",
]  # fmt: skip


@pytest.mark.parametrize("arguments", [[], *([verb] for verb in VERBS), ["data", "list"], ["data", "fetch"]])
def test_help_is_everywhere(rse, arguments):
    ended = rse(*arguments, "--help")
    assert ended.code == 0
    assert "Usage: rse-study" in ended.out


def test_the_version_is_said(rse):
    ended = rse("--version")
    assert (ended.code, ended.out.split()[0].rstrip(",")) == (0, "rse-study")


def test_a_valid_study_is_said_to_be(rse):
    ended = rse("validate", "quickstart", "-o", "num_trials=6")
    assert (ended.code, ended.out.splitlines()) == (
        0,
        [
            "quickstart: valid. 6 trials over alpha, beta, N, norm, rho, lambda1, lambda2, phi: 10 cells",
            "stopped early at steps 15, 30, unless among the best 1/2 so far",
            "confirmed: 1 best trial and the base, with seeds 1, 2",
            "evaluations: builtin/test",
        ],
    )


def test_the_rows_of_a_grid_are_counted_and_named(rse, tmp_path):
    rows = {"ours": {}, "SimCSE": {"method.lambda1": 0}}
    grid = {"axes": {"rho": [0.25, 0.75]}, "rows": rows}
    lines = [
        f"extends: {study_file('quickstart')}",
        "name: rows",
        f"grid: {json.dumps(grid)}",
        "seeds: [0, 1, 2]",
    ]
    absent = ["search", "num_trials", "sampler", "search_seed", "early_stopping", "confirm"]
    (tmp_path / "rows.yaml").write_text("\n".join([*lines, *(f"{name}: null" for name in absent)]) + "\n")
    ended = rse("validate", "rows.yaml")
    assert (ended.code, ended.err) == (0, "")
    assert "rows: valid. 4 rows over rho, ours, SimCSE, seeds 0, 1, 2: 12 cells" in ended.out.splitlines()


def test_shipped_studies_are_listed(rse):
    ended = rse("studies")
    assert ended.code == 0
    assert "quickstart: " in ended.out
    assert "mini_joint: " in ended.out
    assert "tiny_simcse: encoder tiny, 60 steps" in ended.out


def test_what_has_run_here_is_listed_too(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
        run(ledger, cell_of(0), 50.0)
        start(ledger, cell_of(1))
        assert "little: 6 cells: 1 complete, 1 running, 4 missing" in rse("studies").out.splitlines()
    assert "little: 6 cells: 1 complete, 4 missing, 1 interrupted" in rse("studies").out.splitlines()


def test_a_grid_is_as_large_as_its_rows_and_seeds():
    axes = {"rho": [0, 0.5], "N": {"int": [1, 3]}, "norm": {"choice": ["l1", "l2"], "into": ["ball.norm"]}}
    assert size_of({"grid": {"axes": axes, "rows": {"ours": {}}}, "seeds": [0, 1]}) == "13 rows x 2 seeds"
    assert size_of({"grid": {"rows": {"ours": {}, "theirs": {}}}}) == "2 rows x 1 seed"
    asked = {"grid": {"rows": {"ours": {}}}, "seeds": [0, 1], "evaluations": ["STS-B/test"]}
    assert size_of(asked) == "1 row x 2 seeds, 1 evaluation"


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


@pytest.mark.parametrize(
    "command",
    [
        "report little",
        "status little",
        "status little --json",
        "studies",
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
