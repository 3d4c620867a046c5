"""What a run of Tune does about trials that have ended: it keeps them all."""

from ray.tune.experiment import Trial

from rse_study.on_ray.tuner import LiveTrials, TuneRecord


class Controller:
    """A controller of Tune that knows its live trials alone."""

    def __init__(self, *trials):
        self._trials = trials

    def get_live_trials(self):
        return set(self._trials)


def trial(number, status):
    made = Trial("cell", stub=True, trial_id=f"a1b2c_{number:05d}")
    made.set_status(status)
    return made


def test_the_first_trial_that_waits_starts_next_and_ended_ones_are_not_looked_at():
    waiting = [trial(number, Trial.PENDING) for number in (11, 9, 10)]
    controller = Controller(trial(8, Trial.RUNNING), *waiting)
    assert LiveTrials().choose_trial_to_run(controller) is waiting[1]
    assert LiveTrials().choose_trial_to_run(Controller(trial(8, Trial.RUNNING))) is None


def test_an_ended_trial_holds_statistics_of_its_scores_alone_and_a_lost_one_none():
    ended = trial(1, Trial.RUNNING)
    ended.update_last_result({"dev": 1.0, "delta/norm": 2.0, "training_iteration": 1})
    assert "delta/norm" in ended.metric_analysis
    TuneRecord("dev").on_trial_complete(iteration=1, trials=[ended], trial=ended)
    assert (list(ended.metric_analysis), ended.run_metadata.metric_n_steps) == (["dev"], {})
    assert ended.last_result["delta/norm"] == 2.0
    TuneRecord("dev").on_trial_error(iteration=1, trials=[ended], trial=ended)
    assert ended.metric_analysis == {}
