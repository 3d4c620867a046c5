"""A study of the eight axes, as a mapping to be broken."""

from pathlib import Path

import pytest

from rse_study.study.definition.reading import read_extended

JOINT = Path(__file__).parents[2] / "search_spaces" / "joint.yaml"


@pytest.fixture
def joint():
    return lambda: read_extended(JOINT)


@pytest.fixture
def content(joint):
    return joint()


@pytest.fixture(scope="session")
def joint_text():
    return JOINT.read_text(encoding="utf-8")
