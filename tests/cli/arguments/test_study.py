"""What a user may write for a study or a trial."""

from rse_study.cli.arguments.study import trial_file


def test_shipped_trials_go_by_name():
    assert trial_file("tiny-simcse") == trial_file("tiny_simcse")
    assert trial_file("tiny_simcse").is_file()
