import dataclasses

from analysis.sections.how_it_ran import how_it_ran
from tests.analysis.outline import Outline


def test_it_says_what_the_ledger_does_not_hold(grid_dir, contents):
    found = Outline(how_it_ran(contents(grid_dir)))
    assert found.figures == ["burndown", "timeline"]
    assert "does not say on which machine" in found.text
    assert "says nothing of hours per cell" in found.text


def test_before_the_first_attempt_there_is_nothing(grid_dir, contents):
    found = contents(grid_dir)
    assert how_it_ran(dataclasses.replace(found, attempts=found.attempts[:0])) == ""
