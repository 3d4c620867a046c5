"""The plan: what is left of a study, and what that comes to."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from rse_study.data import builtin
from rse_study.errors import InputError, OverBudget
from rse_study.methods.robust_sent_embed import RobustSentEmbed
from rse_study.results.archive import unpack_archive
from rse_study.study.checking.validation import read_study
from rse_study.study.planning import probe as module
from rse_study.study.planning.measured import Conditions, Range, TimedWork, exactly, work_of
from rse_study.study.planning.plan import check_hours, plan_study, price
from rse_study.study.planning.probe import FEWEST_STEPS, MOST_STEPS, PATIENCE_S, probe, probed
from rse_study.study.planning.remaining import Left
from rse_study.training.loop import Progress
from tests.cases import cases
from tests.study.planning.priced import enter, grid_of, rows, search_of
from tests.training.world import World, small_trial

RHOS = {"axes": {"rho": [0, 0.5, 1]}}
TWO_SEEDS = {"seeds": [0, 1]}
SHIPPED = Path(__file__).parents[3] / "docs" / "results" / "minilm" / "mean-minilm.tar.xz"


def timer(seconds):
    """A probe by which a step of the base takes so long."""

    def probe(checked, folder):
        base, resources = checked.study.base, checked.study.resources
        return (TimedWork(Conditions.wanted(base, resources), seconds, work_of(base, 1)),)

    return probe


@pytest.fixture
def grid(content):
    return grid_of(content, RHOS, **TWO_SEEDS)


def test_hours_are_unknown_without_history_and_else_cells_times_steps_times_seconds_a_step(grid, tmp_path):
    unknown = plan_study(grid, tmp_path)
    assert (unknown.device_hours, unknown.price, unknown.source, unknown.new) == (None, None, "", {})
    (stage,) = plan_study(grid, tmp_path, probe=timer(10.0)).stages
    assert (stage.num_cells, stage.num_to_run, stage.num_steps) == (6, 6, 6 * 60)
    assert stage.device_hours.mid == pytest.approx(6 * 60 * 10 / 3600)


def test_hours_are_of_every_device_of_a_cell_and_have_the_spread_of_its_pace(grid):
    trial, resources = grid.study.base, grid.study.resources.model_copy(update={"threads": 4})
    wanted, work = Conditions.wanted(trial, resources), work_of(trial, 60)
    timed = [TimedWork(wanted, seconds, work, beside=20.0) for seconds in (60.0, 80.0, 100.0)]
    hours = price([Left("grid", trial, 5, 60)], resources, timed)
    assert hours == Range(*(pytest.approx(4 * 5 * seconds / 3600) for seconds in (80, 100, 120)))
    assert price([Left("grid", trial, 0, 60)], resources, []) == exactly(0.0)
    assert price([Left("grid", trial, 1, 60)], resources, []) is None


def test_a_plan_reads_its_own_ledger_for_what_is_left_spent_and_timed(content, grid, tmp_path):
    enter(grid, tmp_path, rows(grid)[:4], duration_s=3600.0)
    asked = grid_of(content, RHOS, **TWO_SEEDS, allowance={"price_per_hour": 3.0})
    planned = plan_study(asked, tmp_path)
    (stage,) = planned.stages
    assert (stage.ended, stage.num_to_run) == ({"complete": 4}, 2)
    assert planned.new == {"rho = 1": (0, 1)}
    assert planned.device_hours.mid == pytest.approx(2.0, rel=0.01)
    assert planned.price.mid == pytest.approx(3 * planned.device_hours.mid)
    assert not planned.is_complete
    enter(grid, tmp_path, rows(grid)[4:])
    planned = plan_study(asked, tmp_path)
    assert planned.is_complete
    assert (planned.device_hours, planned.new) == (exactly(0.0), {})
    assert check_hours(replace(planned, spent_hours=9.0), 5.0) == []  # nothing is left to refuse


def test_a_search_is_priced_as_its_base_until_its_budget(content, tmp_path):
    def planned(**changes):
        return plan_study(search_of(content, **changes), tmp_path, probe=timer(10.0))

    whole = planned(num_trials=12)
    search, confirm = whole.stages
    assert (search.num_to_run, search.num_steps, confirm.num_to_run) == (12, 12 * 60, 4)
    assert search.device_hours.mid == pytest.approx(12 * 60 * 10 / 3600)
    assert any("until tpe proposes them: each is priced as the base" in note for note in whole.notes)
    assert any("as if none was stopped early" in note for note in whole.notes)
    cut = planned(num_trials=12, search_budget={"device_hours": 0.5})
    assert cut.stages[0].device_hours == exactly(0.5)
    assert any("search: it ends at its budget" in note for note in cut.notes)


def test_what_was_measured_is_preferred_to_what_was_stated(content, tmp_path):
    checked = grid_of(content, RHOS, **TWO_SEEDS, allowance={"hours_per_cell": [20, 40]})
    enter(checked, tmp_path, rows(checked)[:3], duration_s=3600.0)
    assert plan_study(checked, tmp_path).device_hours.mid == pytest.approx(3.0, rel=0.01)


def test_the_replayed_set_and_missing_data_are_noted(content, tmp_path, monkeypatch):
    monkeypatch.setenv("RSE_STUDY_DATA", str(tmp_path))
    base = content["base"] | {"replayed": {"recipe": "pwws", "num_pairs": 40}}
    asked = {"evaluations": ["attack-mr/pwws"], **TWO_SEEDS}
    planned = plan_study(grid_of(content | {"base": base}, RHOS, **asked), tmp_path, probe=timer(1.0))
    assert any("the replayed set is built once" in note for note in planned.notes)
    assert "attack-mr/pwws is not in the data folder: its time is not included" in planned.notes
    assert planned.scores.missing == {"attack-mr/pwws": 6}


@pytest.fixture
def four_hours(grid, tmp_path):
    """Expected 4 hours, 2 to 8 of them."""
    planned = plan_study(grid, tmp_path, probe=timer(40.0))
    return replace(planned, stages=(replace(planned.stages[0], device_hours=Range(2.0, 4.0, 8.0)),))


@cases(("limit", "is_warned"), [(8.0, False), (5.0, True)])
def test_a_limit_warns_where_only_the_high_estimate_passes_it(four_hours, limit, is_warned):
    assert len(check_hours(four_hours, limit)) == is_warned


def test_the_expected_total_and_what_was_spent_must_stay_below_the_limit(four_hours, grid, tmp_path):
    with pytest.raises(OverBudget, match="4 device hours expected"):
        check_hours(four_hours, 3.9)
    with pytest.raises(OverBudget, match="2 of it spent"):
        check_hours(replace(four_hours, spent_hours=2.0), 5.0)
    with pytest.raises(InputError, match=r"max_hours = 5: the time of its cells is unknown. Use --probe"):
        check_hours(plan_study(grid, tmp_path), 5.0)


@pytest.fixture(scope="module")
def archived(tmp_path_factory):
    return unpack_archive(SHIPPED, tmp_path_factory.mktemp("store"))


def test_a_shipped_study_is_complete_without_its_data_and_models(archived):
    assert plan_study(read_study(archived / f"{archived.name}.yaml"), archived.parent).is_complete


def test_one_that_has_grown_or_was_computed_by_other_code_is_not(archived, monkeypatch):
    file = archived / f"{archived.name}.yaml"
    assert not plan_study(
        read_study(file, ["seeds=[0, 1, 2, 3, 4, 5, 6, 7, 8]"]), archived.parent
    ).is_complete
    monkeypatch.setattr(RobustSentEmbed, "semantics", 2)
    assert not plan_study(read_study(file), archived.parent).is_complete


# A few real steps on this machine.


STEPS = ["pgd.num_steps", "fgsm.num_steps"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), builtin.corpus(0, 120))


@pytest.fixture
def small(content):
    """A grid of N = 1 and 6 around the small world's trial, which has N = 2."""
    base = small_trial().model_dump(mode="json")
    return grid_of(content | {"base": base}, {"axes": {"N": {"choice": [1, 6], "into": STEPS}}})


