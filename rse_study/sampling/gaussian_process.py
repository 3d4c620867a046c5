"""A Gaussian process that also learns from trials without a value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import optuna
from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import GPSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial

DISCARDED = "discarded"
"""user attribute of a proposal that was known already, and is no trial"""


class GpOfAllTrials(GPSampler):
    """A Gaussian process that takes stopped and failed trials for the worst one.

    Optuna's leaves them out, and would propose such a point again and again: nothing that it knows has changed.
    """

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if not complete:
            return {}
        # In a storage of its own, a trial's id is its place in the study: the same there as here.
        imputed = optuna.create_study(directions=study.directions)
        values = _worst_values(complete, study.directions)
        for one in study.get_trials(deepcopy=False):
            imputed.add_trial(_with_result(one, values) if _has_no_value(one) else one)
        return super().sample_relative(imputed, trial, search_space)


def _has_no_value(trial: FrozenTrial) -> bool:
    ended = trial.state in (TrialState.PRUNED, TrialState.FAIL)
    return ended and DISCARDED not in trial.user_attrs


def _with_result(trial: FrozenTrial, values: list[float]) -> FrozenTrial:
    return create_trial(
        state=TrialState.COMPLETE,
        params=trial.params,
        distributions=trial.distributions,
        values=values,
    )


def _worst_values(complete: Sequence[FrozenTrial], directions: Sequence[StudyDirection]) -> list[float]:
    columns = np.array([trial.values for trial in complete]).T
    return [
        float(column.min() if direction == StudyDirection.MAXIMIZE else column.max())
        for column, direction in zip(columns, directions, strict=True)
    ]
