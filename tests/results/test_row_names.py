"""What rows and trials are called, and which of them somebody means."""

import pandas as pd

from rse_study.results.row_names import find_row, names_of_cells, names_of_rows, row_name
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
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
