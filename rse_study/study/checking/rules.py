"""Rules of a study beyond single fields: no contradictions, nothing impossible."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from rse_study.data.few_labelled import tasks_seen_with
from rse_study.downstream.registry import all_evaluations
from rse_study.errors import InputError
from rse_study.evaluation.own_class import class_in
from rse_study.evaluation.registry import OF_DEV
from rse_study.registry import did_you_mean
from rse_study.results.records import COSTS
from rse_study.results.row_names import find_combination, row_name
from rse_study.results.settings import UntilDecided
from rse_study.results.study_record import AT_CHECKPOINT
from rse_study.study.definition.config import SEARCH_ONLY, Grid, Study
from rse_study.study.definition.domains import Domain
from rse_study.study.definition.factorial import combinations_of
from rse_study.study.definition.objective import Objective
from rse_study.study.definition.paths import overlap
from rse_study.study.definition.rows import MAX_ROWS
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

MOST_OBJECTIVES = 4  # with more, most trials are on the front
RuleProblems = Iterator[tuple[str, str, str]]  # what, rule, remedy
Rule = Callable[[Study], RuleProblems]
RuleOfSpace = Callable[[Study, Space[Trial]], RuleProblems]


def check_rules(study: Study, *, where: str, broken: Collection[str] = ()) -> list[InputError]:
    """Return every broken rule, except those about fields that could not be read."""
    return [
        InputError(what, where=where, rule=rule, remedy=remedy)
        for find, fields in RULES
        if not set(fields) & set(broken)
        for what, rule, remedy in find(study)
    ]


def check_rules_of_space(
    study: Study, space: Space[Trial], *, where: str, broken: Collection[str] = ()
) -> list[InputError]:
    """Return every broken rule that joins a setting of a search and its space.

    Those about fields that could not be read are left out.
    """
    return [
        InputError(what, where=where, rule=rule, remedy=remedy)
        for find, fields in RULES_OF_SPACE
        if not set(fields) & set(broken)
        for what, rule, remedy in find(study, space)
    ]


def _one_question(study: Study) -> RuleProblems:
    if study.grid is not None and study.search is not None:
        yield (
            "grid",
            "a study is a grid or a search, never both",
            "Remove one (if it is inherited: `search: null`)",
        )
    if study.grid is None and study.search is None:
        yield "search", "is required, or `grid`", "Name an axis: `search: {rho: {float: [0, 1]}}`"


def _search_only(study: Study) -> RuleProblems:
    if study.grid is None or study.search is not None:
        return
    for name in SEARCH_ONLY:
        if name in study.model_fields_set and getattr(study, name) not in (None, ()):
            rule = "belongs to a search; a grid runs every row and every seed to its end, and all of it is a result"
            yield name, rule, f"Remove it (if it is inherited: `{name}: null`)"


def _baseline_row(study: Study) -> RuleProblems:
    grid = study.grid
    if grid is None or not grid.baseline or grid.baseline in grid.rows:
        return
    combinations = _combinations(grid)
    is_one = grid.baseline in combinations
    if not is_one and not find_combination(
        grid.baseline, {name: name for name in grid.domains}, combinations
    ):
        rule = "must be a row of the grid, with which the others are compared"
        known = did_you_mean(grid.baseline, [*grid.rows, *combinations])
        yield f"grid.baseline = {grid.baseline!r}", rule, known


def _decided_beside_a_baseline(study: Study) -> RuleProblems:
    if not isinstance(study.seeds, UntilDecided):
        return
    if study.grid is None:
        rule = "is for grids, whose rows are compared with a baseline; a search races the seeds that it lists"
        yield "seeds.until = 'decided'", rule, "List them: `seeds: [0, 1, 2]`"
    elif study.grid.factorial:
        rule = "rows stop at different seeds, and an effect of grid.factorial needs every row of a seed"
        yield "seeds.until = 'decided'", rule, "List the seeds: `seeds: [0, 1, 2]`"
    elif not study.grid.baseline:
        rule = "rows are decided beside a baseline, and grid.baseline names none"
        yield "seeds.until = 'decided'", rule, "Name the row in grid.baseline, or list the seeds"


def _combinations(grid: Grid) -> dict[str, dict[str, Any]]:
    """Return the axes' values by row name; none where the grid is too large to enumerate."""
    if prod(len(domain.values()) for domain in grid.domains.values()) > MAX_ROWS:
        return {}
    return {row_name("", proposal): proposal for proposal in combinations_of(grid, grid.domains)}


