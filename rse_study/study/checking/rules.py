"""Rules of a study beyond single fields: no contradictions, nothing impossible."""

from collections.abc import Callable, Collection, Mapping

from rse_study.downstream.registry import all_evaluations
from rse_study.errors import InputError
from rse_study.evaluation.registry import class_in
from rse_study.registry import did_you_mean
from rse_study.study.checking import rules_of_grid as grid
from rse_study.study.checking import rules_of_search as search
from rse_study.study.checking.rule import RuleProblems, errors_of, listed_twice, listed_twice_at
from rse_study.study.definition.config import SEARCH_ONLY, Study
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial


def _one_question(study: Study) -> RuleProblems:
    if study.grid is not None and study.search is not None:
        remedy = "Remove one (if it is inherited: `search: null`)"
        yield "grid", "a study is a grid or a search, never both", remedy
    if study.grid is None and study.search is None:
        yield "search", "is required, or `grid`", "Name an axis: `search: {rho: {float: [0, 1]}}`"


def _search_only(study: Study) -> RuleProblems:
    if study.grid is None or study.search is not None:
        return
    for name in SEARCH_ONLY:
        if name in study.model_fields_set and getattr(study, name) not in (None, ()):
            rule = "belongs to a search; a grid runs every row and every seed to its end, and all of it is a result"
            yield name, rule, f"Remove it (if it is inherited: `{name}: null`)"


def _evaluations(study: Study) -> RuleProblems:
    known = all_evaluations()
    for at, name in study.located_evaluations():
        what = f"{at} = {name!r}"
        if name.endswith("/dev") and name.replace("/dev", "/test") in known:
            rule = "a dev split selects, and is measured during training; an evaluation is a test split"
            yield what, rule, f"Did you mean {name.replace('/dev', '/test')!r}?"
        elif name not in known and not class_in(name):
            own = "One by class is named module:Class/preset, for example my_scores:Overlap/builtin"
            yield what, "no such evaluation", own if ":" in name else did_you_mean(name, known)
    seen: set[str] = set()
    for at, name in study.located_evaluations():
        yield from [listed_twice_at(at, name)] if name in seen else []
        seen.add(name)


def _replayed(study: Study) -> RuleProblems:
    for at, objective in search.located_objectives(study):
        if problem := search.unmeasured(study, objective.metric):
            yield f"{at}.metric = {objective.metric!r}", *problem


def _baselines(study: Study) -> RuleProblems:
    yield from listed_twice("baselines", study.baselines)


def _executors(study: Study) -> RuleProblems:
    for at, resources in study.located_resources():
        if resources.executor != "inline":
            continue
        for name, value in (("workers", resources.workers), ("gpus", resources.gpus)):
            if value > (name == "workers"):
                rule = f"inline runs a cell in one process on CPUs, and {at}.{name} = {value:g}"
                yield f"{at}.executor = 'inline'", rule, "Use executor: train (or auto)"


def _parts_of_gpus(study: Study) -> RuleProblems:
    for at, resources in study.located_resources():
        if 0 < resources.gpus < 1 and resources.workers > 1:
            rule = f"workers that train together need a GPU each, and {at}.workers = {resources.workers}"
            yield f"{at}.gpus = {resources.gpus:g}", rule, "Use gpus: 1, or one worker"


RULES: Mapping[Callable[[Study], RuleProblems], str] = {
    _one_question: "grid search",
    _search_only: "grid search",
    grid.baseline_row: "grid",
    grid.decided_beside_a_baseline: "seeds grid",
    grid.papers_rows: "paper grid",
    grid.papers_measure: "paper objective",
    search.one_seed: "search seeds",
    search.confirmed_until_decided: "confirm objectives",
    search.distinct_seeds: "seeds confirm",
    search.seeds_of_the_path: "seeds ablation_path",
    search.confirmable: "confirm num_trials",
    search.tuned_alike: "tune_each search num_trials sampler search_budget early_stopping",
    _evaluations: "evaluations",
    _baselines: "baselines",
    search.objectives: "objective objectives early_stopping",
    search.told_the_last_step: "objective objectives search",
    search.one_path: "ablation_path objectives",
    search.path_of_one_space: "ablation_path search",
    grid.no_conditions_in_a_grid: "grid",
    _replayed: "objective objectives base",
    search.seen_by_the_objective: "objective objectives base search evaluations",
    _executors: "resources confirm ablation_path",
    _parts_of_gpus: "resources confirm ablation_path",
    search.search_budget: "search_budget base",
}
"""Rules, each with the fields it reads."""
RULES_OF_SPACE: Mapping[Callable[[Study, Space[Trial]], RuleProblems], str] = {
    search.where_the_path_begins: "ablation_path",
    search.points_of_each_value: "tune_each num_trials",
    search.steps_of_trials: "search_budget",
}
"""Rules that join a setting of a search and its space."""


def check_rules(study: Study, *, where: str, broken: Collection[str] = ()) -> list[InputError]:
    """Return every broken rule, except those about fields that could not be read."""
    readable = [rule for rule, fields in RULES.items() if not {*fields.split()} & {*broken}]
    return errors_of((problem for rule in readable for problem in rule(study)), where)


def check_rules_of_space(
    study: Study, space: Space[Trial], *, where: str, broken: Collection[str] = ()
) -> list[InputError]:
    """Return every broken rule of a search's space; `broken` as in `check_rules`."""
    readable = [rule for rule, fields in RULES_OF_SPACE.items() if not {*fields.split()} & {*broken}]
    return errors_of((problem for rule in readable for problem in rule(study, space)), where)
