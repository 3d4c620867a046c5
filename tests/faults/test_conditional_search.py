"""A search whose axes belong to methods, from the sampler to the report; tests/simulation kills one."""

from dataclasses import replace

import pytest
from optuna.trial import TrialState

from analysis.report import write_report
from rse_study.cli.verbs.status.content import state_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.sampling.optuna_study import LedgerCopy
from tests.analysis.outline import Outline
from tests.faults.drivers import assert_equal, contents
from tests.on_ray.world import STUDY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]
OF = {"paper": ["alpha", "rho"], "l2p": ["tau", "phi"], "v_adv": ["tau", "K"]}
CONDITIONAL = STUDY | {
    "name": "methods",
    "base": STUDY["base"] | {"budget": {"unit": "steps", "amount": 4}, "optimizer": {"lr": 1e-2}},
    "search": {
        "method": {
            "variants": {
                "paper": {},
                "l2p": {"method": {"name": "l2p_csr"}},
                "v_adv": {"method": {"name": "v_adv_cse", "weight": 1e-2}},
            }
        },
        "alpha": {"log": [1e-6, 1e-3], "when": {"method": "paper"}},
        "rho": {"float": [0, 1], "when": {"method": "paper"}},
        "tau": {"float": [0.03, 0.1], "when": {"method": ["l2p", "v_adv"]}},
        "phi": {"float": [0, 0.3], "when": {"method": "l2p"}},
        "K": {"int": [1, 3], "when": {"method": "v_adv"}},
        "lr": {"log": [1e-3, 1e-1]},
    },
    "num_trials": 10,
    "sampler": {"name": "tpe", "num_startup": 3},
    "evaluations": ["builtin/test"],
    "confirm": {"seeds": [1], "num_best": 1},
    "resources": {"max_concurrent": 1},
}


@pytest.fixture(scope="module")
def here(scene):
    return replace(scene, study=CONDITIONAL)


@pytest.fixture(scope="module")
def undisturbed(here, cluster):
    folder = here.folder("methods-whole")
    here.finish_here(folder, cluster)
    return folder


def test_every_trial_has_its_own_axes_alone(undisturbed):
    with Ledger.open(undisturbed) as ledger:
        cells = ledger.cells()
    assert len({cell.proposal["method"] for cell in cells}) == 3
    for cell in cells:
        assert cell.proposal.keys() == {"method", "lr", *OF[cell.proposal["method"]]}
    assert {cell.stage for cell in cells} == {"search", "confirm"}


def test_importance_is_over_the_trials_that_have_an_axis(undisturbed):
    with Reader(undisturbed) as reader:
        numbers = reader.importance().groupby("axis")["num_trials"].max()
        proposals = list(reader.cells().query("stage == 'search'")["proposal"])
    assert numbers[["method", "lr"]].tolist() == [10, 10]
    for axis in set(numbers.index) - {"method", "lr"}:
        assert numbers[axis] == sum(axis in proposal for proposal in proposals)


def test_report_status_and_dashboard_show_it(undisturbed, tmp_path):
    text = Outline(write_report(undisturbed, tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert "belong to some trials only" in text
    assert state_of(undisturbed).is_complete
    shown = LedgerCopy(undisturbed).storage().get_all_trials(0)
    assert [trial.state for trial in shown] == [TrialState.COMPLETE] * 10
    assert all(trial.params.keys() == trial.distributions.keys() for trial in shown)


def test_a_ledger_that_is_gone_comes_back(undisturbed, here, cluster):
    before = contents(undisturbed)
    ledger_path(undisturbed).unlink()
    lines = here.finish_here(undisturbed, cluster)
    assert not any("started" in line for line in lines)
    assert_equal(contents(undisturbed), before)
