"""A search on a surface: its clock, its proposals and its verdicts."""

import math

import numpy as np
import pytest

from benchmarks.search_arms import simulation
from benchmarks.search_arms.anytime import AnytimeResult, best_so_far, summary
from benchmarks.search_arms.arm import arm_of
from benchmarks.search_arms.command import main
from benchmarks.search_arms.simulation import EndedTrial, SimulatedSearch
from benchmarks.search_arms.surface import CrossingSurface, OrderedSurface, joint_domains
from rse_study.errors import InputError
from rse_study.sampling.proposer import Proposer
from rse_study.study.definition.search import Sampler

DOMAINS = joint_domains()
ORDERED = OrderedSurface(DOMAINS)


def searched(arm, surface=ORDERED, workers=1, steps=900, seed=0):
    return list(SimulatedSearch(surface, DOMAINS, arm_of(arm), workers, steps, seed).run())


def test_trials_end_one_after_the_other_and_workers_share_the_steps():
    ended = searched("random")
    assert [trial.steps_spent for trial in ended] == [60 * n for n in range(1, 16)]
    assert all(trial.is_complete for trial in ended)
    ended = searched("random", workers=4, steps=960)
    assert [trial.steps_spent for trial in ended] == [240.0] * 4 + [480.0] * 4 + [720.0] * 4 + [960.0] * 4
    assert sorted(trial.number for trial in ended) == list(range(16))


def test_points_are_those_of_the_real_proposer():
    proposer = Proposer(DOMAINS, Sampler(name="tpe"), 5, ["maximize"])
    for trial in searched("tpe", seed=5):
        point = proposer.ask(trial.number)
        assert trial.truth == ORDERED.truth(point)
        proposer.tell(trial.number, "complete", [trial.value])


def test_asha_stops_by_the_real_rule():
    """One worker: at step 15 the better half of those so far goes on, and at step 30 again."""
    seen = {15: [], 30: []}
    points = Proposer(DOMAINS, Sampler(name="random"), 0, ["maximize"])
    ended = searched("random+asha", steps=2400)
    for trial in ended:
        point, expected = points.ask(trial.number), 60
        for t in seen:
            value = ORDERED.value(point, t)
            goes_on = sum(other > value for other in seen[t]) < max(1, (len(seen[t]) + 1) // 2)
            seen[t].append(value)
            if not goes_on:
                expected = t
                break
        assert trial.is_complete == (expected == 60)
        assert trial.value == ORDERED.value(point, expected)
    assert len(ended) > len(searched("random", steps=2400))


@pytest.mark.parametrize("arm", ["random+asha", "random+median", "random+hyperband", "tpe+asha"])
def test_the_same_seed_is_the_same_search(arm):
    surface = CrossingSurface(DOMAINS)
    first = searched(arm, surface, workers=3, steps=700, seed=2)
    assert first == searched(arm, surface, workers=3, steps=700, seed=2)
    assert first != searched(arm, surface, workers=3, steps=700, seed=3)
    assert all(one.steps_spent <= 700 for one in first)


def test_the_best_so_far_is_of_the_full_budget_and_its_mean_has_an_interval():
    ended = [
        EndedTrial(0, 60, True, 50.0, 51.0),
        EndedTrial(1, 75, False, 99.0, 99.0),  # stopped: another quantity
        EndedTrial(2, 135, True, 60.0, 48.0),  # luck: measured better than it is
        EndedTrial(3, 195, True, 55.0, 70.0),
    ]
    curve = best_so_far(ended, [30, 60, 100, 150, 200])
    assert curve.tolist() == pytest.approx([float("nan"), 51.0, 51.0, 48.0, 48.0], nan_ok=True)
    nan = float("nan")
    found = summary("s", "a", [10, 20], [[nan, 1.0], [3.0, 3.0], [2.0, 2.0]], 1.0)
    assert found.mean == pytest.approx([nan, 2.0], nan_ok=True)
    assert found.low[1] == pytest.approx(2.0 - 4.302653 / 3**0.5)


def test_an_arm_reaches_a_value_where_it_stays_and_one_that_nobody_knows_is_refused():
    def reaches(*mean):
        return AnytimeResult("s", "a", [10, 20, 30], list(mean), [], [], 1.0, []).reaches(5.0)

    assert reaches(4.0, 5.0, 6.0) == 20
    assert reaches(5.0, 4.0, 6.0) == 30
    assert reaches(float("nan"), 6.0, 6.0) == 20
    assert reaches(6.0, 6.0, 4.0) is None
    assert reaches(4.0, math.nextafter(5.0, 0), 5.0) == 20  # a last bit decides nothing
    assert arm_of("tpe+hyperband").name == "tpe+hyperband"
    with pytest.raises(InputError, match="Did you mean 'asha'"):
        arm_of("tpe+ascha")
    with pytest.raises(InputError, match="no sampler 'tpee'"):
        arm_of("tpee")


def test_a_saving_is_as_sure_as_the_searches_agree():
    random = summary("s", "random", [10, 20, 30, 40], [[0.0, 0.0, 0.0, 5.0]] * 8, 1.0)

    def saving(*curves):
        interval = summary("s", "a", random.steps, curves, 1.0).saving(random)
        return interval.low, interval.high

    early, late, never = [6.0] * 4, [0.0, 0.0, 6.0, 6.0], [0.0] * 4
    assert saving(*[early] * 8) == (0.75, 0.75)
    assert saving(*[late] * 8) == (0.25, 0.25)
    assert saving(*[never] * 8) == (0.0, 0.0)
    assert saving(*[early] * 7, never) == (0.0, 0.75)
    assert saving(*[[float("nan"), *early[1:]]] * 8) == (0.5, 0.5)


class NudgedProposer(Proposer):
    """Proposes what another CPU might: every float is one unit in the last place away."""

    def ask(self, number, draw=0):
        point = super().ask(number, draw)
        self.discard(number)
        nudged = {name: self._nudged(name, value) for name, value in point.items()}
        self.add(number, nudged)
        return nudged

    def _nudged(self, name, value):
        middle = sum(DOMAINS[name].edges()) / 2 if isinstance(value, float) else None
        return value if middle is None else math.nextafter(value, middle)


@pytest.mark.parametrize("arm", ["random", "tpe"])
def test_the_last_bit_of_a_proposal_decides_nothing(arm, monkeypatch):
    surface = CrossingSurface(DOMAINS)

    def ends():
        return [
            (one.number, one.value, one.truth)
            for seed in range(2)
            for one in searched(arm, surface, workers=4, steps=2400, seed=seed)
        ]

    plain = ends()
    monkeypatch.setattr(simulation, "Proposer", NudgedProposer)
    nudged = ends()
    assert len(plain) == 80 and nudged != plain
    assert np.array(nudged) == pytest.approx(np.array(plain), abs=1e-6)


def test_the_command_says_what_every_arm_came_to(capsys, tmp_path):
    options = ["--steps", "480", "--workers", "2", "--repeats", "2", "--out", str(tmp_path / "curves.json")]
    main([*options, "--arms", "random+asha", "--surfaces", "ordered", "recorded", "recorded_curves"])
    shown = capsys.readouterr().out
    assert shown.count("| random |") == 3
    assert shown.count("| random+asha |") == 2  # nothing is known of a recorded trial before its end
    assert '"arm":"random+asha"' in (tmp_path / "curves.json").read_text()
