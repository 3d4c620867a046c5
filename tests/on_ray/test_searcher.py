"""The queue of cells as Tune asks it: what happens while no cell runs, when Tune calls nothing else."""

from threading import Event
from typing import get_args

import pytest
from ray.tune.experiment import Trial
from ray.tune.search import Searcher

from rse_study.errors import InputError, Unavailable
from rse_study.on_ray import searcher as searcher_module
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.stored import Payloads
from rse_study.on_ray.tuner import LiveTrials, TuneRecord
from rse_study.on_ray.workers.coordinator import SCORED, Coordinator
from rse_study.sampling.proposer import Proposer
from rse_study.spec import canonical_json
from rse_study.study.checking.search_methods import TRAITS, sampler_problems
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.parts import Sampler
from rse_study.study.definition.reading import read_extended
from rse_study.study.definition.shipped import shipped_studies
from tests.cases import cases
from tests.on_ray.nodes.test_lost_cells import Lines, cell, clock, losses_of
from tests.on_ray.surface import outcome_of

__all__ = ["clock"]


class Alone(Coordinator):
    """A coordinator that no workers ask."""

    def __init__(self):
        pass

    def keep_groups(self, has_cells): ...

    def num_groups(self):
        return 0


class Ending:
    """A run that starts no other cell."""

    def __init__(self):
        self.closing = Event()
        self.closing.set()

    failure = None

    def give_up(self, failure):
        self.failure = failure

    def check(self): ...


def searcher_of(lines, losses):
    untouched = (object.__new__(kind) for kind in (CellQueue, Payloads))
    return CellSearcher(*untouched, Alone(), lines, lambda: 1, losses, Ending())


@cases(
    "broken",
    [
        InputError("early_stopping.class = 'my_rules:Fragile'", rule="failed at trial 1, step 15"),
        Unavailable("no room left in studies/little", "Make room; the same command resumes the run"),
    ],
)
def test_a_rule_that_fails_or_a_full_disk_ends_the_run_and_is_no_fault_of_the_trial(monkeypatch, broken):
    searcher = searcher_of(Lines(), losses_of({}, Lines()))
    searcher._running["trial"] = cell(1)

    def fails(*progress):
        raise broken

    monkeypatch.setattr(CellQueue, "progressed", fails)
    searcher.on_trial_result("trial", {"t": 15, "num_steps": 60, "metrics/dev": 1.0})
    assert searcher._runtime.failure is broken


def test_a_loss_is_said_and_the_study_goes_on_while_nothing_runs(clock):
    lines = Lines()
    losses = losses_of({1: {"n3"}}, lines)
    searcher = searcher_of(lines, losses)
    searcher.while_idle = lambda: losses.report([])
    losses.add(cell(1), "its process ended")
    assert searcher.suggest("trial") is None
    clock.now += 6.0
    assert searcher.suggest("trial") == Searcher.FINISHED
    assert lines.lines == [(1, "its process ended")]


def test_a_cell_that_is_scored_is_not_silent(clock, monkeypatch):
    monkeypatch.setattr(searcher_module, "time", clock)
    searcher = searcher_of(Lines(), losses_of({}, Lines()))
    running = cell(1)
    searcher._running["trial"], searcher._last_report["trial"] = running, clock.now
    for _ in range(3):
        clock.now += 0.75 * running.resources.max_silence_s
        assert list(searcher.silent()) == []
        searcher.on_trial_result("trial", {SCORED: 1})
    clock.now += 1.25 * running.resources.max_silence_s
    assert list(searcher.silent()) == [("trial", running)]


# What a run of Tune does about trials that have ended: it keeps them all.


class Controller:
    """A controller of Tune that knows its live trials alone."""

    def __init__(self, *trials):
        self._trials = trials

    def get_live_trials(self):
        return set(self._trials)


def trial(number, status):
    made = Trial("cell", stub=True, trial_id=f"a1b2c_{number:05d}")
    made.set_status(status)
    return made


def test_the_first_trial_that_waits_starts_next_and_ended_ones_are_not_looked_at():
    waiting = [trial(number, Trial.PENDING) for number in (11, 9, 10)]
    controller = Controller(trial(8, Trial.RUNNING), *waiting)
    assert LiveTrials().choose_trial_to_run(controller) is waiting[1]
    assert LiveTrials().choose_trial_to_run(Controller(trial(8, Trial.RUNNING))) is None


def test_an_ended_trial_holds_statistics_of_its_scores_alone_and_a_lost_one_none():
    ended = trial(1, Trial.RUNNING)
    ended.update_last_result({"dev": 1.0, "delta/norm": 2.0, "training_iteration": 1})
    assert "delta/norm" in ended.metric_analysis
    TuneRecord("dev").on_trial_complete(iteration=1, trials=[ended], trial=ended)
    assert (list(ended.metric_analysis), ended.run_metadata.metric_n_steps) == (["dev"], {})
    assert ended.last_result["delta/norm"] == 2.0
    TuneRecord("dev").on_trial_error(iteration=1, trials=[ended], trial=ended)
    assert ended.metric_analysis == {}


# Every proposal of every sampler in every space that is shipped is a trial that can run.


SEARCHES = [path for path in shipped_studies() if read_extended(path).get("search")]
NAMES = get_args(Sampler.model_fields["name"].annotation)
QUICK = [name for name in NAMES if name != "gp"]


def spaces():
    """The first search of each space."""
    found = {}
    for path in SEARCHES:
        found.setdefault(canonical_json(read_extended(path)["search"]), path)
    return list(found.values())


@pytest.fixture(scope="module", params=spaces(), ids=lambda path: path.stem)
def checked(request):
    return read_study(request.param)


def asked(checked, name, seed, num_trials):
    """Proposals of a search in which larger values of every axis are better, so that all samplers reach edges."""
    domains = {axis.name: axis.domain for axis in checked.space.axes}
    sampler = Sampler(name=name, num_startup=4, population_size=4)
    proposer = Proposer(domains, sampler, seed, ["maximize"])
    for number in range(num_trials):
        proposal = proposer.ask(number)
        value = sum(share(domains[axis], proposal[axis]) for axis in proposal)
        proposer.tell(number, outcome_of(number), [value])
        yield proposal


def share(domain, value):
    if domain.scale == "none":
        return domain.values().index(value)
    low, high = domain.edges()
    return (value - low) / (high - low)


def can_ask(checked, name):
    """Whether a sampler can be asked for trials of this space: all axes in every trial, for a grid finite ones."""
    is_able = TRAITS[name].of_conditions or not checked.space.is_conditional
    assert is_able == (not list(sampler_problems(Sampler(name=name), checked.space))), name
    return is_able and (name != "grid" or all(axis.domain.is_finite for axis in checked.space.axes))


def hold_true(checked, name, seed, num_trials):
    for proposal in asked(checked, name, seed, num_trials):
        assert list(proposal) == [axis.name for axis in checked.space.axes if axis.is_active(proposal)]
        for axis in checked.space.axes:
            assert axis.name not in proposal or axis.domain.holds(proposal[axis.name]), (axis.name, proposal)
        trial = checked.space.apply(proposal)
        assert checked.space.coordinates(trial) == proposal


def test_a_short_search_of_every_quick_sampler_proposes_valid_trials(checked):
    for name in QUICK:
        if can_ask(checked, name):
            hold_true(checked, name, 0, 14)
