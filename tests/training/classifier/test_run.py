import math
import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch

from rse_study.data.attack_sets import bare
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.models.text_classifier import padded
from rse_study.streams import Streams
from rse_study.training.checkpoint import TrainState, latest
from rse_study.training.classifier import FineTuning
from rse_study.training.classifier.data import LengthBatches, split_off
from rse_study.training.classifier.run import fine_tune, open_run

from .sorted_words import LEARNS, graded_pairs, ordered_pairs, singles, small_base

CPU = torch.device("cpu")


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    return small_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="session")
def whole(start, tmp_path_factory):
    """A run from beginning to end, nothing in its way."""
    return fine_tune(LEARNS, 0, start, singles(), tmp_path_factory.mktemp("whole"))


def _weights(tuned):
    return {name: value.clone() for name, value in tuned.classifier.network.state_dict().items()}


def _same(one, other):
    return all(torch.equal(value, _weights(other)[name]) for name, value in _weights(one).items())


def test_it_learns_what_can_be_learned(whole):
    unseen = singles(60, seed=9)
    probabilities = whole.classifier.predict(unseen.texts)
    assert (probabilities.argmax(1) == unseen.labels).mean() > 0.95
    assert whole.dev > 0.95
    epoch = math.ceil(whole.num_training / 8)
    assert [point["t"] for point in whole.history] == [epoch, 2 * epoch, 3 * epoch, 4 * epoch]
    assert whole.history[-1]["loss"] < whole.history[0]["loss"] / 2
    assert whole.num_training + whole.num_dev == 80


def test_only_the_order_tells_the_pairs_apart(start, tmp_path):
    # 16 dimensions, a mean over tokens: without token types and positions the two classes would be one.
    spec = LEARNS.model_copy(update={"epochs": 8, "batch_size": 16, "lr": 1e-2})
    tuned = fine_tune(spec, 0, start, ordered_pairs(160), tmp_path)
    unseen = ordered_pairs(60, seed=9)
    assert (tuned.classifier.predict(unseen.texts).argmax(1) == unseen.labels).mean() > 0.9
    swapped = [(second, first) for first, second in unseen.texts]
    assert (tuned.classifier.predict(swapped).argmax(1) == 1 - unseen.labels).mean() > 0.9


def test_a_regression_learns_gold_values(start, tmp_path):
    spec = LEARNS.model_copy(update={"epochs": 5, "batch_size": 16, "lr": 1e-2, "keep": "best"})
    tuned = fine_tune(spec, 0, start, graded_pairs(160), tmp_path)
    unseen = graded_pairs(60, seed=9)
    found = tuned.classifier.scores(list(zip(unseen.first, unseen.second, strict=True)))
    assert np.corrcoef(found, unseen.gold)[0, 1] > 0.8
    assert tuned.classifier.classes == ()
    assert tuned.dev == max(point["dev"] for point in tuned.history)


def test_interrupted_at_any_step_it_ends_in_the_same_bits(start, whole, tmp_path):
    seen, num_interrupted = [], 0

    def ctrl_c(done, total):
        seen.append(done)
        if done in (3, 9, 17, 25):  # amid an epoch, at the end of one (9 batches), once more
            os.kill(os.getpid(), signal.SIGINT)

    tuned, how = None, {"on_progress": ctrl_c, "checkpoint_seconds": 1e9}
    for _ in range(5):
        try:
            tuned = fine_tune(LEARNS, 0, start, singles(), tmp_path, **how)
        except KeyboardInterrupt:
            num_interrupted += 1
            torch.manual_seed(1)  # whatever the next process starts with
    assert tuned is not None
    assert num_interrupted == 4
    assert _same(tuned, whole)
    assert tuned.history == whole.history
    assert seen == list(range(1, seen[-1] + 1))  # no step was lost, none was done twice


def test_killed_between_checkpoints_it_ends_in_the_same_bits(start, whole, tmp_path):
    class Killed(Exception):
        pass

    def kill(done, total):
        if done == 14:
            raise Killed

    with pytest.raises(Killed):
        fine_tune(LEARNS, 0, start, singles(), tmp_path, on_progress=kill, checkpoint_seconds=0.0)
    assert latest(tmp_path).name == "step-000000013"
    again = fine_tune(LEARNS, 0, start, singles(), tmp_path)
    assert _same(again, whole)
    assert again.history == whole.history


def test_a_folder_is_one_runs_that_takes_no_further_step_once_finished(start, tmp_path):
    spec = LEARNS.model_copy(update={"epochs": 1, "keep": "best"})
    first = fine_tune(spec, 0, start, singles(), tmp_path)

    def never(done, total):
        raise AssertionError(done)

    again = fine_tune(spec, 0, start, singles(), tmp_path, on_progress=never)
    assert _same(first, again)
    assert (again.dev, again.history) == (first.dev, first.history)
    with pytest.raises(InputError, match="another configuration's"):
        fine_tune(spec, 1, start, singles(), tmp_path)


