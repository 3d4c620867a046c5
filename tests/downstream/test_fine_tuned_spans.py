"""SQuAD: spans of contexts, fine-tuned on files in the published layout."""

import os
import pickle
import signal
from dataclasses import replace

import pytest

from tests.downstream.fine_tuning import read_task, scored_of, settings_of, steps_of
from tests.downstream.toy_tasks import write_squad
from tests.training.classifier.sorted_words import LEARNS

pytestmark = pytest.mark.usefixtures("no_hub")


SPANS = LEARNS.model_copy(update={"lr": 1e-2, "epochs": 8, "max_length": 12})


def test_squad_is_learnt_from_windows_and_scored_on_dev(tmp_path, weights):
    """Contexts have up to ten words, windows hold eight tokens of them or fewer."""
    write_squad(tmp_path, "train", 160, seed=0, most=9)
    write_squad(tmp_path, "dev", 40, seed=1, most=9)
    asked = read_task("SQuAD", tmp_path, settings_of(SPANS))
    found = scored_of(asked, weights)
    assert list(found) == list(asked.labels) == ["f1", "exact_match"]
    for row in found.values():
        assert (row.evaluation, row.split, row.num_examples) == ("SQuAD/fine_tuned", "dev", 40)
        assert row.value > 90
        assert not row.degenerate
    assert [measure.metric for measure in asked.measures] == [row.metric for row in found.values()]
    made, steps = steps_of(pickle.loads(pickle.dumps(asked)), weights)
    assert (steps, made.is_weak) == ([], False)  # it is kept, and read back as what it is
    few = read_task("SQuAD", tmp_path, settings_of(SPANS, num_training=60))
    assert len(few.training) == 60
    assert few.fingerprint != asked.fingerprint


def test_a_span_head_resumes_to_the_same_bits_in_bf16(tmp_path, weights):
    write_squad(tmp_path, "train", 24, seed=0)
    write_squad(tmp_path, "dev", 8, seed=1)
    spec = SPANS.model_copy(update={"epochs": 2, "precision": "bf16"})
    asked = read_task("SQuAD", tmp_path, settings_of(spec))

    def stop(done, total):
        if done == 4:
            os.kill(os.getpid(), signal.SIGINT)

    halves, whole = (replace(weights, made=tmp_path / name) for name in ("halves", "whole"))
    with pytest.raises(KeyboardInterrupt):
        asked.classifier(halves, stop)
    resumed, steps = steps_of(asked, halves)
    assert steps[0] == 5
    assert resumed.weights == steps_of(asked, whole)[0].weights
