"""Rules of a search beyond single fields: objectives, budget, path, confirmation."""

from collections.abc import Iterator, Mapping, Sequence

from rse_study.registry import did_you_mean
from rse_study.results.records import COSTS
from rse_study.results.settings import UntilDecided
from rse_study.results.study_record import AT_CHECKPOINT
from rse_study.study.checking import study_rule, trials_rule
from rse_study.study.definition.config import Study
from rse_study.study.definition.domains import Domain
from rse_study.study.definition.parts import Objective
from rse_study.study.definition.paths import overlap
from rse_study.study.definition.problems import RuleProblems, listed_twice, located
from rse_study.study.definition.rows import Row
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

MOST_OBJECTIVES = 4  # with more, most trials are on the front


@study_rule
def one_seed(study: Study) -> RuleProblems:
    """Refuse several seeds of a search."""
    if study.search is not None and not isinstance(study.seeds, UntilDecided) and len({*study.seeds}) > 1:
        remedy = "Confirm the best with several (confirm.seeds), or compare rows of a grid with seeds: {until: decided}"
        yield f"seeds = {list(study.seeds)}", "a search runs one seed", remedy


@study_rule
def objectives(study: Study) -> RuleProblems:
    """Refuse several objectives that do not go together, and one that is a cost."""
    given = study.objectives
    if not given:
        if study.objective.metric in COSTS:
            rule = "the cheapest trial is the one that learns nothing"
            yield f"objective.metric = {study.objective.metric!r}", rule, "Use `objectives`"
        return
    if not 2 <= len(given) <= MOST_OBJECTIVES:
        rule = f"must be 2 to {MOST_OBJECTIVES}"
        yield f"objectives: {len(given)}", rule, "Use `objective` for one"
    yield from listed_twice(located("objectives", [one.metric for one in given]))
    if study.objective != given[0]:
        rule = "a study has one objective or several, and `objective` is not the first of them"
        remedy = "Remove it (if it is inherited: `objective: null`)"
        yield f"objective.metric = {study.objective.metric!r}", rule, remedy
    if given[0].metric in COSTS:
        rule = "the first objective is shown step by step, and a cost is known only at the end"
        yield f"objectives.0.metric = {given[0].metric!r}", rule, "Put another one first"
    if study.early_stopping is not None:
        rule = "stops trials by one objective, which may be on the front by another"
        yield "early_stopping", rule, "Remove it (if it is inherited: `early_stopping: null`)"


@study_rule
def told_the_last_step(study: Study) -> RuleProblems:
    """Refuse the score at the best checkpoint as what a search optimises."""
    located = [(f"{at}.metric", one.metric) for at, one in located_objectives(study)]
    for at, metric in located if study.search is not None else ():
        if metric.endswith(AT_CHECKPOINT):
            rule = "is the score of the best checkpoint, and a search optimizes the score at the last step"
            yield f"{at} = {metric!r}", rule, "Use `dev`; the ledger has both"


def located_objectives(study: Study) -> Iterator[tuple[str, Objective]]:
    """Yield each objective, and where it stands in the file."""
    yield from (
        located("objectives", study.objectives) if study.objectives else [("objective", study.objective)]
    )


@study_rule
def measured_in_training(study: Study) -> RuleProblems:
    """Refuse objectives on replayed texts where none are replayed."""
    replayed = study.base.replayed
    for at, objective in located_objectives(study):
        what = f"{at}.metric = {objective.metric!r}"
        if objective.metric == "robust/accuracy" and replayed.labelled == "none":
            rule = "is measured on replayed adversarial texts, and none are replayed"
            yield what, rule, "Set base.replayed, for example to {recipe: pwws, labelled: builtin}"
        if objective.metric in ("robust/spearman", "robust/drift") and replayed.recipe == "none":
            rule = "is measured on replayed adversarial pairs, and none are replayed"
            yield what, rule, "Set base.replayed.recipe, for example to pwws"


@study_rule
def one_path(study: Study) -> RuleProblems:
    """Refuse a path with a front: it leads to one best trial."""
    if study.ablation_path is not None and study.objectives:
        yield "ablation_path", "leads to the best trial by one objective", "Remove it, or `objectives`"


@study_rule
def path_of_one_space(study: Study) -> RuleProblems:
    """Refuse `when`: flipping one axis after the other needs all of them at both ends."""
    axes: Mapping[str, Domain] = study.search or {}
    names = [name for name, domain in axes.items() if domain.when]
    if study.ablation_path is not None and names:
        rule = f"flips one axis after the other, and search.{names[0]} belongs to some trials only (`when`)"
        yield "ablation_path", rule, "Remove it, or `when`"


@trials_rule
def where_the_path_begins(study: Study, space: Space[Trial], rows: Sequence[Row]) -> RuleProblems:
    """Require that the base is a point of the space, if a path begins there."""
    for name in space.missed_by_base() if study.ablation_path is not None and study.search else ():
        rule = "the path begins at the base, which must be a point of the space, and the base has no value of this axis"
        remedy = "Widen the axis, move the base, or take ablation_path away"
        yield f"search.{name} and ablation_path", rule, remedy


