"""The rule by which a base of our own is accepted, on both sides."""

import math

import pytest

from benchmarks.own_base.decision import SeedScores, decide, seed_scores
from benchmarks.own_base.frames import score_frame
from benchmarks.own_base.report import table_rows
from benchmarks.own_base.rows import OwnBaseRows

from .test_rows import SCORE, plan


def scores(
    *owns: float, overlap: float = 58.0, untrained: float = 59.0, control: float = 57.0
) -> list[SeedScores]:
    rivals = {"token overlap": overlap, "untrained": untrained, "control": control}
    return [SeedScores(seed, own, rivals) for seed, own in enumerate(owns)]


def test_three_seeds_above_every_rival_are_accepted():
    decision = decide(scores(59.5, 61.0, 60.0), num_missing=0)
    assert decision.state == "accepted"
    assert "3 masked-LM seeds, each above every rival by 0.50 or more" in str(decision)


@pytest.mark.parametrize(
    ("rivals", "name"),
    [
        ({"overlap": 60.5}, "token overlap (60.50)"),
        ({"untrained": 60.0}, "untrained (60.00)"),
        ({"control": 60.5}, "control (60.50)"),
    ],
)
def test_one_seed_that_is_not_above_one_rival_decides(rivals, name):
    decision = decide(scores(61.0, 60.0, 62.0, **rivals), num_missing=0)
    assert decision.state == "not accepted"
    assert decision.reasons == (f"seed 1 has 60.00, not above {name}",)


def test_a_mean_over_seeds_does_not_help_one_of_them():
    assert decide(scores(80.0, 80.0, 58.9), num_missing=0).state == "not accepted"


def test_a_lost_loss_is_not_above_anything():
    assert decide(scores(math.nan, 61.0, 61.0), num_missing=0).state == "not accepted"


def test_too_few_seeds_leave_it_open():
    assert str(decide(scores(61.0, 61.0), num_missing=0)) == "undecided: 2 masked-LM seeds of 3"


def test_missing_rows_leave_it_open_unless_a_seed_has_failed():
    assert decide(scores(61.0, 61.0, 61.0), num_missing=4).state == "undecided"
    assert decide(scores(50.0), num_missing=4).state == "not accepted"


def test_a_seed_is_compared_with_the_encoder_that_it_began_as():
    made = plan(seeds=(0, 1), simcse_seeds=(4, 5))
    values = {("own", 0): 60.0, ("own", 1): 70.0, ("untrained", 0): 50.0, ("untrained", 1): 55.0}
    rows = [
        SCORE.model_copy(
            update={"encoder": kind, "num_sentences": 200, "seed": seed, "simcse_seed": simcse_seed}
            | {"dev_before": value, "dev_after": value + simcse_seed}
        )
        for (kind, seed), value in values.items()
        for simcse_seed in (4, 5)
    ]
    first, second = seed_scores(made, OwnBaseRows({}, {row.run: row for row in rows}))
    assert (first.own, second.own) == (64.5, 74.5)
    assert first.rivals == {
        "token overlap": 40.0,
        "the untrained encoder": 50.0,
        "the untrained encoder after SimCSE": 54.5,
    }
    assert second.rivals["the untrained encoder"] == 55.0
    lacking = {row.run: row for row in rows[1:]}
    assert [one.seed for one in seed_scores(made, OwnBaseRows({}, lacking))] == [1]


def test_the_table_says_how_many_losses_were_lost_and_shows_the_mean_of_the_others():
    kept = SCORE.model_copy(update={"simcse_seed": 4, "dev_after": 61.25, "failure": ""})
    made = plan(simcse_seeds=(1, 4))
    (overlap, own) = table_rows(score_frame(made, OwnBaseRows({}, {row.run: row for row in (SCORE, kept)})))
    assert overlap[:3] == ["token overlap", "", ""]
    assert overlap[-3:] == ["40.00", "", ""]
    assert own == ["our own", "100", "0", "", "", "", "", "50.50", "61.25 (1 lost)", "+10.75"]
