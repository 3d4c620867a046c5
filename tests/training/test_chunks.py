"""A cell in chunks of sentences: the numbers of whole batches, where no dropout is drawn."""

from pathlib import Path

import torch

from rse_study.models.rtd import Generator
from rse_study.tensors import Collectives
from rse_study.training.session_setup import open_session
from tests.training.world import World, small_trial


def test_encoder_discriminator_and_generator_take_the_size(world: World, tmp_path: Path) -> None:
    trial = small_trial(chunk_size=3)
    session = open_session(trial, 3, world.materials(), tmp_path, Collectives(), torch.device("cpu"))
    assert session.networks.discriminator is not None
    assert isinstance(session.run.generator, Generator)
    encoders = session.networks.encoder, session.networks.discriminator.encoder
    assert [one.chunk_size for one in (*encoders, session.run.generator)] == [3, 3, 3]
