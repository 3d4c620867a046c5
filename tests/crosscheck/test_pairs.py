"""Two attacks' outcomes side by side, made up."""

import json

import pytest

from rse_study.evaluation.attacks.outcome import AttackOutcome
from tests.crosscheck.pairs import is_accounted_for, paired, report, table


def outcome(index, verdict="failed", adversarial="was secret", num_queries=9, changed=()) -> AttackOutcome:
    scores = (0.4, 0.6)
    texts = ("was secret",), (adversarial,)
    return AttackOutcome(index, *texts, verdict, 1, scores, scores, num_queries, 2, changed)


HIDDEN = ("was hidden", 5, (1,))
OURS = [outcome(0), outcome(1, "succeeded", *HIDDEN), outcome(2, "skipped", num_queries=1)]
OURS += [outcome(3), outcome(4, "succeeded", *HIDDEN)]
THEIRS = [OURS[0], outcome(1, "succeeded", "is secret", 5, (0,)), OURS[2]]
THEIRS += [outcome(3, num_queries=11), outcome(4, "failed", *HIDDEN)]


def test_inputs_are_paired_by_index_and_one_that_a_side_lacks_is_no_pair():
    pairs = paired(OURS[::-1], THEIRS, [4, 0, 1])
    assert [(pair.ours.index, pair.theirs.index) for pair in pairs] == [(4, 4), (0, 0), (1, 1)]
    assert [pair.differing for pair in pairs] == [("outcome",), (), ("adversarial",)]
    with pytest.raises(KeyError):
        paired(OURS, THEIRS[:3], range(5))


def test_a_report_counts_and_names_no_text():
    found = report(paired(OURS, THEIRS, range(5)), {1: "tie", 3: "order", 4: "tie"})
    assert found["num_equal"] == {"outcome": 4, "adversarial": 4, "num_queries": 4, "all": 2}
    assert found["num_of_each_reason"] == {"tie": 2, "order": 1}
    assert [each["index"] for each in found["differences"]] == [1, 3, 4]
    assert found["differences"][1]["textattack"] == {"outcome": "failed", "num_queries": 11, "changed": []}
    assert (found["ours"]["num_succeeded"], found["textattack"]["num_succeeded"]) == (2, 1)
    assert (found["ours"]["num_queries"], found["textattack"]["num_queries"]) == (29, 31)
    said = json.dumps(found, allow_nan=False) + table(found)
    assert not any(word in said for word in ("secret", "hidden"))
    assert "input 3: failed after 9 / failed after 11; num_queries differ: two words weigh the same" in said
    found = report(paired(OURS, OURS, range(5)), {})
    assert is_accounted_for(found)
    assert found["num_equal"]["all"] == 5


def test_every_difference_needs_a_named_choice():
    for reasons, expected in (
        ({1: "tie", 3: "order", 4: "words"}, True),
        ({1: "tie", 3: "candidates", 4: "words"}, False),
        ({1: "tie", 3: "order", 4: "unexplained"}, False),
    ):
        assert is_accounted_for(report(paired(OURS, THEIRS, range(5)), reasons)) is expected, reasons