def _papers_rows(study: Study) -> RuleProblems:
    if study.paper is not None and study.grid is None:
        yield "paper", "belongs to a grid, whose rows are those of the paper's table", "Remove it"


def _papers_measure(study: Study) -> RuleProblems:
    if study.paper is not None and study.paper.table and study.objective.direction == "minimize":
        rule = f"its claims are of scores, where more is better, and objective.metric = {study.objective.metric!r}"
        yield f"paper.table = {study.paper.table!r}", rule, "Use metric: dev, or remove the table"


def _raced_by_one_objective(study: Study) -> RuleProblems:
    """Refuse to race several objectives: means over different numbers of seeds make no Pareto front."""
    if study.search is not None and len(study.all_seeds) > 1 and study.objectives:
        rule = "several seeds of a search are raced by one objective, and this one has several"
        yield f"seeds = {list(study.all_seeds)}", rule, "Give one seed, or one `objective`"


def _objectives(study: Study) -> RuleProblems:
    given = study.objectives
    if not given:
        if study.objective.metric in COSTS:
            rule = "the cheapest trial is the one that learns nothing"
            yield f"objective.metric = {study.objective.metric!r}", rule, "Use `objectives` or `constraints`"
        return
    if not 2 <= len(given) <= MOST_OBJECTIVES:
        rule = f"must be 2 to {MOST_OBJECTIVES}"
        yield f"objectives: {len(given)}", rule, "Use `objective` for one"
    yield from _listed_twice("objectives", [one.metric for one in given])
    if study.objective != given[0]:
        rule = "a study has one objective or several, and `objective` is not the first of them"
        yield (
            f"objective.metric = {study.objective.metric!r}",
            rule,
            "Remove it (if it is inherited: `objective: null`)",
        )
    if given[0].metric in COSTS:
        rule = "the first objective is shown step by step, and a cost is known only at the end"
        yield f"objectives.0.metric = {given[0].metric!r}", rule, "Put another one first"
    if study.early_stopping is not None:
        rule = "stops trials by one objective, which may be on the front by another"
        yield "early_stopping", rule, "Remove it (if it is inherited: `early_stopping: null`)"


def _told_the_last_step(study: Study) -> RuleProblems:
    located = [(f"{at}.metric", one.metric) for at, one in _located_objectives(study)]
    located += [(f"constraints.{index}.metric", one.metric) for index, one in enumerate(study.constraints)]
    for at, metric in located if study.search is not None else ():
        if metric.endswith(AT_CHECKPOINT):
            rule = "is the score of the best checkpoint, and a search optimizes the score at the last step"
            yield f"{at} = {metric!r}", rule, "Use `dev`; the ledger has both"


def _constraints(study: Study) -> RuleProblems:
    for index, one in enumerate(study.constraints):
        where, problem = f"constraints.{index}.metric = {one.metric!r}", _unmeasured(study, one.metric)
        if problem:
            yield where, *problem


def _one_path(study: Study) -> RuleProblems:
    """Refuse a path with a front or constraints: it leads to one best trial by one objective."""
    if study.ablation_path is not None and (study.objectives or study.constraints):
        rule = "leads to the best trial by one objective without bounds"
        yield "ablation_path", rule, "Remove it, or `objectives` and `constraints`"


