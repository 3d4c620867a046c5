"""Hyperband's brackets: their sizes by the paper, their trials, and the rule inside."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rse_study.search.stopping import Asha, Hyperband
from rse_study.search.stopping.hyperband import bracket_of, bracket_sizes
from tests.search.stopping.waiting import VALUES, waiting


def test_the_papers_table_and_all_brackets_train_about_as_much():
    """Li et al. 2018, table 1: R = 81, eta = 3. Brackets s = 4 to 0 begin with 81, 34, 15, 8, 5 configurations."""
    rule = Hyperband(first=1, factor=3)
    assert rule.rungs(81) == (1, 3, 9, 27)
    assert bracket_sizes(len(rule.rungs(81)), rule.factor) == (81, 34, 15, 8, 5)
    # The paper's point: each bracket has the budget of the others, rounding and whole trials aside.
    sizes, steps = bracket_sizes(4, 3), (1, 3, 9, 27, 81)
    trained = []
    for bracket, size in enumerate(sizes):
        begins = [0, *steps[bracket:]]
        trained.append(
            sum(size / 3**passed * (end - start) for passed, (start, end) in enumerate(pairwise(begins)))
        )
    assert max(trained) < 1.5 * min(trained)


@given(
    search_seed=st.integers(0, 2**32),
    num_rungs=st.integers(1, 5),
    factor=st.integers(2, 5),
    start=st.integers(0, 10_000),
)
@settings(max_examples=60)
def test_brackets_are_filled_in_proportion_wherever_one_begins_to_count(
    search_seed, num_rungs, factor, start
):
    sizes = bracket_sizes(num_rungs, factor)
    brackets = [bracket_of(search_seed, trial, num_rungs, factor) for trial in range(start, start + 300)]
    for bracket, size in enumerate(sizes):
        assert brackets.count(bracket) == pytest.approx(300 * size / sum(sizes), abs=4)


def test_a_bracket_begins_one_rung_after_the_one_before_and_the_last_has_none():
    rule, rungs = Hyperband(first=15, factor=2), (15, 30)
    seen = {bracket_of(3, trial, 2, 2): rule.rungs_of_trial(rungs, 3, trial) for trial in range(50)}
    assert seen == {0: (15, 30), 1: (30,), 2: ()}
    assert {Asha(first=15).rungs_of_trial(rungs, 3, trial) for trial in range(50)} == {(15, 30)}


@given(values=VALUES, search_seed=st.integers(0, 99), trial=st.integers(0, 39))
def test_inside_a_bracket_it_is_asha(values, search_seed, trial):
    rungs = (1, 2, 4)
    mine = bracket_of(search_seed, trial, 3, 2)
    others = {n: value for n, value in enumerate(values) if n != trial}
    peers = {n: value for n, value in others.items() if bracket_of(search_seed, n, 3, 2) == mine}
    value = values[-1]
    in_bracket = waiting(value, {1: others}, trial=trial, rungs=rungs, search_seed=search_seed)
    alone = waiting(value, {1: peers}, trial=trial, rungs=rungs)
    of_bracket = Hyperband(first=1, factor=2).verdict(in_bracket)
    assert of_bracket == Asha(first=1, factor=2).verdict(alone)
