"""A few real steps on this machine."""

import tempfile

import pytest
import torch

from rse_study.data import builtin
from rse_study.errors import InputError
from rse_study.study.planning import probe as module
from rse_study.study.planning.measured import Conditions
from rse_study.study.planning.probe import FEWEST_STEPS, MOST_STEPS, PATIENCE_S, probe, probed
from rse_study.training.loop import Progress
from tests.study.planning.priced import grid_of, search_of
from tests.training.world import World, small_trial

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
