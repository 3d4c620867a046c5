"""What a user may write for a study or a trial."""

import pytest

from rse_study.cli.arguments import study_file, study_folder, trial_file
from rse_study.errors import InputError


def test_shipped_trials_go_by_name():
    assert trial_file("tiny-simcse") == trial_file("tiny_simcse")
    assert trial_file("tiny_simcse").is_file()


def test_an_archive_is_unpacked_before_its_file_is_named():
    with pytest.raises(InputError, match=r"is an archive: .*Run `rse-study unpack old\.tar\.xz` and name"):
        study_file("old.tar.xz")


@pytest.mark.parametrize("given", ["mien", "mine.yml", "mine2.yaml", "studies/min"])
def test_a_study_that_has_not_run_is_suggested_by_its_name_or_file(tmp_path, given):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "ledger.sqlite").touch()
    with pytest.raises(InputError, match=r"has run\. Did you mean 'mine'\?"):
        study_folder(given, tmp_path)
