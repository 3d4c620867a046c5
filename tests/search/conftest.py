"""The small ledgers of tests/results, for what is read from them here."""

from tests.results.conftest import cells, searched_dir, study, study_dir

__all__ = ["cells", "searched_dir", "study", "study_dir"]
