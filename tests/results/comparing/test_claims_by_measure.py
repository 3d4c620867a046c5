"""Claims about something else than the objective: judged on its scores, by which way it is better."""

import numpy as np
import pandas as pd
import pytest

from rse_study.results.comparing.claims import Claim, judge
from rse_study.results.comparing.comparisons import Scores
from tests.cases import cases
from tests.results.samples import around, half_width

BASE = np.array([70.0, 73.5, 68.25, 71.0, 74.75])
N = len(BASE)


def claim_of(measure, kind="better", rows=("a", "b"), margin=0.0):
    return Claim(
        f"t-{measure}-{rows[0]}", "t", kind, tuple(rows), margin, "so it is", "p.txt:1", measure=measure
    )


def scores_of(rows, *, less=False, **changes):
    table = pd.DataFrame.from_dict(rows, orient="index", columns=range(N))
    return Scores(table, less_is_better=less, **changes)


def apart(mean, **changes):
    """a is above b by `mean`, with an SD of 1."""
    return scores_of({"a": BASE + around(mean, N), "b": BASE}, **changes)


FAR = apart(50.0)


def verdicts(claims, measured, objective=FAR):
    return [judged.verdict for judged in judge(claims, objective, measured=measured)]


def test_a_claim_is_judged_on_its_own_measure_and_all_measures_share_one_error():
    claims = [claim_of(""), claim_of("m"), claim_of("other")]
    expected = ["reproduced", "contradicted", "undecided"]
    assert verdicts(claims, {"m": apart(-50.0), "other": apart(0.0)}) == expected
    alone, together = half_width(N), half_width(N, 2)
    near = apart((alone + together) / 2)
    assert verdicts([claim_of("m")], {"m": near}) == ["reproduced"]
    expected = ["undecided", "reproduced"]
    assert verdicts([claim_of("m"), claim_of("other")], {"m": near, "other": FAR}) == expected
    assert verdicts([claim_of(""), claim_of("m")], {"m": FAR}, objective=near) == ["undecided", "reproduced"]


@cases("half", [1.01, 0.99, -0.99, -1.01])
def test_less_may_be_better(half):
    """a has less than b by so many half widths: better where less is, worse where more is."""
    away = -half * half_width(N)
    said = "reproduced" if half > 1 else "contradicted" if half < -1 else "undecided"
    contrary = {"reproduced": "contradicted", "contradicted": "reproduced"}.get(said, said)
    assert verdicts([claim_of("m")], {"m": apart(away, less=True)}) == [said]
    assert verdicts([claim_of("m")], {"m": apart(away)}) == [contrary]


@pytest.mark.parametrize("kind", ["ordering", "best"])
def test_the_least_is_the_best(kind):
    rows = {name: BASE + step + around(0.0, N) / 100 for name, step in zip("abc", (0, 20, 50), strict=True)}
    rows["b"] = BASE + 20
    named = tuple("abc") if kind == "ordering" else ("a",)
    claims = [claim_of("m", kind, named), claim_of("m", kind, named[::-1] if kind == "ordering" else ("c",))]
    assert verdicts(claims, {"m": scores_of(rows, less=True)}) == ["reproduced", "contradicted"]


def test_what_was_not_measured_is_not_asked_and_scores_still_to_come_are_awaited():
    near = apart(1.01 * half_width(N))
    claims = [claim_of("nowhere"), claim_of("m")]
    assert verdicts(claims, {"m": near}) == ["not asked", "reproduced"]
    # The objective's own cells may still be to run: that is no matter of a measure nobody asks for.
    assert verdicts(claims[:1], {}, objective=apart(0.0, open_rows=("a",), num_unplanned=3)) == ["not asked"]
    expected = ["incomplete", "reproduced"]
    assert verdicts([claim_of("m"), claim_of("")], {"m": apart(50.0, open_rows=("b",))}) == expected
    assert verdicts([claim_of("m")], {"m": apart(50.0, num_unplanned=1)}) == ["incomplete"]
