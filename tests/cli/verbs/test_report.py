"""`report`: of a study, and its tables."""

import pandas as pd
import pytest


@pytest.mark.parametrize(
    ("out", "said"),
    [("folder", "is a folder: a file is written here"), ("file/report.html", "file is no folder")],
)
def test_a_report_that_cannot_be_written_is_refused(rse, ran, tmp_path, out, said):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    ended = rse("report", "little", "--out", out)
    assert ended.code == 2
    assert ended.err.startswith(f"--out {out if out == 'folder' else 'file'}: ")
    assert said in ended.err


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_report_brings_its_tables(rse, ran, tmp_path, kind):
    ended = rse("report", "little", "--tables", "tables", "--as", kind)
    assert (ended.code, ended.err) == (0, "")
    path = tmp_path / "tables" / f"trials.{kind}"
    frame = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    assert frame["status"].tolist() == ["complete", "failed"]
    assert f"tables/trials.{kind}" in ended.out.splitlines()


def test_all_studies_have_an_index(rse, ran, tmp_path):
    ended = rse("report", "--all")
    assert (ended.code, ended.out, ended.err) == (0, "studies/index.html\n", "")
    assert 'href="little/report.html"' in (tmp_path / "studies/index.html").read_text(encoding="utf-8")
    assert (tmp_path / "studies/little/report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "STUDY: no study is named. Name one"),
        (["little", "--all"], "STUDY: little: --all is of all studies at once. Leave out STUDY, or --all"),
        (["--all", "--watch"], "--watch: is of one study: --all is of all studies at once."),
        (["--all", "--store", "nowhere"], "nowhere: no study has run here. Run one: rse-study run STUDY"),
    ],
)
def test_an_index_is_of_all_studies_and_of_nothing_else(rse, ran, arguments, said):
    ended = rse("report", *arguments)
    assert ended.code == 2
    assert ended.err.startswith(said)
