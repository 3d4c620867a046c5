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
