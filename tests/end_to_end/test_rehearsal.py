"""A study of a paper goes from an empty data folder to its tables; `make rehearsal` walks all."""

import pytest

from rse_study.study.definition.shipped import shipped_studies
from tests.end_to_end.rehearsal import lab, walk

STUDIES = ["dcl_table2"]  # the shortest that a hub, a table and claims belong to
PATHS = {path.stem: path for path in shipped_studies() if path.parent.name == "paper"}


@pytest.fixture(scope="module")
def here(data_dir):
    with lab(data_dir) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_a_paper_goes_from_fetch_to_its_tables(here, name):
    walked = walk(here, PATHS[name])
    assert walked.problem == ""
    assert walked.num_cells > 0 and walked.num_evaluations > 0 and walked.num_files > 0
