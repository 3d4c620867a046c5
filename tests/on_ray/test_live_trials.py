"""The order in which Tune starts trials: without a look at those that have ended."""

from ray.tune.experiment import Trial

from rse_study.on_ray.tuner import LiveTrials


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
