"""What `validate` says of views, and the files that go with a job."""

from pathlib import Path

import pytest

from rse_study.cluster.check import files_of_study
from rse_study.errors import InputErrors
from rse_study.study.checking.data_check import check_data, needs_of
from rse_study.study.checking.validation import read_study
from tests.cases import cases

STUDY = """
name: views
question: Do views help?
base: {{method: {{preset: simcse}}, encoder: {{name: tiny}}, batch_size: 2, selection: {{dev: builtin}}, {base}}}
grid: {{rows: {{SimCSE: {{}}, {rows}}}, baseline: SimCSE}}
seeds: [0]
evaluations: [builtin/test]
"""
CORPUS = "corpus: {source: {file: bt.tsv}}"
BT = "BT: {views: {file: bt.tsv}}"


@pytest.fixture
def problems(tmp_path, monkeypatch):
    (tmp_path / "bt.tsv").write_text("a b\tc d\ne f\tg h\ni j\tk l\n")
    (tmp_path / "triplets.tsv").write_text("a b\tc d\tx y\ne f\tg h\tx y\ni j\tk l\tx z\n")
    (tmp_path / "few.tsv").write_text("a b\tc d\n")
    (tmp_path / "ragged.tsv").write_text("a b\tc d\ne f\n")
    monkeypatch.chdir(tmp_path)

    def problems(base, rows):
        (tmp_path / "study.yaml").write_text(STUDY.format(base=base, rows=rows))
        try:
            return [str(one) for one in check_data(read_study(tmp_path / "study.yaml"), tmp_path)]
        except InputErrors as error:
            return [str(one) for one in error.problems]

    return problems


@cases(
    ("base", "rows"),
    [
        (CORPUS, BT),
        ("views: {file: bt.tsv}", "none: {views: null}"),
        (
            "views: {file: bt.tsv}",
            "supervised: {preset: simcse_supervised, views: {file: triplets.tsv}}",
        ),
        (CORPUS, "L2P: {method: {name: l2p_csr}, views: {file: triplets.tsv}}, " + BT),
    ],
)
def test_rows_of_other_views_compare_on_the_same_sentences(base, rows, problems):
    assert problems(base, rows) == []
    assert len({row.trial.corpus for row in read_study(Path("study.yaml")).rows}) == 1


@cases(
    ("base", "rows", "said"),
    [
        ("budget: {}", BT, "corpus: 8,000 of 8,000 training sentences have no row"),
        (CORPUS, "BT: {views: {file: few.tsv}}", "2 of 3 training sentences have no row, first 'e f'"),
        (CORPUS, "BT: {views: {file: none.tsv}}", "BT: views.file = 'none.tsv': no such file"),
        (CORPUS, "BT: {views: {file: ragged.tsv}}", "ragged.tsv:2): all have 2, or all 3"),
        (CORPUS, "BT: {views: {file: bt.tsv, columns: [sent0, sent1]}}", "no column 'sent0'"),
        (CORPUS, "DCL: {method: {name: dcl}, views: {file: bt.tsv}}", "views: dcl takes none"),
        (CORPUS, "S: {preset: simcse_supervised}", "hard_negatives: required needs `views`"),
        (CORPUS, "S: {preset: simcse_supervised, views: {file: bt.tsv}}", "no third column"),
        (
            CORPUS,
            "BT: {graphed: true, views: {file: bt.tsv}}",
            "each of its views is a text of its own length",
        ),
        ("views: {dataset: nowhere}", "x: {temperature: 0.1}", "base.views: must be a `file`"),
    ],
)
def test_what_has_no_view_is_refused_by_name(base, rows, said, problems):
    found = problems(base, rows)
    assert len(found) == 1 and said in found[0], found


def test_files_of_views_go_with_a_job_and_stand_in_the_list_of_data(problems, tmp_path):
    assert problems(CORPUS, "T: {views: {file: triplets.tsv}}") == []
    checked = read_study(tmp_path / "study.yaml")
    assert set(files_of_study(checked)) == {"bt.tsv", "triplets.tsv"}
    assert needs_of(checked).texts == ("bt.tsv", "triplets.tsv")
