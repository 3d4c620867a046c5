import dataclasses

from analysis.sections.progress import progress
from tests.analysis.outline import Outline


def test_it_says_what_the_ledger_does_not_hold(grid_dir, contents):
    found = Outline(progress(contents(grid_dir)))
    assert found.figures == ["burndown", "timeline"]
    assert "does not say on which machine" in found.text
    assert "says nothing of hours per cell" in found.text


def test_before_the_first_attempt_there_is_nothing(grid_dir, contents):
    found = contents(grid_dir)
    assert progress(dataclasses.replace(found, attempts=found.attempts[:0])) == ""
