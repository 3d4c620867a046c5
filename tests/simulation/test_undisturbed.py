"""Whole studies in which nothing fails: where they end, and what a second command then does."""

from functools import partial

from rse_study.cli.status_content import state_of
from rse_study.cli.verbs.run import conclude
from rse_study.cli.verbs.status import lines_of
from rse_study.evaluation.sts import DIGITS
from rse_study.results.reader import Reader
from rse_study.search.state import SearchState
from rse_study.training.checkpoint import TrainState
from tests.on_ray.world import checked_of
from tests.simulation import training
from tests.simulation.drivers import Drivers
from tests.simulation.studies import CONTENT, STUDIES
from tests.simulation.world import World

AT_MOST = 7
ROWS = {
    "base": {},
    "worse": {"alpha": 1.3e-3},
    "open": {"alpha": 3.81e-3},
}  # by what simulated training makes of them
DECIDED = STUDIES["decided"] | {
    "grid": {"rows": ROWS, "baseline": "base"},
    "seeds": {"until": "decided", "at_least": 3, "at_most": AT_MOST},
    "resources": {"max_concurrent": 2},
}


def run(root, content):
    """The folder of a study that ran to its end in the store of this root."""
    drivers = Drivers(World(0, root))
    runs = drivers.add_checked(checked_of(content))
    drivers.play()
    return runs.folder


def num_trials(folder):
    with Reader(folder) as reader:
        return int((reader.cells()["stage"] == "search").sum())


def test_a_search_ends_before_the_first_cell_that_would_not_fit_and_a_larger_budget_goes_on(tmp_path):
    """Trials of four steps, of which three fit."""
    resources, confirm = {"max_concurrent": 2}, {"num_best": 3, "seeds": [1]}
    content = CONTENT | {"num_trials": 30, "confirm": confirm, "resources": resources}
    folder = run(tmp_path, content | {"search_budget": {"steps": 13}})
    assert num_trials(folder) == 3  # twelve steps of thirteen
    state = state_of(folder)
    assert state.is_complete
    assert state.counts["planned"] == 3 + 3  # two trials beside the base are confirmed: there are no three
    assert conclude(Reader(folder)) == 0
    (share,) = state.search_budget
    assert (share.spent, share.with_next, share.has_room) == (12, 16, False)
    assert any("12 of 13 optimiser steps spent, 1 left" in line for line in lines_of(state))
    assert any("ended it after 3 of at most 30 trials" in event["text"] for event in state.events)

    run(tmp_path, content | {"search_budget": {"steps": 20}})
    assert num_trials(folder) == 5
    with Reader(folder) as reader:
        assert "search_budget" in reader.revisions()["change"].iloc[-1]
        assert SearchState.read(reader).study.num_trials == 5


def test_decided_rows_get_no_more_seeds_and_a_neighbour_takes_the_cells_and_decides_the_same(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(
        training, "TrainState", partial(TrainState, similarity_digits=DIGITS)
    )  # else not shared
    found = []
    for name in ("whole", "another"):
        folder = run(tmp_path, DECIDED | {"name": name})
        with Reader(folder) as reader:
            cells = reader.trials_table().drop(columns="duration_s").to_dict("records")
            found.append((cells, SearchState.read(reader), len(reader.attempts())))
    (cells, state, _), (again, same, num_attempts) = found
    worse, undecided = state.rows.courses.values()
    assert (worse.verdict, undecided.verdict, undecided.num_seeds) == ("worse", "undecided", AT_MOST)
    assert 3 < worse.num_seeds < AT_MOST
    assert state.counts["complete"] == state.counts["planned"] == 2 * AT_MOST + worse.num_seeds
    assert again == cells
    assert same.rows.courses == state.rows.courses
    assert num_attempts == 0