def test_the_cheapest_the_base_and_the_dearest_by_steps_batch_and_length(content):
    grid = grid_of(content, {"axes": {"N": {"choice": [3, 1, 9], "into": STEPS}}})
    assert [trial.method.blend.num_steps for trial in probed(grid)] == [1, 5, 9]
    cheap, base, dear = probed(search_of(content))
    assert (cheap.method.blend.num_steps, dear.method.blend.num_steps) == (1, 16)
    assert base == search_of(content).study.base
    grid = grid_of(content, {"rows": {"long": {"max_length": 64}, "deep": {"K": 6}, "base": {}}})
    assert probed(grid)[2].max_length == 64


def test_a_few_steps_are_timed_and_nothing_stays(small, world, tmp_path, monkeypatch):
    seen, report = [], module.StepTimer.report
    monkeypatch.setattr(
        module.StepTimer, "report", lambda timer, point: seen.append(point.t) or report(timer, point)
    )
    monkeypatch.setattr(module, "PATIENCE_S", float("inf"))  # however busy this machine is
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    timed = probe(small, lambda trial: world.materials())
    assert seen == 3 * list(range(MOST_STEPS + 1))
    assert list(tmp_path.iterdir()) == []
    assert [time.work for time in timed] == [small.study.base.batch_size * (4 * N + 28) for N in (1, 2, 6)]
    assert {time.conditions for time in timed} == {Conditions.wanted(small.study.base, small.study.resources)}
    assert all(time.seconds > 0 for time in timed)


def test_the_price_of_a_recorded_step_is_that_of_a_replay():
    """Of four shapes of batch, each is computed once and recorded once; all others are replayed."""
    seconds = [9.0, *4 * [0.2], *4 * [0.5], *31 * [0.03]]
    now = iter([sum(seconds[: step + 1]) for step in range(len(seconds))])
    timer = module.StepTimer(module.GRAPHED_STEPS, clock=lambda: next(now))
    answers = [timer.report(Progress(t, 99)) for t in range(module.GRAPHED_STEPS + 1)]
    assert answers == [*module.GRAPHED_STEPS * [None], "stop"]
    assert timer.seconds_per_step == pytest.approx(0.03)


def test_a_slow_trial_is_left_sooner_and_a_gpu_not_guessed_at(monkeypatch, content):
    now = iter([0.0, PATIENCE_S, 2 * PATIENCE_S])
    timer = module.StepTimer(clock=lambda: next(now))
    answers = [timer.report(Progress(t, 9)) for t in range(FEWEST_STEPS + 1)]
    assert answers == [None, None, None, "stop"]
    assert timer.seconds_per_step == PATIENCE_S
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    grid = grid_of(content, {"axes": {"rho": [0, 1]}}, resources={"gpus": 1})
    with pytest.raises(InputError, match=r"--probe: resources.gpus = 1: this machine has none"):
        probe(grid, lambda trial: pytest.fail("nothing is prepared"))
