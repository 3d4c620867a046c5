"""The command `unpack`: an archive becomes a study of the store."""

from pathlib import Path

from rse_study.frames.study_results import open_results

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "docs" / "results" / "minilm" / "mean-minilm.tar.xz"


def test_an_archive_becomes_a_study_of_the_store_and_its_file_is_printed(rse):
    ended = rse("unpack", str(SHIPPED))
    assert (ended.code, ended.out) == (0, "studies/mean-minilm/mean-minilm.yaml\n")
    assert Path(ended.out.strip()).is_file()
    assert open_results("mean-minilm", "studies").name == "mean-minilm"


def test_another_file_is_refused(rse):
    ended = rse("unpack", "quickstart")
    assert (ended.code, "quickstart: is no archive" in ended.err) == (2, True)
