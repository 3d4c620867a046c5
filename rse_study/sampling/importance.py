"""Importance of each axis for the objective, with an interval."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.importance import (
    BaseImportanceEvaluator,
    FanovaImportanceEvaluator,
    PedAnovaImportanceEvaluator,
    get_param_importances,
)
from optuna.trial import FrozenTrial, create_trial

from rse_study.results.files.ledger import Ledger
from rse_study.results.records import FEWEST_TRIALS, ImportanceRow
from rse_study.results.study_record import AxisRecord
from rse_study.sampling.optuna_types import distribution_of
from rse_study.sampling.proposer import SearchDirection
from rse_study.search.choice import mean_of
from rse_study.study.definition.domains import KINDS, Choice, Condition, Domain
from rse_study.study.definition.space import Axis

PED_ANOVA, FANOVA = "PED-ANOVA", "fANOVA"
NUM_RESAMPLES = 200  # five lie beyond each end of an interval
MOST_OF_RESAMPLE = 500  # trials; also of a forest, whose time grows faster than its trials
LEVEL = 0.95

Trials = Sequence[tuple[Mapping[str, Any], float]]
"""(proposal, value of the objective) of each trial"""
Shares = dict[str, float]


def enter_importance(ledger: Ledger) -> None:
    """Enter the importance of a search's axes, unless the ledger has it already."""
    study = ledger.frozen_study(str(ledger.study_dir))
    trials, axes = full_budget_trials(ledger, study.objective.metric), [_axis(one) for one in study.axes]
    # A complete trial never runs again: as many of them are the same ones.
    of_all = {axis.name for axis in axes if not axis.parent}
    rows = [row for row in ledger.importance() if row.axis in of_all]
    known = [row for row in rows if row.evaluator == FANOVA or row.low <= row.high]
    expected = {PED_ANOVA: len(trials), FANOVA: min(len(trials), MOST_OF_RESAMPLE)}
    is_known = {(row.evaluator, row.num_trials) for row in known} == set(expected.items())
    if not is_known:
        rows = importance_rows(axes, trials, study.objective.direction, study.search_seed)
        ledger.record_importance(rows)


def _axis(record: AxisRecord) -> Axis:
    """Return an axis on record as one of a file; variants become choices of names."""
    kind = "log" if record.log else record.kind
    ends = (record.low or 0, record.high or 0)
    values = record.choices or (tuple(map(int, ends)) if kind == "int" else ends)
    given: dict[str, Any] = {kind: values, "when": record.when}
    return Axis(record.name, KINDS[kind].model_construct(None, **given), record.paths)


def full_budget_trials(ledger: Ledger, metric: str) -> list[tuple[Mapping[str, Any], float]]:
    """Return proposal and mean final value of the complete trials of the full budget."""
    last = ledger.last_points(metric)
    complete = [
        (record, *last[record.identity])
        for record in ledger.cells()
        if record.stage == "search"
        and record.status == "complete"
        and not record.retired
        and record.identity in last
    ]
    budget = max((t for _, t, _ in complete), default=0)
    seeds: dict[int, list[float]] = {}
    for record, t, value in complete:
        if t == budget and math.isfinite(value):
            seeds.setdefault(record.trial, []).append(value)
    proposals = {record.trial: record.proposal for record, _, _ in complete}
    return [(proposals[trial], mean_of(values)) for trial, values in seeds.items()]


def importance_rows(
    axes: Sequence[Axis],
    trials: Trials,
    direction: SearchDirection,
    search_seed: int,
    num_resamples: int = NUM_RESAMPLES,
) -> list[ImportanceRow]:
    """Return each axis' importance by PED-ANOVA, with an interval, and by fANOVA.

    (Watanabe et al. 2023; Hutter et al. 2014.) Intervals are percentiles over resamples of the trials, stretched to the
    share itself where it lies outside. They say how much depends on single trials, and no more: trials of a sampler
    that learns are not independent. Resamples of more than 500 trials hold 500 of them, so that intervals shrink no
    further, and so does the forest of fANOVA. A conditional axis has its share among the trials that have it. A handful
    of trials, or equal values, give no rows.
    """
    rows = []
    for when in _conditions(axes):
        own = [axis.name for axis in axes if axis.domain.when == when]
        active = [one for one in trials if all(one[0][name] in values for name, values in when.items())]
        domains = _domains_under(axes, when)
        shares = _shares(domains, active, direction, search_seed, num_resamples)
        rows += [row for row in shares if row.axis in own]
    return rows


