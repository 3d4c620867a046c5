"""`validate`: what a study is, in a few lines."""

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rse_study.cli.arguments import study_file
from rse_study.data.hub_models import SECONDS
from tests.cases import cases
from tests.hub import ask_only, serve
from tests.on_ray.world import make_materials
from tests.study import a_grid

ROOT = Path(__file__).parents[3]


def test_a_valid_study_is_said_to_be(rse):
    ended = rse("validate", "joint", "-o", "num_trials=6")
    assert (ended.code, ended.out.splitlines()) == (
        0,
        [
            "warning: PGD's delta has no effect in the base: it moves by at most 2.8% of the norm of its random "
            "start (the limit is 10%). This leaves random noise, not an adversary.",
            "joint: valid. 6 trials over alpha, beta, N, norm, rho, lambda1, lambda2, phi: 10 cells",
            "stopped early at steps 15, 30, unless among the best 1/2 so far",
            "confirmed: 1 best trial and the base, with seeds 1, 2",
            "evaluations: builtin/test",
        ],
    )


def test_bounds_of_confirming_seeds_are_said_and_the_cells_are_the_most(rse):
    ended = rse("validate", "joint", "-o", "num_trials=6", "-o", "confirm.seeds={until: decided, at_most: 9}")
    assert "phi: at most 24 cells" in ended.out
    assert "confirmed: 1 best trial and the base, with 3 to 9 seeds each, until decided" in ended.out


def test_a_study_that_is_shown_is_one_that_can_be_run(rse, tmp_path):
    shown = rse("validate", "joint", "-o", "num_trials=6", "--show")
    assert (shown.code, shown.err) == (0, "")
    (tmp_path / "shown.yaml").write_text(shown.out)
    assert rse("validate", "shown.yaml").out == rse("validate", "joint", "-o", "num_trials=6").out


def test_the_rows_of_a_grid_are_counted_and_named(rse, tmp_path):
    rows = {"ours": {}, "SimCSE, head off": {"method.lambda1": 0}}
    grid = {"axes": {"rho": [0.25, 0.75]}, "rows": rows}
    absent = ["search", "num_trials", "sampler", "search_seed", "early_stopping", "confirm"]
    content = {"extends": str(study_file("joint")), "name": "rows", "grid": grid, "seeds": [0, 1, 2]}
    (tmp_path / "rows.yaml").write_text(json.dumps(content | dict.fromkeys(absent)))
    ended = rse("validate", "rows.yaml")
    assert (ended.code, ended.err) == (0, "")
    expected = "rows: valid. 4 rows over rho (ours; SimCSE, head off), seeds 0, 1, 2: 12 cells"
    assert expected in ended.out.splitlines()


def test_every_problem_is_said_with_its_path(rse):
    ended = rse("validate", "joint", "-o", "sampler.nam=tpe", "-o", "gird.axes.beta=[1, 2]")
    assert (ended.code, ended.out) == (2, "")
    assert "sampler.nam: no such field of Sampler. Did you mean 'name'?" in ended.err
    assert "gird: no such field of Study. Did you mean 'grid'?" in ended.err


@cases(("command", "field"), [("validate", "base."), ("run", "base."), ("train", "")])
def test_a_model_that_is_nowhere_is_refused_before_anything_runs(rse, tmp_path, monkeypatch, command, field):
    file = "tiny_simcse" if command == "train" else "quickstart"
    with serve(tmp_path) as server:
        ask_only(server, tmp_path / "hub", monkeypatch)
        ended = rse(command, file, "-o", f"{field}encoder={{name: some/none, pooling: mean}}")
    assert ended.code == 2
    assert "some/none" in ended.err
    assert "no such folder, and no such model on the hub" in ended.err
    assert [verb for verb, address, _ in server.asked if "some/none" in address] == ["HEAD"]


@pytest.mark.usefixtures("no_hub")
@cases(
    ("command", "name"),
    [
        ("run quickstart -o 'base.encoder={name: some/none, pooling: mean}'", "some/none"),
        ("train tiny_simcse -o selection.dev=builtin -o encoder.name=some/none", "some/none"),
        ("train tiny_simcse -o selection.dev=builtin -o 'corpus.source={dataset: some/none}'", "some/none"),
        ("evaluate some/none --pooling mean --data .", "some/none"),
        ("attack some/none --on mr --recipe pwws --pooling mean --data . --out attacked", "some/none"),
        ("fine-tune some/none --on ANLI --suite nli --data .", "some/none"),
    ],
)
def test_a_name_that_nobody_knows_costs_one_line_and_few_seconds_offline(rse, toy_data, command, name):
    began = time.monotonic()
    ended = rse(*shlex.split(command.replace("--data .", f"--data {toy_data}")))
    assert (ended.code, "Retrying" in ended.err) == (2, False)
    assert sum(name in line for line in ended.err.splitlines()) == 1
    assert time.monotonic() - began < 2 * SECONDS


