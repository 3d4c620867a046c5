"""A study of the eight axes, as a mapping to be broken."""

import copy
from pathlib import Path

import pytest

from rse_study.study.definition.reading import read_extended

QUICKSTART = Path(__file__).parents[2] / "search_spaces" / "quickstart.yaml"


@pytest.fixture(scope="session")
def _quickstart():
    return read_extended(QUICKSTART)


@pytest.fixture
def content(_quickstart):
    return copy.deepcopy(_quickstart)


@pytest.fixture(scope="session")
def quickstart_text():
    return QUICKSTART.read_text(encoding="utf-8")
