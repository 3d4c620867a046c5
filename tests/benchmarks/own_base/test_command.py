"""The whole command at toy size: what it makes, that it goes on, how it ends early."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch

from benchmarks.own_base import command, encoders, measuring, report
from benchmarks.own_base.encoders import LossCurve
from benchmarks.own_base.plan import BaseRun, read_plan
from benchmarks.own_base.rows import read_rows
from rse_study.activity import SILENCE
from rse_study.errors import NonFiniteLoss
from rse_study.models.loading import load_encoder

WHOLE = 399


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "rows").iterdir()}


def test_every_row_of_the_plan_is_there(measured):
    plan, rows = read_plan(measured), read_rows(measured)
    assert [one.num_sentences for one in plan.amounts] == [100, WHOLE]
    assert plan.text.num_excluded == 2
    assert rows.num_missing(plan) == 0
    assert set(rows.bases) == {BaseRun(100, 0), BaseRun(WHOLE, 0), BaseRun(WHOLE, 1)}
    assert len(rows.scores) == 5
    assert not any((measured / "cells").iterdir())


def test_a_base_has_its_curve_and_its_accuracy_beside_the_unigrams(measured):
    for row in read_rows(measured).bases.values():
        assert [step for step, _ in row.losses] == [25, 30]  # also a small amount takes every step
        assert row.losses[1][1] < row.losses[0][1]
        assert 0 <= row.unigram_accuracy <= 1
        assert 0 <= row.masked_accuracy <= 1
        assert row.seconds > 0
        assert row.machine.keys() == {"cpu", "torch", "commit"}


def test_the_control_is_the_encoder_that_the_base_began_as(options, toy_text, tmp_path):
    unmoved = [*options, "--steps", "1", "--lr", "1e-30", "--out", str(tmp_path)]
    text, run = measuring.read_free_text(toy_text), BaseRun(100, 1)
    made = encoders.OwnEncoders(command.parser().parse_args(unmoved), text.first, SILENCE)
    (start, _), (base, _) = load_encoder(made.untrained(run)), load_encoder(made.base(run))
    for one, other in zip(start.parameters(), base.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    assert start.pooling == "mean"


def test_the_same_command_makes_nothing_again(measured, options, monkeypatch, capsys):
    before = contents(measured)
    monkeypatch.setattr(measuring, "train_locally", None)
    monkeypatch.setattr(encoders, "tiny_encoder", None)
    command.main([*options, "--out", str(measured)])
    assert contents(measured) == before
    assert "row 1" not in capsys.readouterr().out


def test_an_interrupted_command_ends_in_a_line_and_goes_on(options, measured, tmp_path, monkeypatch, capsys):
    train = measuring.train_locally
    calls = []

    def interrupted(*arguments, **named):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        train(*arguments, **named)

    monkeypatch.setattr(measuring, "train_locally", interrupted)
    with pytest.raises(SystemExit) as ended:
        command.main([*options, "--out", str(tmp_path)])
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted; the same command goes on from here\n"
    rows = read_rows(tmp_path)
    assert (len(rows.bases), len(rows.scores)) == (1, 2)
    monkeypatch.setattr(encoders, "CURVE_EVERY", 7)  # a base that is made again would have another curve
    command.main([*options, "--sentences", "100", "--seeds", "0", "--out", str(tmp_path)])
    assert read_rows(tmp_path).bases[BaseRun(100, 0)].losses == rows.bases[BaseRun(100, 0)].losses
    same = next(name for name in contents(tmp_path) if name.startswith("own-100"))
    again, first = (json.loads(contents(folder)[same])["score"] for folder in (tmp_path, measured))
    assert again["dev_after"] == first["dev_after"]


def test_other_settings_may_not_go_on_in_the_folder(options, measured, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main([*options, "--steps", "31", "--out", str(measured)])
    assert ended.value.code == 2
    assert "base.training.num_steps = 30, not 31" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--sentences", "5000"], "--sentences: 5,000 sentences: the text has 399"),
        (["--steps", "0"], "training.num_steps = 0: must be > 0"),
        (["--heads", "3"], "the width must be a multiple of the heads"),
        (["--seeds", "0", "-1"], "training.seed = -1"),
        (["--simcse-lr", "0"], "SimCSE: optimizer.lr = 0.0: must be > 0"),
        (["--figures", __file__], "is no folder"),
        (["--data", "/nowhere"], "/nowhere/sts/STSBenchmark/orig/sts-train.csv: no such file"),
    ],
)
def test_bad_input_is_said_in_a_line(options, tmp_path, capsys, wrong, said):
    with pytest.raises(SystemExit) as ended:
        command.main([*options, *wrong, "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_base_whose_curve_was_removed_is_refused(options, tmp_path, monkeypatch, capsys):
    small = [*options, "--sentences", "100", "--seeds", "0", "--out", str(tmp_path)]
    monkeypatch.setattr(measuring, "write_row", None)
    monkeypatch.setattr(measuring.OwnBasePlan, "runs", lambda self: iter([BaseRun(100, 0)]))
    with pytest.raises(SystemExit):
        command.main(small)
    (curve,) = (tmp_path / "losses").iterdir()
    curve.unlink()
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        command.main(small)
    assert ended.value.code == 2
    assert "the same command trains it again" in capsys.readouterr().err


def test_a_curve_is_of_means_and_a_lost_loss_ends_it(tmp_path, monkeypatch):
    monkeypatch.setattr(encoders, "CURVE_EVERY", 2)
    curve = LossCurve(tmp_path / "curve.json", "a base", SILENCE)
    for step, loss in enumerate((4.0, 2.0, 1.0), start=1):
        curve.note(step, 3, loss)
    assert json.loads((tmp_path / "curve.json").read_text())["losses"] == [[2, 3.0], [3, 1.0]]
    with pytest.raises(NonFiniteLoss, match="try a smaller --lr"):
        curve.note(1, 3, float("nan"))


def test_the_report_needs_the_folder_alone_and_no_torch(measured, tmp_path):
    imports = "import sys; from benchmarks.own_base import report"
    code = f"{imports}; report.main(sys.argv[1:]); assert 'torch' not in sys.modules"
    arguments = [str(measured), "--tables", str(tmp_path / "tables")]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert "text: 399 sentences, 160 of them Wikipedia's" in done.stdout
    assert "2 of STS-B" in done.stdout
    assert "A base of our own is " in done.stdout
    assert "100 -> 399 sentences: " in done.stdout
    scores = pd.read_parquet(tmp_path / "tables" / report.SCORES)
    assert scores["encoder"].tolist() == ["token_overlap", "untrained", "untrained", "own", "own", "own"]
    assert scores["num_sentences"].tolist()[1:] == [WHOLE, WHOLE, 100, WHOLE, WHOLE]
    assert scores.loc[scores["encoder"] == "own", "masked_accuracy"].notna().all()
    losses = pd.read_parquet(tmp_path / "tables" / report.LOSSES)
    assert losses.columns.tolist() == ["num_sentences", "seed", "step", "loss"]
    assert len(losses) == 6


def test_a_report_of_nothing_says_what_to_do_first(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        report.main([str(tmp_path)])
    assert ended.value.code == 2
    assert "Measure first: python -m benchmarks.own_base --out" in capsys.readouterr().err
