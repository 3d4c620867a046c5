"""A search and a grid with every kind of cell, in real ledgers."""

import pytest

from analysis.contents import read_contents
from analysis.report import changed_at, write_report
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from tests.analysis import gridded, searched
from tests.analysis.browser import Browser


@pytest.fixture(scope="session")
def browser():
    """One browser for all tests of pages."""
    started = Browser()
    yield started
    started.close()


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


@pytest.fixture(scope="session")
def path_dir(tmp_path_factory):
    """The search with its ablation path, all eight rounds: for reading only."""
    parts = (searched.baselines, searched.search, searched.confirm, searched.importance, searched.path)
    return searched.make(tmp_path_factory.mktemp("path") / "joint", *parts)


@pytest.fixture(scope="session")
def pages(search_dir, grid_dir, tmp_path_factory):
    """The reports of both as files. Who reads them is of the group `browser`: one process writes them."""
    folder = tmp_path_factory.mktemp("pages")
    studies = {"search": search_dir, "grid": grid_dir}
    return {kind: write_report(study, folder / f"{kind}.html") for kind, study in studies.items()}


@pytest.fixture(scope="session")
def contents():
    """All frames of a study's ledger, for reading only; read again where the ledger was written since."""
    found = {}

    def read(folder):
        state = folder, changed_at(folder)
        if state not in found:
            with Reader(folder) as reader:
                found[state] = read_contents(reader)
        return found[state]

    return read
