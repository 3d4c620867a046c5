"""A cell in chunks of sentences: the numbers of whole batches, where no dropout is drawn."""

from pathlib import Path

import pytest
import torch

from rse_study.collectives import Collectives
from rse_study.models.rtd import Generator
from rse_study.training.loop import train
from rse_study.training.session_setup import open_session
from tests.training.world import World, small_trial


@pytest.mark.slow
def test_a_cell_in_chunks_has_the_history_of_whole_batches(world: World, tmp_path: Path) -> None:
    materials = world.materials(dropout=0.0)
    whole, chunked = (
        list(train(small_trial(precision="float64", chunk_size=size), 3, materials, tmp_path / str(size)))
        for size in (0, 3)
    )
    for one, other in zip(whole, chunked, strict=True):
        assert other.metrics == pytest.approx(one.metrics, abs=1e-9), one.t


def test_encoder_discriminator_and_generator_take_the_size(world: World, tmp_path: Path) -> None:
    trial = small_trial(chunk_size=3)
    session = open_session(trial, 3, world.materials(), tmp_path, Collectives(), torch.device("cpu"))
    assert session.networks.discriminator is not None
    assert isinstance(session.run.generator, Generator)
    encoders = session.networks.encoder, session.networks.discriminator.encoder
    assert [one.chunk_size for one in (*encoders, session.run.generator)] == [3, 3, 3]
