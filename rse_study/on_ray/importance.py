"""How much of the objective's variation each axis accounts for."""

from collections.abc import Sequence
from typing import Literal

import optuna
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.trial import TrialState, create_trial

from rse_study.on_ray.proposer import distribution_of
from rse_study.results.records import ImportanceRow
from rse_study.study.definition.space import Axis

EVALUATOR = "PED-ANOVA"
FEWEST = 8  # below, the best quarter of the trials is one or two of them, and there is no variation to share


def importance_rows(
    axes: Sequence[Axis],
    trials: Sequence[tuple[dict[str, object], float]],
    direction: Literal["maximize", "minimize"],
) -> list[ImportanceRow]:
    """Importance of each axis by PED-ANOVA (Watanabe et al. 2023).

    Empty for a handful of trials, and where all of them came to the same value.

    Parameters
    ----------
    axes : sequence of Axis
        Of the search.
    trials : sequence of (proposal, value)
        The complete ones, with the objective's value at the last step.
    direction : "maximize" or "minimize"
        Of the objective.
    """
    if len(trials) < FEWEST or len({value for _, value in trials}) < 2:
        return []
    study = optuna.create_study(direction=direction)
    distributions = {axis.name: distribution_of(axis.domain) for axis in axes}
    for proposal, value in trials:
        params = {name: proposal[name] for name in distributions}
        study.add_trial(
            create_trial(state=TrialState.COMPLETE, params=params, distributions=distributions, value=value)
        )
    shares = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
    return [
        ImportanceRow(axis=name, evaluator=EVALUATOR, value=float(share), num_trials=len(trials))
        for name, share in shares.items()
    ]