def _path_of_one_space(study: Study) -> RuleProblems:
    """Refuse `when`: flipping one axis after the other needs all of them at both ends."""
    axes: Mapping[str, Domain] = study.search or {}
    names = [name for name, domain in axes.items() if domain.when]
    if study.ablation_path is not None and names:
        rule = f"flips one axis after the other, and search.{names[0]} belongs to some trials only (`when`)"
        yield "ablation_path", rule, "Remove it, or `when`"


def _where_the_path_begins(study: Study, space: Space[Trial]) -> RuleProblems:
    for name in space.missed_by_base() if study.ablation_path is not None and study.search else ():
        rule = "the path begins at the base, which must be a point of the space, and the base has no value of this axis"
        remedy = "Widen the axis, move the base, or take ablation_path away"
        yield f"search.{name} and ablation_path", rule, remedy


def _no_conditions_in_a_grid(study: Study) -> RuleProblems:
    grid = study.grid or Grid()
    for name, domain in grid.domains.items():
        if domain.when:
            rule = "belongs to a search: a grid runs every combination of its axes"
            yield f"{grid.at}.{name}.when", rule, "Use rows: `grid: {rows: {...}}`"


def _distinct_seeds(study: Study) -> RuleProblems:
    confirm = () if study.confirm is None else study.confirm.seeds
    yield from _listed_twice("seeds", study.all_seeds)
    yield from _listed_twice("confirm.seeds", confirm)
    for index, seed in enumerate(confirm):
        if seed in study.all_seeds and not isinstance(study.seeds, UntilDecided):
            rule = "this seed was used in the search, so it cannot confirm"
            yield f"confirm.seeds.{index} = {seed}", rule, "Use seeds the search does not run"


def _seeds_of_the_path(study: Study) -> RuleProblems:
    seeds = () if study.ablation_path is None else study.ablation_path.seeds
    yield from _listed_twice("ablation_path.seeds", seeds)
    for index, seed in enumerate(seeds):
        if seed in study.all_seeds and not isinstance(study.seeds, UntilDecided):
            rule = "this seed was used in the search, which selected the end of the path"
            yield f"ablation_path.seeds.{index} = {seed}", rule, "Use seeds the search does not run"


def _confirmable(study: Study) -> RuleProblems:
    num_each = study.num_trials // max(1, len(study.tuned))
    if study.confirm is not None and study.confirm.num_best > num_each:
        of_each = f" / {len(study.tuned)} values of {study.tune_each}" if study.tuned else ""
        rule = f"must be <= num_trials = {study.num_trials}{of_each}"
        yield f"confirm.num_best = {study.confirm.num_best}", rule, "Confirm fewer, or run more"


def _tuned_alike(study: Study) -> RuleProblems:
    """Refuse what would give one value of `tune_each` more trials than another."""
    name = study.tune_each
    axes: Mapping[str, Domain] = study.search or {}
    if not name:
        return
    at, axis = f"tune_each = {name!r}", axes.get(name)
    if axis is None or axis.scale != "none" or axis.when:
        rule = "must be an axis of choices or variants that every trial has"
        yield at, rule, did_you_mean(name, [one for one, domain in axes.items() if domain.scale == "none"])
        return
    if study.num_trials % len(study.tuned):
        rule = f"must be a multiple of the {len(study.tuned)} values of {name}"
        more = study.num_trials + -study.num_trials % len(study.tuned)
        yield f"num_trials = {study.num_trials}", rule, f"Use {more}"
    if study.sampler.name in ("grid", "quasi_random") and study.sampler.class_ is None:
        rule = "has a fixed list of points, in which values do not take turns"
        yield f"sampler.name = {study.sampler.name!r}", rule, "Use tpe or random"
    for other in ("warm_start", "search_budget", "early_stopping"):
        if getattr(study, other) is not None:
            rule = f"would give one value of {name} more than another"
            yield other, rule, f"Remove it, or tune_each (if it is inherited: `{other}: null`)"
    if len(study.all_seeds) > 1:
        rule = f"are raced, which would give one value of {name} more than another"
        yield f"seeds = {list(study.all_seeds)}", rule, "Give one seed, or remove tune_each"


