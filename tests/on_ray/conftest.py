"""The little world of tests/on_ray/world.py as fixtures."""

import pytest

from rse_study.training.materials import Materials
from tests.on_ray.world import STUDY, checked_of, make_materials


@pytest.fixture(scope="session")
def materials(tmp_path_factory) -> Materials:
    return make_materials(tmp_path_factory.mktemp("materials"))


@pytest.fixture(scope="session")
def study_content() -> dict:
    return STUDY


@pytest.fixture(scope="session")
def checked(study_content):
    return checked_of(study_content)


@pytest.fixture
def opened(tmp_path):
    """Opens worlds by kind, content and folder; one that is opened again, or is left, is closed."""
    worlds = {}

    def open_one(kind, content, name="little"):
        if name in worlds:
            worlds[name].ledger.close()
        worlds[name] = kind(tmp_path / name, content)
        return worlds[name]

    yield open_one
    for world in worlds.values():
        world.ledger.close()
