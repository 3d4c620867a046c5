"""A cell leaves the cosine of every dev pair, at its last step and at the checkpoint it keeps."""

import pytest

from rse_study.results.files.result_file import read_items, read_result
from tests.evaluation.contract import value_of
from tests.training.world import Complete, World


def test_dev_pairs_are_kept_at_the_last_step_and_at_the_kept_checkpoint(complete: Complete, world: World):
    result, dev = read_result(complete.folder), world.materials().dev
    found = {metric: items for (_, metric, _), items in read_items(complete.folder).items()}
    expected = {
        "builtin/dev/all": result.history[-1].metrics["dev"],
        "builtin/dev/all/kept": result.final["dev/kept"],
    }
    assert {metric: value_of(items) for metric, items in found.items()} == pytest.approx(expected, abs=1e-3)
    assert {key[::2] for key in read_items(complete.folder)} == {(result.identity, dev.fingerprint)}
