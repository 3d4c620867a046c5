import pytest

from rse_study.data import builtin
from tests.training.world import World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"), builtin.corpus(0, 120))
