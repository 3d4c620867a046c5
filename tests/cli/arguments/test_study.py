"""What a user may write for a study or a trial."""

import pytest

from rse_study.cli.arguments.study import study_file, study_folder, trial_file
from rse_study.errors import InputError
from rse_study.study.definition.shipped import shipped_clusters, shipped_studies, shipped_trials
from tests.cases import cases


def test_shipped_trials_go_by_name():
    assert trial_file("tiny-simcse") == trial_file("tiny_simcse")
    assert trial_file("tiny_simcse").is_file()


@cases(
    ("find", "given", "said"),
    [
        (trial_file, "quickstart", "quickstart: is a study: a trial is expected.*rse-study run quickstart"),
        (study_file, "tiny_simcse", "tiny_simcse: is a trial: .*Give it to: rse-study train tiny_simcse"),
        (trial_file, "mine.yaml", "mine.yaml: is a study: .*Give it to: rse-study run mine.yaml"),
        (study_file, "slurm.yaml", "slurm.yaml: is a cluster: .*rse-study cluster validate slurm.yaml STUDY"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_command_that_takes_it(
    find, given, said, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("extends: quickstart\nname: mine\n")
    (tmp_path / "slurm.yaml").write_text("extends: slurm\n")
    with pytest.raises(InputError, match=said):
        find(given)


def test_every_shipped_file_is_of_its_kind():
    for paths, find in ((shipped_studies(), study_file), (shipped_trials(), trial_file)):
        assert all(find(str(path)) == path for path in paths)
    for path in shipped_clusters():
        with pytest.raises(InputError, match="is a cluster"):
            study_file(str(path))


@pytest.mark.parametrize("given", ["mien", "mine.yml", "mine2.yaml", "studies/min"])
def test_a_study_that_has_not_run_is_suggested_by_its_name_or_file(tmp_path, given):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "ledger.sqlite").touch()
    with pytest.raises(InputError, match=r"has run\. Did you mean 'mine'\?"):
        study_folder(given, tmp_path)
