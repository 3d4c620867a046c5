"""Two ledgers are compared row by row: what counts as a difference, and what does not."""

import math

import pytest

from tests.nodes.ledgers import changed, differences
from tests.nodes.submission import steps_redone

ROW = ("metrics", ("cell", 5, "dev"))
CELL = ("cells", ("cell",))


@pytest.fixture
def rows() -> dict:
    return {ROW: {"value": 0.5, "t": 5}, CELL: {"status": "complete", "config": {"lr": 1e-3}}}


def test_equal_rows_do_not_differ_and_neither_do_nans(rows):
    assert differences(rows, {key: dict(row) for key, row in rows.items()}) == []
    assert differences({ROW: {"value": math.nan}}, {ROW: {"value": math.nan}}) == []
    assert differences({ROW: {"value": math.nan}}, {ROW: {"value": 1.0}}, tolerance=1.0) != []


def test_a_value_may_be_off_by_the_tolerance_and_no_more(rows):
    other = rows | {ROW: {"value": 0.5 + 5e-6, "t": 5}}
    assert differences(rows, other, tolerance=1e-5) == []
    assert len(differences(rows, other)) == 1
    assert len(differences(rows, rows | {ROW: {"value": 0.50002, "t": 5}}, tolerance=1e-5)) == 1
    assert len(differences(rows, rows | {ROW: {"value": 0.5, "t": 6}}, tolerance=10.0)) == 1  # no measurement


def test_a_row_that_one_of_them_lacks_differs_and_what_was_added_is_no_change(rows):
    only = {CELL: rows[CELL]}
    assert len(differences(rows, only)) == len(differences(only, rows)) == 1
    assert changed(only, rows) == []
    assert len(changed(rows, only)) == 1
    assert len(changed(rows, rows | {CELL: {"status": "failed", "config": {"lr": 1e-3}}})) == 1


@pytest.mark.parametrize(
    ("steps", "redone"),
    [([], 0), ([0, 10, 20], 0), ([0, 10, 20, 30, 0, 10, 20, 30, 40], 30), ([0, 10, 20, 10, 20, 30, 0], 40)],
)
def test_steps_that_were_done_again_are_counted_from_where_a_cell_went_on(steps, redone):
    assert steps_redone([steps]) == redone
