"""A search and a grid with every kind of cell, in real ledgers."""

import pytest

from analysis.contents import read_contents
from rse_study.results.ledger import Ledger
from rse_study.results.reader import Reader
from tests.analysis import gridded, searched


@pytest.fixture(scope="session")
def search_dir(tmp_path_factory):
    """16 trials, all of it: for reading only."""
    folder = tmp_path_factory.mktemp("ledgers") / "joint"
    return searched.make(folder, searched.baselines, searched.search, searched.confirm, searched.importance)


@pytest.fixture(scope="session")
def grid_dir(tmp_path_factory):
    """7 rows on 3 seeds; one cell failed, one is missing, one is retired: for reading only."""
    folder = tmp_path_factory.mktemp("ledgers") / "parts"
    with Ledger.open(folder) as ledger:
        gridded.grid(ledger)
    return folder


@pytest.fixture
def contents():
    """All frames of a study's ledger."""

    def read(folder):
        with Reader(folder) as reader:
            return read_contents(reader)

    return read