def test_what_is_refused_is_refused_before_torch_and_ray_are_imported(tmp_path):
    (tmp_path / "study.yaml").write_text("extends: quickstart\nbase: {corpus: {source: none.txt}}\n")
    (tmp_path / "trial.yaml").write_text("corpus: {source: none.txt}\n")
    code = (
        "import sys\n"
        "from rse_study.cli.app import app\n"
        "for words in ('run no', 'validate no', 'train no', 'run study', 'train trial'):\n"
        "    try:\n"
        "        app(f'{words}.yaml'.split())\n"
        "    except SystemExit as ended:\n"
        "        assert ended.code == 2\n"
        "assert not {'torch', 'ray', 'transformers'} & {*sys.modules}\n"
    )
    home = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=home, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("no such file") == 6  # the trial lacks its dev set, too


@pytest.mark.usefixtures("no_hub")
def test_a_model_that_cannot_be_checked_is_no_error(rse):
    ended = rse("validate", "quickstart", "-o", "base.encoder={name: some/none, pooling: mean}")
    assert ended.code == 0
    assert "base.encoder.name = 'some/none': cannot be checked offline" in ended.out


EVERY_KIND = """
name: mine
question: Is every problem said at once?
base:
  method: {preset: robust_sent_embed, lambda1: much}
  encoder: {name: ./nowhere, pooling: meen}
  corpus: {source: missing.txt}
  budget: {unit: steps, amount: three}
  selection: {dev: missing.tsv}
grid: {rows: {one: {rho: 3}, two: {rhoo: 0.5}, three: {preset: simcs}}}
seeds: [0, x]
evaluations: [STS-C/test]
paper: {table: rse-table99}
"""


def test_files_presets_and_types_are_said_in_one_round(rse, tmp_path):
    (tmp_path / "mine.yaml").write_text(EVERY_KIND)
    ended = rse("validate", "mine.yaml", "--json")
    said = [problem["what"] for problem in json.loads(ended.out)["problems"]]
    assert sorted(said) == sorted(
        {
            "base.method", "base.method.lambda1 = 'much'", "base.encoder.pooling = 'meen'",
            "base.budget.amount = 'three'", "seeds.1 = 'x'", "evaluations.0 = 'STS-C/test'",
            "grid.rows.one.rho = 3", "grid.rows.two.rhoo", "grid.rows.three.preset",
            "paper.table = 'rse-table99'", "base.corpus.source = 'missing.txt'",
            "base.encoder.name = './nowhere'", "base.selection.dev = 'missing.tsv'",
        }
    )  # fmt: skip


@cases(
    ("key", "written", "meant"),
    [
        ("preset", "robust_sent_embed", "`name: robust_sent_embed`"),
        ("preset", "robust_sent_embd", "`name: robust_sent_embed`"),
        ("preset", "RobustEmbed", "'robust_embed'"),
        ("preset", "consert", "`name: consert`"),
        ("name", "simcse", "`preset: simcse`"),
        ("name", "robust_embed", "`preset: robust_embed`"),
        ("name", "rse-released", "`preset: rse_released`"),
        ("name", "robust_sentembed", "'robust_sent_embed'"),
    ],
)
def test_a_method_or_preset_is_suggested_by_its_meaning(rse, key, written, meant):
    ended = rse("validate", "joint", "-o", f"base.method={{{key}: {written}}}")
    assert (ended.code, f"Did you mean {meant}?" in ended.err) == (2, True)


def test_a_damaged_ledger_hides_no_problem_of_the_file(rse, tmp_path):
    (tmp_path / "studies" / "mine").mkdir(parents=True)
    (tmp_path / "studies" / "mine" / "ledger.sqlite").write_bytes(b"no ledger" * 9)
    (tmp_path / "mine.yaml").write_text(EVERY_KIND)
    said = rse("validate", "mine.yaml").err
    assert "ledger.sqlite: no ledger" in said and "grid.rows.two.rhoo" in said and "missing.tsv" in said


def test_a_revision_that_wants_consent_is_noted(rse, tmp_path):
    a_grid.run(a_grid.write(tmp_path / "mine.yaml"), tmp_path / "studies" / "mine", make_materials(tmp_path))
    ended = rse("validate", "mine.yaml", "-o", "question=Another?", "--json")
    (note,) = json.loads(ended.out)["notes"]
    assert note.startswith("mine.yaml: revises the study mine (question changed): its question was")
