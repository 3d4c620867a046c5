import pytest

from rse_study.study.planning.data_sizes import DataSizes


@pytest.fixture
def sizes(tmp_path):
    return DataSizes(tmp_path)