def test_kept_weights_are_of_the_epoch_before_it_got_worse(start):
    """Dev labels are the opposite of the training's: the first epochs are the best, and learning is going wrong."""
    spec = FineTuning(lr=5e-3, epochs=3, batch_size=8, max_length=16)
    training, dev = split_off(singles(), FineTuning(dev_share=0.3))
    wrong = replace(dev, targets=1 - dev.targets)
    run, state = open_run(spec, 0, start, (training, wrong), CPU), TrainState("")
    while not run.is_over(state):
        run.advance(state)
    tuned = run.result(state)
    devs = [point["dev"] for point in tuned.history]
    assert devs[0] >= devs[-1]
    right = (tuned.classifier.predict(wrong.texts).argmax(1) == wrong.targets).mean()
    assert right == tuned.dev == max(devs)


def test_what_does_not_fit_and_a_lost_loss_are_refused(start, tmp_path):
    spec = LEARNS.model_copy(update={"lr": 1e30, "max_norm": 1e30, "warmup": 0.0})
    with pytest.raises(NonFiniteLoss, match=r"step \d+: the loss is not finite"):
        fine_tune(spec, 0, start, singles(), tmp_path / "lost")
    with pytest.raises(InputError, match=r"max_length = 40: this encoder reads at most 32 tokens. Set max_"):
        fine_tune(LEARNS.model_copy(update={"max_length": 40}), 0, start, singles(), tmp_path)
    with pytest.raises(InputError, match=r"groups train: 1 texts to train on and 0 .*dev_share"):
        fine_tune(LEARNS, 0, start, singles(1), tmp_path)
    bare_pairs = small_base(tmp_path / "no_pairs", pairs=False)
    with pytest.raises(InputError, match=r"its tokenizer frames no pairs.*template for pairs"):
        fine_tune(LEARNS, 0, bare_pairs, ordered_pairs(), tmp_path / "steps")


def test_the_dev_share_knows_no_seed_and_no_order_and_keeps_twins_together():
    data = singles(200)
    training, dev = split_off(data, FineTuning(dev_share=0.2))
    assert 20 <= len(dev) <= 65
    assert not {bare(text) for text in training.texts} & {bare(text) for text in dev.texts}
    back = data.take(np.arange(200)[::-1])
    assert split_off(back, FineTuning(dev_share=0.2))[1].texts == dev.texts[::-1]


def test_of_augmented_data_a_dev_text_has_no_copy_in_training():
    data = singles(200)
    twice = data.take(np.tile(np.arange(200), 2))
    copies = [(f"{text} once more",) for (text,) in data.texts]
    training, dev = split_off(
        replace(twice, texts=data.texts + copies), FineTuning(dev_share=0.2, augmented=0.15)
    )
    plain, held = split_off(data, FineTuning(dev_share=0.2))
    assert dev.texts == held.texts
    assert training.texts == plain.texts + [(f"{text} once more",) for (text,) in plain.texts]
    assert training.targets.tolist() == [*plain.targets, *plain.targets]


def test_every_text_comes_once_an_epoch_among_its_like():
    lengths = np.random.default_rng(0).integers(3, 60, 1003).tolist()
    batches = LengthBatches(lengths, 16, Streams(0))
    for epoch in (0, 1):
        steps = range(epoch * batches.num_batches, (epoch + 1) * batches.num_batches)
        rows = [batches.rows(step) for step in steps]
        assert sorted(row for batch in rows for row in batch) == list(range(1003))
        assert sorted(len(batch) for batch in rows)[0] == 1003 % 16
        padding = sum(max(lengths[i] for i in b) * len(b) for b in rows) - sum(lengths)
        assert padding < 0.12 * sum(lengths)
    assert batches.rows(0) != batches.rows(batches.num_batches)
    assert LengthBatches(lengths, 16, Streams(1)).rows(0) != batches.rows(0)
    means = [np.mean([lengths[i] for i in batches.rows(step)]) for step in range(batches.num_batches)]
    assert abs(np.corrcoef(means, range(len(means)))[0, 1]) < 0.5  # not short ones first


def test_an_adversarial_step_descends_the_mean_loss_at_the_text_and_up_its_gradient(start):
    spec = LEARNS.model_copy(update={"adversarial": 0.5})
    plain, run = (
        open_run(one, 0, start, split_off(singles(), FineTuning(dev_share=0.2)), CPU)
        for one in (LEARNS, spec)
    )
    state = TrainState("")
    rows = plain.batches.rows(0)
    inputs = padded([plain.tokens[row] for row in rows], plain.classifier.tokenizer.pad_token_id)

    def loss_at(embeddings):
        with plain.streams.dropout(0, "fine_tuning", 0, CPU):
            return plain.training.loss(plain.network(inputs, embeddings), rows)

    embeddings = plain.network.encoder.word_embeddings(inputs.ids)
    first = loss_at(embeddings)
    (gradient,) = torch.autograd.grad(first, embeddings)
    steps = torch.stack([0.5 * one / one.square().sum().sqrt() for one in gradient])
    second = loss_at((embeddings + steps).detach())
    assert second > first
    assert float(run.advance(state)) == pytest.approx(float((first + second).detach()) / 2, rel=1e-5)
    assert spec.identity() != LEARNS.identity()
