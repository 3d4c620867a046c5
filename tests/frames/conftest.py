"""The small ledgers of tests/results, for the frames that are read from them."""

from tests.results.conftest import cells, searched_dir, study, study_dir

__all__ = ["cells", "searched_dir", "study", "study_dir"]
