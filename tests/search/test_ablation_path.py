"""The path as a pure function of what a ledger holds."""

from rse_study.results.records import CellRecord, ImportanceRow
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from rse_study.search.ablation_path import PathPoint, Round, by_importance, num_points, path_state, rounds_of
from rse_study.search.choice import is_search_over
from rse_study.search.state import SearchState
from tests.cases import cases

AXES = ("a", "b", "c")
GAINS = {"a": 1.0, "b": 3.0, "c": -1.0}
STUDY = StudyRecord(
    name="s",
    objective=ObjectiveRecord(metric="dev"),
    axes=tuple(AxisRecord(name=name, paths=(name,), kind="float", low=0, high=1) for name in AXES),
    num_trials=3,
    num_cells=3 + 4 + (7 * 3 - 4),
    resolved={
        "confirm": {"num_best": 1, "baseline": "base", "seeds": [1, 2]},
        "ablation_path": {"order": "greedy", "seeds": [1, 2, 3]},
    },
)
BASE, BEST = dict.fromkeys(AXES, 0.0), dict.fromkeys(AXES, 1.0)


def value(point: PathPoint) -> float:
    return 10.0 + sum(GAINS[name] for name in point)


def all_known(point: PathPoint) -> tuple[float, ...]:
    return value(point), value(point) + 1


def test_greedy_keeps_what_brings_most_flips_every_axis_and_judges_on_top_of_what_was_kept():
    rounds = rounds_of(AXES, "greedy", all_known, less_is_better=False)
    assert [one.accepted for one in rounds] == ["b", "a", "c"]
    assert [one.flips for one in rounds] == [("a", "b", "c"), ("a", "c"), ("c",)]
    assert rounds[1].before == {"b"}
    expected = ["c", "a", "b"]
    assert [one.accepted for one in rounds_of(AXES, "greedy", all_known, less_is_better=True)] == expected

    def values(point):  # b helps only where a is not flipped
        return (value(point) - 5 * ({"a", "b"} <= point),)

    rounds = rounds_of(("a", "b", "c"), "greedy", values, less_is_better=False)
    assert [one.accepted for one in rounds] == ["b", "c", "a"]


def test_a_round_waits_for_all_its_flips():
    def values(point):
        return None if point == {"b", "c"} else all_known(point)

    expected = (Round(frozenset(), AXES, "b"), Round(frozenset("b"), ("a", "c"), ""))
    assert rounds_of(AXES, "greedy", values, less_is_better=False) == expected


def test_by_importance_all_points_are_known_at_once():
    rounds = rounds_of(("c", "a", "b"), "importance", lambda point: None, less_is_better=False)
    assert [(one.flips, one.accepted) for one in rounds] == [(("c",), "c"), (("a",), "a"), (("b",), "b")]


@cases(("num_axes", "greedy", "by_shares"), [(0, 1, 1), (1, 2, 2), (8, 37, 9)])
def test_points_of_a_path(num_axes, greedy, by_shares):
    assert (num_points(num_axes, "greedy"), num_points(num_axes, "importance")) == (greedy, by_shares)


def test_axes_by_the_mean_over_evaluators():
    rows = [
        ImportanceRow(axis=axis, evaluator=evaluator, value=share, num_trials=9)
        for evaluator, shares in (("x", {"a": 0.1, "b": 0.6}), ("y", {"a": 0.8, "b": 0.2}))
        for axis, share in shares.items()
    ]
    assert by_importance(["b", "a", "c"], rows) == ["a", "b", "c"]
    assert by_importance(["b", "a"], []) == ["b", "a"]


def cell(trial, proposal, seed=0, stage="search", status="complete", **options) -> CellRecord:
    about = {"label": "base" if proposal == BASE else "", "config": {}, "proposal": proposal} | options
    name = f"{trial}-{seed}-{stage}"
    return CellRecord(identity=name, trial=trial, seed=seed, stage=stage, status=status, **about)


SEARCH = [cell(0, BASE), cell(1, BEST), cell(2, BASE | {"a": 0.5})]
LAST = {"0-0-search": (60, 50.0), "1-0-search": (60, 59.0), "2-0-search": (60, 52.0)}


def search_of(study, cells, last, importance=()):
    over = is_search_over(study, cells)
    path = path_state(study, cells, last, importance, is_search_over=over)
    return SearchState(study, tuple(cells), path=path)


def path_of(study, cells, last, importance=()):
    return search_of(study, cells, last, importance).path


def run(study=STUDY, cells=(), last=None, num_rounds=9):
    """The ledger after so many rounds: each cell of a round as `plan` would number it."""
    cells, last = [*SEARCH, *cells], dict(LAST if last is None else last)
    numbers = {PathPoint(): 0, frozenset(AXES): 1}
    for _ in range(num_rounds):
        state = path_of(study, cells, last)
        for point in state.points if state else ():
            number = numbers.setdefault(point, -len(numbers))
            for seed in state.seeds:
                if not any((one.trial, one.seed) == (number, seed) for one in cells):
                    cells.append(cell(number, state.proposal_of(point), seed, "path"))
                    last[cells[-1].identity] = (60, value(point) + seed)
    return cells, last


def test_a_ledger_without_points_knows_the_base_and_the_first_round_and_names_its_points():
    state = path_of(STUDY, SEARCH, LAST)
    assert state.points == (frozenset(), {"a"}, {"b"}, {"c"})
    assert (state.base.trial, state.best.trial, state.axes) == (0, 1, AXES)
    assert (state.is_over, dict(state.values)) == (False, {})
    names = [state.label_of(frozenset(flipped)) for flipped in ("", "b", "ca", "abc")]
    assert names == ["base", "base with b", "base with a, c", ""]


def test_a_path_goes_on_to_its_end_round_by_round():
    cells, last = run(num_rounds=1)
    assert [one.accepted for one in path_of(STUDY, cells, last).rounds] == ["b", ""]
    cells, last = run()
    state = path_of(STUDY, cells, last)
    assert [one.accepted for one in state.rounds] == ["b", "a", "c"]
    assert state.is_over
    assert state.values[frozenset("b")] == (14.0, 15.0, 16.0)
    assert len(cells) == 3 + 7 * 3


def test_cells_of_the_confirmation_are_the_paths_own():
    confirmed = [
        cell(trial, proposal, seed, "confirm")
        for trial, proposal in ((0, BASE), (1, BEST))
        for seed in (1, 2)
    ]
    last = LAST | {one.identity: (60, 42.0 + one.seed) for one in confirmed}
    cells, last = run(cells=confirmed, last=last)
    search = search_of(STUDY, cells, last)
    assert search.path.values[PathPoint()] == (43.0, 44.0, 13.0)
    assert sum(one.stage == "path" for one in cells) == 7 * 3 - 4 == search.num_path_cells
    assert search.num_planned == 3 + 4 + 17


def test_before_the_search_is_over_or_without_a_second_trial_or_a_path_nothing_is_known():
    cells = [*SEARCH[:2], cell(2, BASE | {"a": 0.5}, status="running")]
    search = search_of(STUDY, cells, LAST)
    assert (search.path, search.num_path_cells, search.num_planned) == (None, 17, STUDY.num_cells)
    cells = [SEARCH[0], *(cell(n, BEST, status="failed") for n in (1, 2))]
    search = search_of(STUDY, cells, LAST)
    assert (search.path, search.num_planned) == (None, 3 + 4)
    bare = STUDY.model_copy(update={"resolved": {}, "num_cells": 3})
    search = search_of(bare, SEARCH, LAST)
    assert (search.path, search.num_planned) == (None, 3)
