"""Parts of a study that arithmetic alone shows to be inert, before anything runs."""

from collections.abc import Iterable, Mapping

from rse_study.methods.base import MethodBase
from rse_study.results.manipulation import Checks, ManipulationCheck
from rse_study.training.trial import Trial


def checks_of(trials: Iterable[Trial]) -> Checks:
    """Return the manipulation checks of the trials' methods, one per metric."""
    methods = dict.fromkeys(type(trial.method) for trial in trials)
    return tuple({one.metric: one for method in methods for one in method.checks}.values())


def inert_parts(trials: Mapping[str, Trial]) -> list[str]:
    """Return a warning per part that must be inert in some of these trials."""
    found: dict[ManipulationCheck, dict[str, float]] = {}
    for name, trial in trials.items():
        assert isinstance(trial.method, MethodBase)
        most = trial.method.foreseen(trial.batch_size)
        for check in trial.method.checks:
            if check.metric in most and check.is_inert(most[check.metric]):
                found.setdefault(check, {})[name] = most[check.metric]
    return [check.sentence(values, len(trials), "at most ") for check, values in found.items()]
