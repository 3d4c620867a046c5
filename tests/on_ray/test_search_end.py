"""Real searches that end by their budget."""

import pytest

from rse_study.cli.verbs.run import conclude
from rse_study.cli.verbs.status.content import state_of
from rse_study.cli.verbs.status.show import lines_of
from rse_study.on_ray.driver import run_study
from rse_study.results.reader import Reader
from rse_study.search.state import SearchState
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


def run(folder, materials, cluster, content):
    checked = checked_of(content)
    return run_study(checked, folder, lambda trial: materials, few, Listener(), address=cluster)


@pytest.fixture(scope="module")
def content(study_content):
    """Trials of three steps, of which three fit."""
    return study_content | {
        "num_trials": 30,
        "search_budget": {"steps": 10},
        "confirm": {"num_best": 3, "seeds": [1]},
        "resources": {"max_concurrent": 2},
    }


@pytest.fixture(scope="module")
def ended(content, materials, tmp_path_factory, cluster):
    return run(tmp_path_factory.mktemp("store") / "little", materials, cluster, content)


def num_trials(folder):
    with Reader(folder) as reader:
        return int((reader.cells()["stage"] == "search").sum())


def test_a_search_ends_before_the_first_cell_that_would_not_fit(ended):
    assert num_trials(ended) == 3  # nine steps of ten
    state = state_of(ended)
    assert state.is_complete
    assert state.counts["planned"] == 3 + 3  # two trials beside the base are confirmed: there are no three
    assert conclude(Reader(ended)) == 0
    (share,) = state.search_budget
    assert (share.spent, share.with_next, share.has_room) == (9, 12, False)
    assert any("9 of 10 optimiser steps spent, 1 left" in line for line in lines_of(state))
    assert any("ended it after 3 of at most 30 trials" in event["text"] for event in state.events)


def test_a_larger_budget_goes_on_and_says_so(ended, content, materials, cluster):
    run(ended, materials, cluster, content | {"search_budget": {"steps": 16}})
    assert num_trials(ended) == 5
    with Reader(ended) as reader:
        assert "search_budget" in reader.revisions()["change"].iloc[-1]
        assert SearchState.read(reader).study.num_trials == 5
