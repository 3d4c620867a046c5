"""Fine-tuning on a GPU, and in its precisions, which the CPU has too."""

import pytest
import torch

from rse_study.training.classifier.config import FineTuning
from rse_study.training.classifier.loop import fine_tune
from tests.cases import cases
from tests.simulated_card import simulated_card
from tests.training.classifier.sorted_words import LEARNS, singles, small_base


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    return small_base(tmp_path_factory.mktemp("base"))


def test_a_step_reads_no_loss_and_an_epoch_ends_with_the_numbers_of_the_cpu(start, tmp_path, monkeypatch):
    here = fine_tune(LEARNS, 0, start, singles(), tmp_path / "cpu")
    with simulated_card(monkeypatch) as card:
        there = fine_tune(LEARNS, 0, start, singles(), tmp_path / "card", device="cuda")
    for one, other in zip(here.history, there.history, strict=True):
        assert other == pytest.approx(one, rel=1e-6)
    num_steps, num_epochs = here.history[-1]["t"], len(here.history)
    assert card.waits["aten._local_scalar_dense.default"] < 6 * num_epochs < num_steps


@cases("precision", ["tf32", "bf16", "fp16"])
def test_every_precision_learns_and_keeps_its_weights_in_float32(precision, start, tmp_path):
    spec = LEARNS.model_copy(update={"precision": precision})
    tuned = fine_tune(spec, 0, start, singles(), tmp_path)
    assert tuned.dev > 0.95
    assert {value.dtype for value in tuned.classifier.network.parameters()} == {torch.float32}
    assert spec.fingerprint() != LEARNS.fingerprint()
    assert "precision" not in FineTuning().identity()
