"""A cell on a GPU, as far as a machine without one can tell: what is computed, kept and said there."""

import pytest

from rse_study.errors import InputError
from rse_study.results.files.result_file import read_result
from rse_study.training.loop import train_in_process
from tests.simulated_card import NAME, simulated_card
from tests.training.world import light_trial, small_trial

SELECTION = {"dev": "builtin", "every": 2, "keep": "last"}
LIGHT = light_trial(batch_size=60, selection=SELECTION, budget={"unit": "steps", "amount": 1})
EXACT = small_trial(precision="float64", selection=SELECTION, budget={"unit": "steps", "amount": 2})


@pytest.fixture(scope="module")
def materials(world):
    return world.materials(dropout=0.0)


def test_a_cell_trains_on_the_card_to_the_numbers_of_the_cpu(materials, tmp_path, monkeypatch):
    train_in_process(EXACT, 3, materials, tmp_path / "cpu")
    with simulated_card(monkeypatch):
        train_in_process(EXACT, 3, materials, tmp_path / "card", device="cuda")
    here, there = (read_result(tmp_path / name) for name in ("cpu", "card"))
    assert there.provenance["device"] == NAME
    assert there.final == pytest.approx(here.final, rel=1e-9)


def test_a_full_card_is_said_once_with_chunks_as_the_remedy_which_helps(materials, tmp_path, monkeypatch):
    wide, chunked = (LIGHT.model_copy(update={"chunk_size": size}) for size in (0, 8))
    largest = {}
    for trial in (wide, chunked):
        with simulated_card(monkeypatch) as card:
            train_in_process(trial, 3, materials, tmp_path / f"{trial.chunk_size}", device="cuda")
        largest[trial.chunk_size] = card.widest
    room = (largest[0] + largest[8]) / 2
    assert largest[8] < room
    with simulated_card(monkeypatch, room), pytest.raises(InputError) as refused:
        train_in_process(wide, 3, materials, tmp_path / "full", device="cuda")
    assert refused.value.what.startswith("the GPU's memory is full (CUDA out of memory. Tried to allocate")
    assert "chunk_size: 16" in refused.value.remedy
    with simulated_card(monkeypatch, room):
        train_in_process(chunked, 3, materials, tmp_path / "in chunks", device="cuda")
    assert read_result(tmp_path / "in chunks").status == "complete"
