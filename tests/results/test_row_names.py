"""What rows and trials are called, and which of them somebody means."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.errors import InputError
from rse_study.results.bit_equality import describe_stale
from rse_study.results.device_time import device_seconds, gpus_per_worker, seconds_between
from rse_study.results.records import Measure
from rse_study.results.row_names import find_row, names_of_cells, names_of_rows, row_name
from rse_study.results.study_record import OWN_COLUMNS, AxisRecord, ObjectiveRecord, StudyRecord
from tests.cases import cases

STUDY = StudyRecord(
    name="x",
    objective=ObjectiveRecord(metric="dev"),
    kind="grid",
    axes=(
        AxisRecord(name="optimizer.lr", symbol="xi", paths=("optimizer.lr",), kind="choice"),
        AxisRecord(name="norm", paths=("b",), kind="choice", choices=("l1", "l2")),
    ),
)


@cases(
    ("label", "proposal", "name"),
    [
        ("", {"rho": 0.5}, "rho = 0.5"),
        ("", {"rho": 1.0}, "rho = 1"),
        ("", {"alpha": 1e-5, "beta": 1e-3}, "alpha = 1e-05, beta = 0.001"),
        ("", {"N": 12, "norm": "linf"}, "N = 12, norm = linf"),
        ("", {"lambda1": 1 / 128}, "lambda1 = 0.0078125"),
        ("", {"is_flat": True}, "is_flat = True"),
        ("", {"num_sentences": 1234567}, "num_sentences = 1234567"),
        ("SimCSE", {"rho": 0.5}, "SimCSE"),
    ],
)
def test_a_row_is_called_by_its_label_or_its_values(label, proposal, name):
    assert row_name(label, proposal) == name


def test_axes_stand_in_the_order_of_the_file_and_a_retired_trial_takes_no_name_away():
    cells = pd.DataFrame(
        {"trial": [0], "label": [""], "proposal": [{"norm": "l2", "optimizer.lr": 1e-3}], "retired": [False]}
    )
    assert names_of_cells(STUDY, cells) == ["optimizer.lr = 0.001, norm = l2"]
    assert names_of_rows([(0, "", {"a": 1}), (1, "", {"a": 1})], retired=[0]) == ["a = 1", "a = 1"]


@cases(
    ("rows", "names"),
    [
        (
            [(0, "", {"a": 0.12345671}), (1, "", {"a": 0.12345672})],
            ["a = 0.123457 (trial 0)", "a = 0.123457 (trial 1)"],
        ),
        ([(0, "", {"a": 1}), (3, "a = 1", {"b": 2})], ["a = 1 (trial 0)", "a = 1"]),
        ([(0, "twice", {}), (1, "twice", {})], ["twice (trial 0)", "twice (trial 1)"]),
        ([(4, "token overlap", {})], ["token overlap (trial 4)"]),
        ([(4, "", {"a": 1}), (4, "", {"a": 1})], ["a = 1", "a = 1"]),
        ([(2, "", {})], ["trial 2"]),
    ],
    ids=["six digits", "a label", "two labels", "a baseline", "two seeds", "nothing to go by"],
)
def test_no_two_trials_share_a_name(rows, names):
    assert names_of_rows(rows) == names


ROWS = {
    "optimizer.lr = 0.001, norm = l1": {"norm": "l1", "optimizer.lr": 1e-3},
    "optimizer.lr = 0.0078125, norm = l2": {"norm": "l2", "optimizer.lr": 1 / 128},
    "optimizer.lr = 0.333333, norm = l2 (trial 2)": {"norm": "l2", "optimizer.lr": 0.33333331},
    "optimizer.lr = 0.333333, norm = l2 (trial 3)": {"norm": "l2", "optimizer.lr": 0.33333333},
    "SimCSE": {},
}


@cases(
    ("wanted", "name"),
    [
        ("SimCSE", "SimCSE"),
        ("xi = 1e-3, norm = l1", "optimizer.lr = 0.001, norm = l1"),
        ("norm=l2,optimizer.lr=1/128", "optimizer.lr = 0.0078125, norm = l2"),
        ("xi = 0.00781250, norm = l2", "optimizer.lr = 0.0078125, norm = l2"),
        ("xi = 0.33333333, norm = l2", "optimizer.lr = 0.333333, norm = l2 (trial 3)"),
        ("xi = 0.333333, norm = l2", None),  # both look so
        ("xi = 1e-3", None),
        ("xi = 1e-3, norm = l2", None),
        ("xi = 1/0, norm = l1", None),
        ("simcse", None),
    ],
)
def test_a_row_is_found_by_every_spelling_that_means_one(wanted, name):
    assert find_row(STUDY, wanted, ROWS, {name: number for number, name in enumerate(ROWS)}) == name


@cases(
    ("wanted", "name"),
    [
        ("trial 12", "trial 12"),
        ("trial = 12", "trial 12"),
        ("base", "base"),
        ("trial 0", "base"),
        ("trial=0", "base"),
        ("trial 1", None),
    ],
)
def test_a_trial_of_a_search_is_found_by_its_number(wanted, name):
    study = STUDY.model_copy(update={"kind": "search"})
    assert find_row(study, wanted, {"base": {}, "trial 12": {}}, {"base": 0, "trial 12": 12}) == name


WORDS = st.sampled_from(["alpha", "beta", "step", "trial", "objective"])


def study(*axes):
    of_all = {"kind": "int", "low": 0, "high": 1}
    axes = [AxisRecord(name=name, symbol=symbol, paths=(f"a.{name}",), **of_all) for name, symbol in axes]
    return StudyRecord(name="s", objective=ObjectiveRecord(metric="dev"), axes=axes)


def test_symbols_are_the_headings_unless_they_are_shared():
    assert study(("pgd.step_size", "alpha"), ("N", "")).headings == ("alpha", "N")
    expected = ("pgd.step_size", "fgsm.step_size")
    assert study(("pgd.step_size", "alpha"), ("fgsm.step_size", "alpha")).headings == expected


@given(st.lists(st.tuples(WORDS, st.one_of(st.just(""), WORDS)), unique_by=lambda axis: axis[0]))
def test_headings_are_different_and_free(axes):
    headings = study(*axes).headings
    assert len(set(headings)) == len(axes)
    assert not OWN_COLUMNS & set(headings)


def study_that(direction="maximize", *measures):
    objective = ObjectiveRecord(metric="m", direction=direction)
    return StudyRecord(name="s", objective=objective, measures=measures)


@pytest.mark.parametrize(("direction", "less"), [("maximize", False), ("minimize", True)])
def test_the_objective_is_asked_of_the_study_and_what_an_evaluation_says_wins(direction, less):
    assert study_that(direction).is_less_better() == less
    metric = "STS-B/geometry/alignment"
    study = study_that("maximize", Measure(name="a", metric=metric, direction=direction))
    assert study.is_less_better(metric) == less


@cases(
    ("metric", "less"),
    [
        ("attack-mr/pwws/success_rate", True),
        ("AdvSTS-B/bae/success_rate", True),
        ("STS-B/geometry/alignment", True),
        ("STS-B/geometry/uniformity", True),
        ("AdvSTS-B/bae/drift", True),
        ("attack-mr/pwws/original_accuracy - attack-mr/pwws/accuracy_under_attack", True),
        ("STS-B/weakened/layer 0 - STS-B/weakened/layer 2", False),
        ("cosine/positive - cosine/random", False),
        ("attack-mr/pwws/queries", False),
        ("attack-mr/pwws/accuracy_under_attack", False),
        ("attack-mr/pwws/words_changed", False),
        ("STS12/test/all", False),
        ("MR/full/accuracy", False),
        ("STS-B/invariance/mean", False),
    ],
)
def test_what_no_evaluation_names_goes_by_the_rule(metric, less):
    assert study_that().is_less_better(metric) == less


OLD, NEW = {"torch": "2.12", "numpy": "2.4"}, {"torch": "2.13", "numpy": "2.4"}


def cells(*rows):
    return pd.DataFrame(rows, columns=["identity", "status", "provenance"])


def test_cells_made_with_other_packages_than_the_newest_run_are_stale_and_counted():
    frame = cells(
        ("a", "complete", {"packages": OLD}), ("b", "complete", {"packages": NEW}),
        ("c", "failed", {"packages": OLD}), ("d", "planned", {}),
    )  # fmt: skip
    found = describe_stale(frame, [{"packages": OLD}, {"packages": NEW}])
    assert found == "1 stale cell: 1 made with torch 2.12 (now 2.13)."
    frame = cells(*((name, "complete", {"packages": OLD}) for name in "ab"))
    text = describe_stale(frame, [{"packages": NEW | {"numpy": "2.5"}}])
    assert text == "2 stale cells: 2 made with numpy 2.4 (now 2.5); 2 made with torch 2.12 (now 2.13)."
    frame = cells(("a", "complete", {}), ("b", "complete", {"packages": OLD}))
    assert describe_stale(frame, []) == ""
    assert describe_stale(frame, [{"at": "then"}]) == ""


# Device time: seconds of attempts times what they held.


ATTEMPTS = pd.DataFrame(
    {
        "started": ["2026-01-01T10:00:00+00:00", "2026-01-01T10:00:00.500+00:00"],
        "ended": ["2026-01-01T10:00:30+00:00", ""],
        "workers": [2, 1],
        "threads": [3, 1],
    }
)


@cases(("gpus", "seconds"), [(0.0, 180.0), (1.0, 60.0), (0.25, 15.0)])
def test_an_attempt_holds_gpus_or_else_threads_and_counts_when_it_has_ended(gpus, seconds):
    assert device_seconds(ATTEMPTS, lambda at: gpus).tolist() == [seconds, 0.0]
    assert device_seconds(ATTEMPTS[:0], lambda at: gpus).sum() == 0.0


def test_the_run_of_a_time_says_what_a_worker_had_and_else_the_cells_do():
    cells, begun, later = [{}, {"device_type": "cuda"}], *ATTEMPTS["started"]
    assert gpus_per_worker(cells, [])(begun) == 1.0
    assert gpus_per_worker(cells[:1], [{"at": begun, "threads": 2}])(begun) == 0.0
    assert gpus_per_worker(cells, [{"at": begun, "gpus": 0}])(begun) == 0.0
    gpus = gpus_per_worker(cells, [{"at": begun, "gpus": 1}, {"at": later, "gpus": 0.2}])
    assert [gpus(time) for time in ("2025", begun, later, "2027")] == [1, 1, 0.2, 0.2]
    both = ATTEMPTS.assign(ended="2026-01-01T10:00:30.500+00:00")
    assert device_seconds(both, gpus).tolist() == [2 * 30.5, 0.2 * 30.0]


def test_a_clock_that_was_set_back_takes_no_time_away_and_a_time_that_is_none_is_damage():
    assert seconds_between("2026-01-01T10:00:00+00:00", "2026-01-01T09:00:00+00:00") == 0.0
    with pytest.raises(InputError, match=r"damaged: .*goes on from its backup"):
        seconds_between("2026-01-01T10:00:00+00:00", "2026-01-01T31:00:00+00:00")