def _points_of_each_value(study: Study, space: Space[Trial]) -> RuleProblems:
    """Refuse more trials of a value of `tune_each` than its part of the space has points."""
    axis = next((one for one in space.axes if one.name == study.tune_each and not one.parent), None)
    if axis is None or not study.tuned:
        return
    points = dict.fromkeys(study.tuned, space.num_points() / len(study.tuned))
    if axis in space.parents:
        points = dict.fromkeys(study.tuned, 0.0)
        for values, branch in space.branches():
            points[values[axis.name]] += branch.num_points()
    share = study.num_trials // len(study.tuned)
    for value, number in points.items():
        if number < share:
            what, has = f"num_trials = {study.num_trials}", f"{number:.0f} point{'s' * (number != 1)}"
            rule = f"gives {share} to {axis.name} = {value}, which has only {has}, and none runs twice"
            yield what, rule, "Give it an axis of its own, or fewer trials"


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
        yield from [_listed_twice_at(at, name)] if name in seen else []
        seen.add(name)


def _replayed(study: Study) -> RuleProblems:
    for at, objective in _located_objectives(study):
        problem = _unmeasured(study, objective.metric)
        if problem:
            yield f"{at}.metric = {objective.metric!r}", *problem


def _located_objectives(study: Study) -> Iterator[tuple[str, Objective]]:
    several = [(f"objectives.{index}", one) for index, one in enumerate(study.objectives)]
    yield from several or [("objective", study.objective)]


def _unmeasured(study: Study, metric: str) -> tuple[str, str] | None:
    """Return rule and remedy if training does not measure a metric."""
    replayed = study.base.replayed
    if metric == "robust/accuracy" and replayed.labelled == "none":
        rule = "is measured on replayed adversarial texts, and none are replayed"
        return rule, "Set base.replayed, for example to {recipe: pwws, labelled: builtin}"
    if metric in ("robust/spearman", "robust/drift") and replayed.recipe == "none":
        rule = "is measured on replayed adversarial pairs, and none are replayed"
        return rule, "Set base.replayed.recipe, for example to pwws"
    return None


def _seen_by_the_objective(study: Study) -> RuleProblems:
    """Refuse evaluations on texts that a search selects by; a grid selects nothing."""
    deciding = {one.metric for one in study.all_objectives} | {one.metric for one in study.constraints}
    if "robust/accuracy" not in deciding or study.search is None:
        return
    labelled = study.base.replayed.labelled
    for at, name in study.located_evaluations():
        if name.split("/")[0] in tasks_seen_with(labelled):
            rule = f"the search selects by {labelled}, attacked (base.replayed.labelled): it has seen these texts"
            remedy = "Replay texts of another set (builtin), or evaluate on another one"
            yield f"{at} = {name!r}", rule, remedy


def _watched(study: Study) -> RuleProblems:
    """Keep a search from watching while it runs what it reports in the end."""
    for name, every in study.base.watched.items() if study.search is not None else ():
        if name not in OF_DEV:
            rule = (
                "is measured on a test split or on all data of a task, which only the confirm stage may show"
            )
            remedy = f"Watch {', '.join(OF_DEV)}, which is of dev pairs; list the others in `evaluations`"
            yield f"base.watched.{name} = {every}", rule, remedy


def _baselines(study: Study) -> RuleProblems:
    yield from _listed_twice("baselines", study.baselines)


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


def _allowance(study: Study) -> RuleProblems:
    if study.allowance.max_cost and not study.allowance.price_per_hour:
        rule = "has no effect without a price"
        yield f"allowance.max_cost = {study.allowance.max_cost:g}", rule, "Give allowance.price_per_hour, too"


