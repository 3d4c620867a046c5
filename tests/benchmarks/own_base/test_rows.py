"""Which rows a plan has, and what may stand in one folder."""

import pytest

from benchmarks.own_base.plan import (
    BaseRun,
    OwnBasePlan,
    ScoreRun,
    TextAmount,
    TextSummary,
    require_recipe,
    write_plan,
)
from benchmarks.own_base.rows import BaseRow, ScoreRow, read_rows, write_row
from rse_study.errors import InputError

MACHINE = {"cpu": "one", "torch": "2", "commit": "abc"}
SCORE = ScoreRow(
    encoder="own",
    num_sentences=100,
    seed=0,
    simcse_seed=1,
    dev_before=50.5,
    dev_after=None,
    failure="lost",
    seconds=1.5,
    machine=MACHINE,
)
BASE = BaseRow(
    num_sentences=100,
    seed=0,
    num_pieces=99,
    num_steps=30,
    losses=((25, 5.5), (30, 5.0)),
    masked_accuracy=0.2,
    unigram_accuracy=0.1,
    num_masked_tokens=50,
    seconds=9.5,
    machine=MACHINE,
)


def plan(amounts=(100, 200), seeds=(0, 1), simcse_seeds=(0,), **recipe) -> OwnBasePlan:
    texts = tuple(
        TextAmount(num_sentences=n, num_words=9 * n, num_wikipedia=n // 2, text=f"{n}") for n in amounts
    )
    return OwnBasePlan(
        recipe={"base": {"lr": 1.0, "steps": 3} | recipe},
        text=TextSummary(whole=texts[-1], num_duplicates=1, num_excluded=2),
        token_overlap=40.0,
        amounts=texts,
        seeds=seeds,
        simcse_seeds=simcse_seeds,
    )


def test_all_seeds_are_of_the_largest_amount_alone():
    bases = [run for run in plan().runs() if isinstance(run, BaseRun)]
    assert bases == [BaseRun(100, 0), BaseRun(200, 0), BaseRun(200, 1)]


def test_every_base_is_scored_with_every_seed_of_simcse_and_so_are_the_floors():
    scores = [run for run in plan(simcse_seeds=(4, 5)).runs() if isinstance(run, ScoreRun)]
    own = [run for run in scores if run.encoder == "own"]
    assert [(run.num_sentences, run.seed, run.simcse_seed) for run in own] == [
        *((100, 0, 4), (100, 0, 5), (200, 0, 4), (200, 0, 5)),
        *((200, 1, 4), (200, 1, 5)),
    ]
    untrained = [run for run in scores if run.encoder == "untrained"]
    assert {(run.num_sentences, run.seed) for run in untrained} == {(200, 0), (200, 1)}
    assert len(untrained) == 4


def test_rows_come_back_as_they_were_written(tmp_path):
    write_row(tmp_path, BASE)
    write_row(tmp_path, SCORE)
    rows = read_rows(tmp_path)
    assert rows.bases == {BaseRun(100, 0): BASE}
    assert rows.scores == {ScoreRun("own", 100, 0, 1): SCORE}
    assert rows.has(BASE.run)
    assert rows.num_missing(plan()) == sum(1 for _ in plan().runs()) - 1  # the score is of another seed


def test_a_damaged_row_is_refused_with_its_remedy(tmp_path):
    path = write_row(tmp_path, SCORE)
    path.write_text(path.read_text().replace("50.5", "60.5"))
    with pytest.raises(InputError, match=r"checksum differ.*Remove it: the same command makes it again"):
        read_rows(tmp_path)


def test_another_recipe_may_not_stand_in_the_folder(tmp_path):
    write_plan(tmp_path, plan())
    with pytest.raises(InputError, match=r"holds rows with base.lr = 1.0, not 2.0.*Choose another folder"):
        require_recipe(tmp_path, plan(lr=2.0))


def test_a_plan_grows_by_amounts_and_seeds(tmp_path):
    write_plan(tmp_path, plan())
    joined = require_recipe(tmp_path, plan(amounts=(150,), seeds=(2, 0), simcse_seeds=(1,)))
    assert [one.num_sentences for one in joined.amounts] == [100, 150, 200]
    assert joined.seeds == (0, 1, 2)
    assert joined.simcse_seeds == (0, 1)
    assert require_recipe(tmp_path / "new", plan()) == plan()
