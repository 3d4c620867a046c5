"""`export` refuses what has no model, and where it cannot write."""

import pytest


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        ("best", "trial best kept no model"),
        ("0", "kept no model"),
        ("9", "no cell '9'"),
        ("0/7", "no cell '0/7'"),
    ],
)
def test_a_trial_without_a_model_cannot_be_exported(rse, ran, trial, said):
    ended = rse("export", "little", "out", "--trial", trial)
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize("directory", ["file", "file/x"])
def test_an_export_that_cannot_be_written_is_refused(rse, models_folder, tmp_path, directory):
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell" / "model").symlink_to(models_folder / "encoder")
    (tmp_path / "file").write_text("")
    ended = rse("export", "cell", directory)
    assert ended.code == 2
    assert f"DIR {directory}: " in ended.err
    assert "Name another folder" in ended.err
