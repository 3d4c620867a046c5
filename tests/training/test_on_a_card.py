"""A cell on a GPU, as far as a machine without one can tell: what is computed, kept and said there."""

import pytest
import torch

from rse_study.results.result_file import read_result
from rse_study.training.processes import train_locally
from tests.gloo import forks
from tests.simulated_card import NAME, simulated_card
from tests.training.world import small_trial

pytestmark = pytest.mark.xdist_group("two_workers")
SELECTION = {"dev": "builtin", "every": 2, "keep": "last"}
EXACT = small_trial(precision="float64", selection=SELECTION, budget={"unit": "steps", "amount": 2})


@pytest.fixture(scope="module")
def materials(world):
    return world.materials(dropout=0.0)


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_train_on_the_card_to_the_numbers_of_the_cpu(workers, materials, tmp_path, monkeypatch):
    """Several share one where there are no more, as a model that was not kept is trained again by one task."""
    with forks():
        train_locally(EXACT, 3, materials, tmp_path / "cpu", workers=workers)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    with forks(), simulated_card(monkeypatch):
        train_locally(EXACT, 3, materials, tmp_path / "card", workers=workers, device="cuda")
    here, there = (read_result(tmp_path / name) for name in ("cpu", "card"))
    assert (there.provenance["device"], there.provenance["workers"]) == (NAME, workers)
    assert there.final == pytest.approx(here.final, rel=1e-9)