@study_rule
def confirmed_until_decided(study: Study) -> RuleProblems:
    """Refuse to decide trials beside no base, or by several objectives."""
    if study.confirm is None or not isinstance(study.confirm.seeds, UntilDecided):
        return
    if study.confirm.baseline == "none":
        rule = "trials are decided beside the base, and confirm.baseline = 'none' leaves it out"
        yield "confirm.seeds.until = 'decided'", rule, "Set `baseline: base`, or list the seeds"
    if study.objectives:
        rule = "a trial is decided by one objective, and this study has several"
        yield "confirm.seeds.until = 'decided'", rule, "List the seeds, or give one `objective`"


@study_rule
def distinct_seeds(study: Study) -> RuleProblems:
    """Refuse seeds of a study that are listed twice."""
    yield from listed_twice(located("seeds", study.all_seeds))


@study_rule
def seeds_of_the_confirmation(study: Study) -> RuleProblems:
    """Refuse seeds of a confirmation that are listed twice, or of the search."""
    if study.confirm is not None and not isinstance(study.confirm.seeds, UntilDecided):
        yield from _fresh(study, "confirm", study.confirm.seeds, "so it cannot confirm")


@study_rule
def seeds_of_the_path(study: Study) -> RuleProblems:
    """Refuse seeds of the path that are listed twice, or of the search."""
    if study.ablation_path is not None:
        why = "which selected the end of the path"
        yield from _fresh(study, "ablation_path", study.ablation_path.seeds, why)


def _fresh(study: Study, section: str, seeds: Sequence[int], why: str) -> RuleProblems:
    yield from listed_twice(located(f"{section}.seeds", seeds))
    for at, seed in located(f"{section}.seeds", seeds):
        if seed in study.all_seeds and not isinstance(study.seeds, UntilDecided):
            rule = f"this seed was used in the search, {why}"
            yield f"{at} = {seed}", rule, "Use seeds the search does not run"


@study_rule
def confirmable(study: Study) -> RuleProblems:
    """Refuse to confirm more trials than run."""
    num_each = study.num_trials // max(1, len(study.tuned))
    if study.confirm is not None and study.confirm.num_best > num_each:
        of_each = f" / {len(study.tuned)} values of {study.tune_each}" if study.tuned else ""
        rule = f"must be <= num_trials = {study.num_trials}{of_each}"
        yield f"confirm.num_best = {study.confirm.num_best}", rule, "Confirm fewer, or run more"


@study_rule
def tuned_alike(study: Study) -> RuleProblems:
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
    for other, its_place in (("search_budget", " or --max-hours, which sets it"), ("early_stopping", "")):
        if getattr(study, other) is not None:
            rule = f"would give one value of {name} more than another"
            yield other, rule, f"Remove it{its_place}, or tune_each (if it is inherited: `{other}: null`)"


@trials_rule
def enough_points(study: Study, space: Space[Trial], rows: Sequence[Row]) -> RuleProblems:
    """Refuse more trials than a space has points, and a grid of points without an end."""
    if study.search is None:
        return
    points = space.num_points()
    if study.sampler.name == "grid" and points == float("inf"):
        rule, remedy = "needs an axis to be `int` or `choice`", "List its values, or use another sampler"
        endless = [axis.name for axis in space.axes if not axis.domain.is_finite]
        yield from (("sampler.name = 'grid'", f"{rule}, and {name} is not", remedy) for name in endless)
    elif study.num_trials > points:
        rule = f"the space has only {points:.0f} points, and none runs twice"
        yield f"num_trials = {study.num_trials}", rule, "Ask for fewer"


@trials_rule
def points_of_each_value(study: Study, space: Space[Trial], rows: Sequence[Row]) -> RuleProblems:
    """Refuse more trials of a value of `tune_each` than it has points."""
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


@study_rule
def search_budget(study: Study) -> RuleProblems:
    """Refuse a number of steps that is unknown beforehand, or that no trial fits into."""
    given, budget = study.search_budget, study.base.budget
    if given is None:
        return
    what = f"search_budget.steps = {given.steps}"
    if given.steps and budget.unit != "steps":
        rule = f"is known beforehand only if trials count steps, and base.budget.unit = {budget.unit!r}"
        yield what, rule, "Use base.budget: {unit: steps, ...}, or device_hours"
    elif 0 < given.steps < budget.amount:
        rule = f"one trial takes {budget.amount}"
        yield what, rule, "Give more steps, or use a smaller base.budget.amount"


@trials_rule
def steps_of_trials(study: Study, space: Space[Trial], rows: Sequence[Row]) -> RuleProblems:
    """Require a fixed budget per trial where a search ends after a number of steps."""
    steps = study.search_budget.steps if study.search_budget is not None else 0
    for axis in space.axes if steps else ():
        if any(overlap("budget", path) for path in axis.paths):
            rule = f"{axis.name} writes base.budget, so the steps of the next trial are unknown"
            yield f"search_budget.steps = {steps}", rule, "Use device_hours"
