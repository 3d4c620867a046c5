"""What `check`, `status` and the page say of rows that did nothing, and of ledgers that do not tell."""

import json
from dataclasses import replace

import pytest

from analysis.report import write_report
from rse_study.losses import TERMS
from rse_study.perturbations.ascent import INNER_RISE
from rse_study.perturbations.blend import Blend
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.reader import Reader
from rse_study.results.row_checks import row_checks
from tests.analysis import tabled
from tests.analysis.outline import Outline
from tests.results.world import begin, end

CHECKS = (*INNER_RISE, *Blend.checks, *TERMS["contrastive"])
RISES = {"SimCSE": None, "inert": 0.0002, "alive": 0.2}
RISE = "it raises the inner loss by 0.02% of the loss at chance (the limit is 0.1%)"
NOISE = f'The adversary has no effect in "inert": {RISE}'
SILENT = "Manipulation checks are missing in "


def grid(folder, checks=CHECKS, rises=RISES, *, shares=True, unchecked=(), blends=None):
    """Three rows on three seeds; what a cell says of itself before half of its training is wrong on purpose."""
    with Ledger.open(folder) as ledger:
        rows = dict.fromkeys(rises, (1.0, 2.0, 3.0))
        ledger.freeze(
            tabled.study_of(rows, 3, name="little", baseline="SimCSE").model_copy(
                update={"checks": checks, "unchecked": unchecked}
            )
        )
        for trial, (row, rise) in enumerate(rises.items()):
            for seed in range(3):
                metrics = {"loss_share/contrastive": 1.0} if shares else {"loss": 1.0}
                early = metrics if rise is None else metrics | {"inner/rise": 50.0, "delta/moved": 0.0}
                late = metrics if rise is None else early | {"inner/rise": rise}
                points = {20: early, 40: late, 60: late}
                history = tuple(
                    Point(t=t, metrics={"dev": 50.0 + seed, **found}) for t, found in points.items()
                )
                config = {"method": {"name": row} | {"blend": (blends or {}).get(row, {})}}
                end(
                    ledger,
                    begin(ledger, tabled.cell_of(trial, row, seed).model_copy(update={"config": config})),
                    history=history,
                    status="complete",
                )
                score = tabled.measure(tabled.cell_of(trial, row, seed).identity, "STS-B/test", 50.0 + trial)
                ledger.record_evaluations([score])
    return folder


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "studies" / "little"


def said(rse, folder):
    """The words of `check`, of `status` (lines and JSON), and of the page."""
    check, status = rse("check", "little").out, rse("status", "little").out
    as_json = json.loads(rse("status", "little", "--json").out)["inert"]
    page = Outline(write_report(folder).read_text())
    return [" ".join(text.split()) for text in (check, status, " ".join(as_json), page.text)]


def test_all_of_them_say_that_a_row_is_its_baseline_with_noise(rse, folder):
    grid(folder)
    for text in said(rse, folder):
        assert NOISE in text
        assert "This leaves the baseline with noise." in text
        assert 'in "alive"' not in text
        assert "PGD" not in text.partition("Inside a step")[0]  # a branch that moved by exactly 0 is off
        assert SILENT not in text
    page = write_report(folder).read_text()
    assert "inert (inert: the adversary)" in page
    assert "alive (alive)" in page
    assert "SimCSE (alive)" in page
    assert "PGD" not in page.partition("Inside a step")[2].partition("Cells")[0]


def test_a_ledger_that_says_nothing_is_said_to_say_nothing(rse, folder):
    grid(folder, checks=())
    for text in said(rse, folder):
        assert f"{SILENT}all 3 rows" in text
        assert "no effect in" not in text


@pytest.mark.parametrize("ascent", ["noise", "flipped"])
def test_a_control_that_is_not_to_raise_the_loss_is_not_called_inert(rse, folder, ascent):
    grid(folder, blends={"inert": {"ascent": ascent}, "alive": {"ascent": "gradient"}})
    for text in said(rse, folder):
        assert "no effect in" not in text
    with Reader(folder) as reader:
        rows = row_checks(reader.ledger, reader.study(), reader.records())
    values = {row.row: {check.metric: value for check, value in row.values} for row in rows}
    assert [values[row]["inner/rise"] for row in ("inert", "alive")] == pytest.approx([0.0002, 0.2])


def test_an_old_ledger_is_judged_by_the_limits_of_today_which_are_named(rse, folder):
    (once,) = (
        replace(check, limit=0.01, reason="a smaller rise leaves the task as easy") for check in INNER_RISE
    )
    grid(folder, checks=(once, *CHECKS[1:]), rises={"SimCSE": None, "inert": 0.0002, "alive": 0.002})
    for text in said(rse, folder):
        assert NOISE in text
        assert "as easy" not in text
        assert 'in "alive"' not in text
