import pytest

from rse_study.data import builtin
from rse_study.training.loop import train
from tests.training.world import Complete, World, light_trial, small_trial


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"), builtin.corpus(0, 120))


@pytest.fixture(scope="session")
def complete(world: World) -> Complete:
    """`small_trial()` with seed 3."""
    folder = world.root / "complete"
    return Complete(folder, list(train(small_trial(), 3, world.materials(), folder)))


@pytest.fixture(scope="session")
def light(world: World) -> Complete:
    """`light_trial()` with seed 3."""
    folder = world.root / "light"
    return Complete(folder, list(train(light_trial(), 3, world.materials(), folder)))
