"""What a cell computes."""

import pytest

from rse_study.errors import InputError
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.workload import scoring_work, shape_of, workload_of
from rse_study.training.trial import Trial

SCORES = 2 * 2 * 400 / 32  # 800 sentences once forward (2 P*T) in batches of 32


@pytest.fixture
def base(content):
    return content["base"]


def trial_of(base, **changes) -> Trial:
    return Trial.model_validate({**base, **changes})


@pytest.mark.parametrize(("amount", "every"), [(60, 15), (7, 3), (6, 3), (1, 250), (250, 250)])
def test_steps_passes_and_work(base, tmp_path, amount, every):
    budget = {"unit": "steps", "amount": amount}
    trial = trial_of(base, budget=budget, selection={"dev": "builtin", "every": every})
    looks = [t for t in range(1, amount + 1) if t == amount or t % every == 0]
    effort = workload_of(trial, DataSizes(tmp_path))
    assert effort.num_steps == amount
    assert effort.gradient_passes == amount * 6  # N = 5, and one to train on
    assert effort.work == pytest.approx(amount * 48 + len(looks) * SCORES)


def test_chunks_add_what_they_compute_twice(base, tmp_path):
    def work(chunk_size):
        trial = trial_of(base, budget={"unit": "steps", "amount": 10}, chunk_size=chunk_size)
        return workload_of(trial, DataSizes(tmp_path)).work

    assert work(8) - work(0) == 10 * 2 * (5 + 3 + 1)  # N = 5, three views and D, once more forward
    assert work(96) == work(0)


def test_replayed_attacks_are_embedded_at_every_look(base, tmp_path):
    def work(**replayed):
        return workload_of(trial_of(base, replayed=replayed), DataSizes(tmp_path)).work

    looks, without = 4, work()  # the first is that of the base, which all cells share
    pairs = {"recipe": "pwws", "num_pairs": 50}
    assert work(**pairs) == pytest.approx(without + looks * 2 * 4 * 50 / 32)
    texts = {"labelled": "builtin", "num_texts": 30, "num_training": 100}
    assert work(**pairs, **texts) == pytest.approx(work(**pairs) + looks * 2 * (100 + 2 * 30) / 32)
    assert work(num_pairs=50, num_texts=30) == without


def test_epochs_drop_the_incomplete_batch_of_the_distinct_sentences_of_their_corpus(base, tmp_path):
    epochs = {"unit": "epochs", "amount": 3}
    sizes = DataSizes(tmp_path)
    assert workload_of(trial_of(base, budget=epochs), sizes).num_steps == 3 * 250
    limited = trial_of(base, budget=epochs, corpus={"source": "builtin", "limit": 100})
    assert workload_of(limited, sizes).num_steps == 3 * 3
    trial = trial_of(base, budget={"unit": "epochs", "amount": 2}, corpus={"source": "c.txt"})
    with pytest.raises(InputError, match=r"c\.txt"):
        workload_of(trial, DataSizes(tmp_path))
    (tmp_path / "c.txt").write_text("\n".join(f"sentence {i % 70}" for i in range(200)))
    trial = trial_of(base, budget={"unit": "epochs", "amount": 2}, corpus={"source": "c.txt"})
    assert workload_of(trial, DataSizes(tmp_path)).num_steps == 2 * 2


def test_pairs_that_are_not_here_are_said_and_a_score_costs_less_in_larger_batches(base, tmp_path):
    sizes = DataSizes(tmp_path)
    effort = workload_of(trial_of(base, selection={"dev": "STS-B"}), sizes)
    assert effort.work == 60 * 48
    assert sizes.missing == ("STS-B/dev",)
    small, large = trial_of(base), trial_of(base, batch_size=64)
    assert scoring_work(shape_of(small), 800) == SCORES == 2 * scoring_work(shape_of(large), 800)
