"""Pruners of Optuna as stopping rules: verdicts from the ledger's values alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
from optuna.pruners import BasePruner
from optuna.trial import Trial

from rse_study.errors import InputError, first_line
from rse_study.sampling.optuna_types import STATES
from rse_study.search.stopping import RuleByClass, StoppingRule, TrialAtRung
from rse_study.study.checking.early_stopping import construct_rule, rule_class
from rse_study.study.checking.samplers import source_of
from rse_study.study.definition.config import Study


def deciding_rule(study: Study, folder: Path) -> StoppingRule | None:
    """Return the rule of a study, ready to decide: the class it names is imported."""
    rule = study.early_stopping
    if not isinstance(rule, RuleByClass):
        return rule
    made = construct_rule(rule, folder)
    passes = (
        made.passes if isinstance(made, StoppingRule) else pruner_passes(lambda: construct_rule(rule, folder))
    )

    def decides(waiting: TrialAtRung) -> bool:
        try:
            return bool(passes(waiting))
        except Exception as error:
            what = f"early_stopping.class = {rule.class_!r}"
            failed = f"failed at trial {waiting.trial}, step {waiting.t}"
            said = f"{failed} ({type(error).__name__}: {first_line(error)})"
            raise InputError(what, rule=said, remedy="Fix it and run again; the search resumes") from error

    return rule.decided_by(decides)


def describe_rule(study: Study, folder: Path) -> dict[str, Any]:
    """Return what decides verdicts beside a rule's settings: the file of a class."""
    rule = study.early_stopping
    if not isinstance(rule, RuleByClass):
        return {}
    source = source_of(rule_class(rule, folder))
    return {"early_stopping": {"optuna": optuna.__version__, "class": rule.class_, "source": source}}


def pruner_passes(make: Callable[[], BasePruner]) -> Callable[[TrialAtRung], bool]:
    """Return a function that asks a new pruner about each trial at a rung.

    Pruners keep notes, in themselves or in attributes of the trials. Therefore every verdict repeats the whole
    search: all other trials, in the order of their numbers, report their values at rungs and are asked about, then
    end as they ended.
    """

    def passes(waiting: TrialAtRung) -> bool:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(
            study_name=f"search {waiting.search_seed}", direction=waiting.direction, pruner=make()
        )
        values = waiting.values.values()
        known = {waiting.trial, *waiting.ends, *(number for at_rung in values for number in at_rung)}
        trials = [study.ask() for _ in range(max(known) + 1)]
        for number in sorted(known - {waiting.trial}):
            _report(trials[number], waiting, waiting.rungs)
            if number in waiting.ends:
                end = waiting.ends[number]
                study.tell(trials[number], list(end.values) or None, STATES[end.outcome])
        own = trials[waiting.trial]
        _report(own, waiting, tuple(t for t in waiting.rungs if t < waiting.t))
        own.report(waiting.value, waiting.t)
        return not own.should_prune()

    return passes


def _report(trial: Trial, waiting: TrialAtRung, rungs: tuple[int, ...]) -> None:
    """Report a trial's values at rungs, each followed by a question, as Optuna's users do."""
    for t in rungs:
        value = waiting.values.get(t, {}).get(trial.number)
        if value is not None:
            trial.report(value, t)
            trial.should_prune()