def _search_budget(study: Study) -> RuleProblems:
    given, budget = study.search_budget, study.base.budget
    if given is None:
        return
    if given.cost and not given.price_per_hour:
        yield (
            f"search_budget.cost = {given.cost:g}",
            "has no effect without a price",
            "Give price_per_hour, too",
        )
    if given.steps and budget.unit != "steps":
        rule = f"is known beforehand only if trials count steps, and base.budget.unit = {budget.unit!r}"
        yield (
            f"search_budget.steps = {given.steps}",
            rule,
            "Use base.budget: {unit: steps, ...}, or another limit",
        )
    elif 0 < given.steps < budget.amount:
        rule = f"one trial takes {budget.amount}"
        yield (
            f"search_budget.steps = {given.steps}",
            rule,
            "Give more steps, or use a smaller base.budget.amount",
        )


def _steps_of_trials(study: Study, space: Space[Trial]) -> RuleProblems:
    """Require a fixed budget per trial where a search ends after a number of steps."""
    steps = study.search_budget.steps if study.search_budget is not None else 0
    for axis in space.axes if steps else ():
        if any(overlap("budget", path) for path in axis.paths):
            rule = f"{axis.name} writes base.budget, so the steps of the next trial are unknown"
            yield f"search_budget.steps = {steps}", rule, "Use another limit"


def _listed_twice(at: str, values: Sequence[Any]) -> RuleProblems:
    for index, value in enumerate(values):
        if value in values[:index]:
            yield _listed_twice_at(f"{at}.{index}", value)


def _listed_twice_at(at: str, value: Any) -> tuple[str, str, str]:
    return f"{at} = {value!r}", "is listed twice", "Keep one of them"


RULES: tuple[tuple[Rule, tuple[str, ...]], ...] = (
    (_one_question, ("grid", "search")),
    (_search_only, ("grid", "search")),
    (_baseline_row, ("grid",)),
    (_decided_beside_a_baseline, ("seeds", "grid")),
    (_papers_rows, ("paper", "grid")),
    (_papers_measure, ("paper", "objective")),
    (_raced_by_one_objective, ("search", "seeds", "objectives")),
    (_distinct_seeds, ("seeds", "confirm")),
    (_seeds_of_the_path, ("seeds", "ablation_path")),
    (_confirmable, ("confirm", "num_trials")),
    (
        _tuned_alike,
        (
            "tune_each",
            "search",
            "num_trials",
            "sampler",
            "warm_start",
            "search_budget",
            "early_stopping",
            "seeds",
        ),
    ),
    (_evaluations, ("evaluations",)),
    (_baselines, ("baselines",)),
    (_objectives, ("objective", "objectives", "early_stopping")),
    (_told_the_last_step, ("objective", "objectives", "constraints", "search")),
    (_constraints, ("constraints", "base")),
    (_one_path, ("ablation_path", "objectives", "constraints")),
    (_path_of_one_space, ("ablation_path", "search")),
    (_no_conditions_in_a_grid, ("grid",)),
    (_replayed, ("objective", "objectives", "base")),
    (_seen_by_the_objective, ("objective", "objectives", "constraints", "base", "search", "evaluations")),
    (_watched, ("base", "search")),
    (_executors, ("resources", "confirm", "ablation_path")),
    (_parts_of_gpus, ("resources", "confirm", "ablation_path")),
    (_allowance, ("allowance",)),
    (_search_budget, ("search_budget", "base")),
)
"""Rules, each with the fields it reads."""

RULES_OF_SPACE: tuple[tuple[RuleOfSpace, tuple[str, ...]], ...] = (
    (_where_the_path_begins, ("ablation_path",)),
    (_points_of_each_value, ("tune_each", "num_trials")),
    (_steps_of_trials, ("search_budget",)),
)
