"""A complete study of another machine: nothing is left, by its ledger alone."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rse_study.methods.robust_sent_embed import RobustSentEmbed
from rse_study.results.archive import unpack_archive
from rse_study.results.files.schema import ledger_path
from rse_study.study.checking.validation import read_study
from rse_study.study.planning.completeness import is_complete

SHIPPED = Path(__file__).parents[3] / "docs" / "results" / "minilm" / "mean-minilm.tar.xz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return unpack_archive(SHIPPED, tmp_path_factory.mktemp("store"))


def checked(folder, *overrides):
    return read_study(folder / f"{folder.name}.yaml", overrides)


def test_a_shipped_study_is_complete_without_its_data_and_models(folder):
    assert is_complete(checked(folder), folder)


def test_one_that_has_grown_or_lacks_a_score_or_was_computed_by_other_code_is_not(folder, monkeypatch):
    assert not is_complete(checked(folder), folder.parent / "another")
    assert not is_complete(checked(folder, "seeds=[0, 1, 2, 3, 4, 5, 6, 7, 8]"), folder)
    assert not is_complete(checked(folder, "base.batch_size=16"), folder)
    with monkeypatch.context() as patch:
        patch.setattr(RobustSentEmbed, "semantics", 2)
        assert not is_complete(checked(folder), folder)
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        ledger.execute("DELETE FROM evaluation WHERE subject = (SELECT min(identity) FROM cell)")
        ledger.commit()
    assert not is_complete(checked(folder), folder)
