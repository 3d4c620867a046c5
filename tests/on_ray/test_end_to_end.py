"""A real study: Tune asks, workers train, the ledger holds the answer.

The one axis is a learning rate that is either the paper's or beyond all measure: the second trial loses its loss.
"""

import json
from math import nan

import pytest
from ray.tune import ExperimentAnalysis, ResultGrid, Tuner

from rse_study.on_ray.driver import run_study
from rse_study.on_ray.workers import CellPayload
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from tests.on_ray.listener import Listener
from tests.on_ray.test_trackers import points_of
from tests.on_ray.world import checked_of, few

pytestmark = pytest.mark.xdist_group("ray")


@pytest.fixture(scope="module")
def checked(study_content):
    content = study_content | {
        "base": study_content["base"] | {"selection": {"dev": "builtin", "every": 1, "keep": "last"}},
        "search": {"lr": {"choice": [7e-6, 1e30]}},
        "evaluations": ["builtin/test"],
        "confirm": {"seeds": [1]},
    }
    return checked_of(content)


@pytest.fixture(scope="module")
def ran(checked, materials, tmp_path_factory, cluster):
    """(folder, diary) of the study after it ran."""
    diary, directory = Listener(), tmp_path_factory.mktemp("studies") / "little"
    ran = run_study(
        checked, directory, lambda trial: materials, few, diary, address=cluster, track="tensorboard"
    )
    return ran, diary


def test_tunes_own_tables_show_axes_by_symbol_beside_what_runs(ran):
    folder, _ = ran
    experiments = sorted((folder / "ray").glob("tune-*"))
    results = [one for path in experiments for one in ResultGrid(ExperimentAnalysis(str(path)))]
    shown = [[one.config.get(name) for name in ("trial", "xi", "seed", "row")] for one in results]
    assert shown == [[0, 7e-6, 0, "base"], [1, 1e30, 0, None], [0, 7e-6, 1, "base"]]
    for result in results:
        assert CellPayload.from_config(result.config).trial.optimizer.lr == result.config["xi"]


def test_tunes_own_record_has_a_row_a_cell_with_its_scores_and_knows_the_best_trial(ran):
    """From the folder of a finished study; the trial without a result is the best at nothing."""
    folder, _ = ran
    paths = sorted((folder / "ray").glob("tune-*"))
    grids = [Tuner.restore(str(path), "run_inline").get_results() for path in paths]
    tables = [grid.get_dataframe().set_index("config/trial") for grid in grids]
    with Ledger.open(folder) as ledger:
        last = {name: ledger.final_values(name) for name in ("dev", "loss", "cost/work")}
        (confirmed,) = (cell.identity for cell in ledger.cells() if cell.stage == "confirm")
        for cell in ledger.cells():
            row = tables[cell.stage == "confirm"].loc[cell.trial]
            known = [last[name].get(cell.identity, nan) for name in ("dev", "loss", "cost/work")]
            assert list(row[["dev", "loss", "metrics/cost/work"]]) == pytest.approx(known, nan_ok=True)
            assert (row["config/xi"], row["config/seed"]) == (cell.proposal["lr"], cell.seed)
            assert row["t"] == max(point.t for point in ledger.history(cell.identity))
            assert row["objective"] == pytest.approx(
                nan if cell.status == "failed" else known[0], nan_ok=True
            )
        (score,) = (row.value for row in ledger.evaluations([confirmed]) if row.aggregation == "all")
    assert tables[1]["scores/builtin/test/all"].item() == score
    best = grids[0].get_best_result("objective", "max")
    assert (best.config["trial"], best.metrics["t"]) == (0, 3)
    for line in (line for path in paths for file in path.glob("*/result.json") for line in file.open()):
        assert json.loads(line).keys() >= {"dev", "objective", "loss", "t"}


def test_a_tracker_follows_every_cell_by_its_name(ran):
    folder, diary = ran
    assert not [line for line in diary.heard if line.startswith("--track")]
    tracked = {path.name.rpartition("-")[0]: points_of(path) for path in (folder / "tensorboard").iterdir()}
    assert tracked.keys() == {"base seed 0", "base seed 1", "trial 1 seed 0"}
    with Ledger.open(folder) as ledger:
        for cell in ledger.cells():
            points = tracked[f"{'base' if cell.trial == 0 else 'trial 1'} seed {cell.seed}"]
            dev = [
                (row.t, pytest.approx(row.value))
                for row in ledger.history(cell.identity)
                if row.name == "dev"
            ]
            assert sorted(points["dev"]) == dev


def test_a_lost_loss_fails_its_trial_with_its_reason_and_the_study_goes_on(ran):
    folder, _ = ran
    with Ledger.open(folder) as ledger:
        cell = next(cell for cell in ledger.cells() if cell.trial == 1)
        outcomes = [attempt.outcome for attempt in ledger.attempts([cell.identity])]
    assert outcomes == ["failed"]  # and not tried again
    assert cell.status == "failed"
    assert cell.reason.startswith("step ") and "the loss is not finite" in cell.reason


def test_the_baselines_are_measured_once(ran):
    folder, _ = ran
    with Reader(folder) as reader:
        rows = reader.evaluations()
    measured = rows.loc[rows["aggregation"] == "all", ["subject", "split"]].values.tolist()
    names = ("token_overlap", "untrained", "start")
    assert all(measured.count([name, split]) == 1 for name in names for split in ("dev", "test"))


def test_progress_was_heard_in_the_driver_and_the_same_command_again_runs_nothing(ran, checked, materials):
    folder, diary = ran
    assert ("ended", 0, "complete") in diary.events
    assert ("progressed", 0, 2, 3) in diary.events
    assert ("ended", 1, "failed") in diary.events
    again = Listener()
    run_study(checked, folder, lambda trial: materials, few, again)
    assert again.events == [("found", 2), ("found", 1)]


def test_only_the_confirmed_base_is_scored_on_test_pairs_and_the_ledger_says_who_ran_it(ran):
    folder, _ = ran
    with Ledger.open(folder) as ledger:
        cells = {cell.identity: cell for cell in ledger.cells()}
        scored = {row.subject for row in ledger.evaluations() if row.split == "test"} & set(cells)
        executors = {attempt.executor for attempt in ledger.attempts()}
    (only,) = (cells[one] for one in scored)
    assert (only.stage, only.label, only.seed) == ("confirm", "base", 1)
    assert executors == {"inline"}
