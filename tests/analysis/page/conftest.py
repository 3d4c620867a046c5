"""One browser for all tests of pages."""

import pytest

from analysis.report import write_report
from tests.analysis.browser import Browser


@pytest.fixture(scope="session")
def browser():
    started = Browser()
    yield started
    started.close()


@pytest.fixture(scope="session")
def written(search_dir, grid_dir, tmp_path_factory):
    """The reports of a search and of a grid."""
    folder = tmp_path_factory.mktemp("pages")
    studies = {"search": search_dir, "grid": grid_dir}
    return {kind: write_report(study, folder / f"{kind}.html") for kind, study in studies.items()}
