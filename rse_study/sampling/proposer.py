"""Proposals and verdicts of Optuna: pure functions of the ledger."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import optuna
from optuna.pruners import BasePruner
from optuna.samplers import RandomSampler
from optuna.trial import Trial, TrialState, create_trial

from rse_study.errors import InputError, first_line
from rse_study.sampling.optuna_types import STATES, distribution_of
from rse_study.sampling.samplers import DISCARDED, make_sampler, point_of
from rse_study.search.choice import TrialOutcome
from rse_study.search.stopping import RuleByClass, StoppingRule, TrialAtRung
from rse_study.study.checking.search_methods import construct_rule, rule_class, source_of
from rse_study.study.definition.config import Study
from rse_study.study.definition.domains import Domain, Int
from rse_study.study.definition.parts import Sampler

SearchDirection = Literal["maximize", "minimize"]
UNIFORM_FROM = 8
"""draw for a trial from which on draws are uniform: a model may insist on points that are known already"""
NOTHING_FIXED: Mapping[str, Any] = {}


class Proposer:
    """An in-memory Optuna study with our trials under our numbers.

    The sampler is made anew before every ask, seeded by the search seed and the trial's number, and remembers nothing
    but the trials: with one trial at a time, a resumed search asks exactly what an uninterrupted one asks.
    """

    def __init__(
        self,
        domains: Mapping[str, Domain],
        sampler: Sampler,
        search_seed: int,
        directions: Sequence[SearchDirection],
        folder: Path = Path(),
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._domains = dict(domains)
        self._distributions = {name: distribution_of(domain) for name, domain in domains.items()}
        self._is_conditional = any(domain.when for domain in domains.values())
        self._sampler, self._search_seed, self._folder = sampler, search_seed, folder
        self._optuna = optuna.create_study(directions=list(directions))
        self._running: dict[int, Trial] = {}  # by our number

    def ask(self, number: int, draw: int = 0, fixed: Mapping[str, Any] = NOTHING_FIXED) -> dict[str, Any]:
        """Return a proposal for trial `number`, with the values in `fixed`.

        Each further `draw` gives another one.
        """
        # Without a model, a further draw looks past the point that was known already.
        point = point_of(self._sampler, self._domains, self._search_seed, number + draw)
        if point is not None:
            self.add(number, point)
            return point
        sampler = self._sampler if draw < UNIFORM_FROM else Sampler(name="random")
        seed, of_all = seed_of(self._search_seed, number, draw), seed_of(self._search_seed, -1, 0)
        self._optuna.sampler = make_sampler(
            sampler, seed, of_all, is_conditional=self._is_conditional, folder=self._folder
        )
        if fixed:
            self._optuna.enqueue_trial(dict(fixed))  # the others are the sampler's
        return self._ask_optuna(number)

    def add(
        self,
        number: int,
        proposal: Mapping[str, Any],
        outcome: TrialOutcome = "running",
        values: Sequence[float] | None = None,
    ) -> None:
        """Enter a trial that was not asked for."""
        if outcome == "running":
            self._optuna.enqueue_trial(dict(proposal))  # the next ask is for this one
            self._ask_optuna(number)
            return
        self._optuna.add_trial(
            create_trial(
                state=STATES[outcome],
                params=dict(proposal),
                distributions={name: self._distributions[name] for name in proposal},
                values=_final(outcome, values),
            )
        )

    def tell(self, number: int, outcome: TrialOutcome, values: Sequence[float] | None = None) -> None:
        """Enter the end of a running trial."""
        self._end(self._running.pop(number), STATES[outcome], _final(outcome, values))

    def _end(self, trial: Trial, state: TrialState, values: list[float] | None = None) -> None:
        if self._sampler.class_ is not None:
            # A search that goes on enters its trials without `after_trial`: nor may it be called here. Some stop the
            # study in it, which only Optuna's own loop may.
            self._optuna.sampler = RandomSampler()
        self._optuna.tell(trial, values=values, state=state)

    def _ask_optuna(self, number: int) -> dict[str, Any]:
        of_all = {name: one for name, one in self._distributions.items() if not self._domains[name].when}
        with self._naming_the_class(number):
            self._running[number] = trial = self._optuna.ask(of_all)
            params = dict(trial.params)
            for name, domain in self._domains.items():
                if domain.when and all(params[parent] in values for parent, values in domain.when.items()):
                    params[name] = _suggest(trial, name, domain)
            for name, value in params.items():
                if not self._domains[name].holds(value):
                    raise ValueError(f"{name} = {value!r} lies outside the axis")
        return {name: params[name] for name in self._domains if name in params}

    @contextmanager
    def _naming_the_class(self, number: int) -> Iterator[None]:
        """Raise what a user's own class raised as an InputError that names it."""
        try:
            yield
        except Exception as error:
            if self._sampler.class_ is None:
                raise
            what = f"sampler.class = {self._sampler.class_!r}"
            rule = f"failed at trial {number} ({type(error).__name__}: {first_line(error)})"
            raise InputError(what, rule=rule, remedy="Mend it: the search goes on where it is") from error

    def discard(self, number: int) -> None:
        """Take back a proposal that is known already, which is no failure."""
        trial = self._running.pop(number)
        trial.set_user_attr(DISCARDED, True)
        self._end(trial, TrialState.FAIL)


def _suggest(trial: Trial, name: str, domain: Domain) -> Any:
    if domain.scale == "none":
        return trial.suggest_categorical(name, domain.values())
    low, high = domain.edges()
    if isinstance(domain, Int):
        return trial.suggest_int(name, low, high)
    return trial.suggest_float(name, low, high, log=domain.scale == "log")


def _final(outcome: TrialOutcome, values: Sequence[float] | None) -> list[float] | None:
    return list(values) if values is not None and outcome == "complete" else None


def seed_of(search_seed: int, number: int, draw: int) -> int:
    """Return the first 32 bits of sha256(search seed, trial number, draw)."""
    digest = hashlib.sha256(repr((search_seed, number, draw)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


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
