"""The little world of tests/on_ray/world.py as fixtures."""

import pytest

from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from rse_study.training.materials import Materials
from tests.on_ray.world import STUDY, make_materials


@pytest.fixture(scope="session")
def materials(tmp_path_factory) -> Materials:
    return make_materials(tmp_path_factory.mktemp("materials"))


@pytest.fixture(scope="session")
def study_content() -> dict:
    return STUDY


@pytest.fixture(scope="session")
def checked(study_content):
    return check_study(build(Study, study_content, where="little.yaml"), where="little.yaml")