def _conditions(axes: Sequence[Axis]) -> list[Condition]:
    """Return every condition once, first the empty one of unconditional axes."""
    found: list[Condition] = [{}]
    for axis in axes:
        if axis.domain.when not in found:
            found.append(axis.domain.when)
    return found


def _domains_under(axes: Sequence[Axis], when: Condition) -> dict[str, Domain]:
    """Return the axes of all trials under a condition; its parent keeps its values."""
    domains: dict[str, Domain] = {}
    for axis in axes:
        left = when.get(axis.name)
        if left is not None and len(set(left)) > 1:
            domains[axis.name] = Choice(choice=tuple(dict.fromkeys(left)))
        elif left is None and all(
            set(when.get(parent, ())) <= set(values) and parent in when
            for parent, values in axis.domain.when.items()
        ):
            domains[axis.name] = axis.domain
    return domains


def _shares(
    domains: Mapping[str, Domain],
    trials: Trials,
    direction: SearchDirection,
    search_seed: int,
    num_resamples: int,
) -> list[ImportanceRow]:
    if len(trials) < FEWEST_TRIALS or len({value for _, value in trials}) < 2:
        return []
    own_scale = {name: distribution_of(domain) for name, domain in domains.items()}
    known = [_frozen(own_scale, proposal, value) for proposal, value in trials]
    random = np.random.default_rng(search_seed)
    drawn = random.integers(0, len(trials), size=(num_resamples, min(len(trials), MOST_OF_RESAMPLE)))
    resampled = [
        _evaluated(PedAnovaImportanceEvaluator(), direction, [known[index] for index in picked])
        for picked in drawn
    ]
    in_forest = random.permutation(len(trials))[:MOST_OF_RESAMPLE]
    forest = FanovaImportanceEvaluator(seed=int(random.integers(2**32)))
    as_numbers = [numbered(domains, *trials[index]) for index in sorted(in_forest)]
    return [
        *_with_intervals(_evaluated(PedAnovaImportanceEvaluator(), direction, known), resampled, len(trials)),
        *(
            ImportanceRow(axis=axis, evaluator=FANOVA, value=share, num_trials=len(as_numbers))
            for axis, share in _evaluated(forest, direction, as_numbers).items()
        ),
    ]


def _with_intervals(shares: Shares, resampled: Sequence[Shares], num_trials: int) -> list[ImportanceRow]:
    tail = (1 - LEVEL) / 2
    rows = []
    for axis, share in shares.items():
        low, high = np.quantile([one[axis] for one in resampled], [tail, 1 - tail])
        ends = {"low": min(share, float(low)), "high": max(share, float(high))}
        rows.append(ImportanceRow(axis=axis, evaluator=PED_ANOVA, value=share, num_trials=num_trials, **ends))
    return rows


def _evaluated(
    evaluator: BaseImportanceEvaluator, direction: SearchDirection, trials: Sequence[FrozenTrial]
) -> Shares:
    """Return Optuna's shares by axis; trials may repeat."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction=direction)
    study.add_trials(trials)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a resample may be all ties: its shares are alike then
        found = get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in found.items()}


def _frozen(
    distributions: Mapping[str, BaseDistribution], proposal: Mapping[str, Any], value: float
) -> FrozenTrial:
    params = {name: proposal[name] for name in distributions}
    return create_trial(params=params, distributions=dict(distributions), value=value)


def numbered(domains: Mapping[str, Domain], proposal: Mapping[str, Any], value: float) -> FrozenTrial:
    """Return a trial whose axes are numbers, each uniform as the axis is searched.

    Optuna's fANOVA measures a logarithmic axis linearly, an integer's ends by half, and choices as corners of a cube:
    so it is given logarithms, integers with half a unit on either side, and the places of choices.
    """
    params, distributions = {}, {}
    for name, domain in domains.items():
        if domain.scale == "log":
            params[name] = math.log(proposal[name])
            low, high = domain.edges()
            distributions[name] = FloatDistribution(math.log(low), math.log(high))
        elif domain.is_finite:
            params[name] = float(domain.values().index(proposal[name]))
            distributions[name] = FloatDistribution(-0.5, len(domain.values()) - 0.5)
        else:
            params[name], distributions[name] = float(proposal[name]), FloatDistribution(*domain.edges())
    return _frozen(distributions, params, value)
