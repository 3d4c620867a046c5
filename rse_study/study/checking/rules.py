"""Rules of any study, whether it is a grid or a search, beyond single fields."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from rse_study.data.attack_sets import tasks_seen_with
from rse_study.downstream import all_evaluations
from rse_study.evaluation import MTEB, class_in, evaluation_class, mteb_class
from rse_study.registry import did_you_mean
from rse_study.results.records import BASE, BASELINES
from rse_study.results.row_names import BY, contrasts_of, find_combination, row_name, weights_of
from rse_study.results.settings import UntilDecided
from rse_study.study.checking import broken_by, study_rule, trials_rule
from rse_study.study.definition.config import SEARCH_ONLY, Grid, Study
from rse_study.study.definition.domains import Int
from rse_study.study.definition.paths import look_up, overlap
from rse_study.study.definition.problems import RuleProblems, listed_twice, located
from rse_study.study.definition.rows import MAX_ROWS, Row, combinations_of
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

NO_SUM = 1e-9  # of weights such as 1/3
JUDGES = ("selection.dev", "replayed")
MADE_FROM_CORPUS = ("tiny", "tiny-vectors")  # encoders that depend on the corpus


@study_rule
def baseline_row(study: Study) -> RuleProblems:
    """Require that the baseline is a row."""
    grid = study.grid
    if grid is not None and grid.baseline and not (rows := _RowsByName(grid)).find(grid.baseline):
        rule = "must be a row of the grid, with which the others are compared"
        known = did_you_mean(grid.baseline, rows.names)
        yield f"grid.baseline = {grid.baseline!r}", rule, known or "Name a row in grid.rows, or remove it"


@study_rule
def planned_contrasts(study: Study) -> RuleProblems:
    """Require that a planned contrast is a difference of rows."""
    if study.contrasts and study.grid is None:
        rule = "compare rows of a grid; a search's trials are confirmed beside its base"
        yield "contrasts", rule, "Remove them (if they are inherited: `contrasts: null`)"
        return
    rows = _RowsByName(study.grid or Grid())
    axes = {name: domain.values() for name, domain in rows.grid.domains.items()}
    every = [
        (name, each)
        for name, one in (study.contrasts or {}).items()
        for each, _ in contrasts_of(name, one, (), axes)
    ]
    yield from listed_twice((f"contrasts.{name}", each) for name, each in every)
    for name, written in (study.contrasts or {}).items():
        yield from ((f"contrasts.{name}{at}", rule, remedy) for at, rule, remedy in _faults(written, rows))


def _faults(written: Mapping[str, float | str], rows: "_RowsByName") -> RuleProblems:
    axes, labels = {name: domain.values() for name, domain in rows.grid.domains.items()}, rows.grid.rows
    weights = weights_of(written)
    if len(weights) < 2 or not abs(sum(weights.values())) < NO_SUM or 0 in weights.values():
        rule = "must weigh two rows or more by numbers that sum to 0"
        yield f" = {dict(written)}", rule, "Write `{this row: 1, that row: -1}`"
    elif (axis := written.get(BY)) is not None and axis not in axes:
        remedy = did_you_mean(str(axis), axes) or "Remove it"
        yield f".{BY} = {axis!r}", f"must be one of {rows.grid.at}", remedy
    elif axis is not None and labels.keys() >= weights.keys():
        yield f".{BY} = {axis!r}", "changes nothing: all its rows have names", "Remove it"
    else:
        for name, one in contrasts_of("", written, labels, axes):
            found = {row: rows.find(row) for row in one}
            if lost := [row for row in one if not found[row]]:
                yield f": no row {lost[0]!r}", "weighs rows of the grid", did_you_mean(lost[0], rows.names)
                return
            if len(set(found.values())) < len(one):
                yield name, "names a row twice", "Add up its weights"
                return


class _RowsByName:
    """Rows of a grid, found by their name or values."""

    def __init__(self, grid: Grid) -> None:
        self.grid, self._combinations = grid, _combinations(grid)
        self.names = [*grid.rows, *self._combinations]

    def find(self, wanted: str) -> str | None:
        if wanted in self.grid.rows or wanted in self._combinations:
            return wanted
        axes = {name: name for name in self.grid.domains}
        return find_combination(wanted, axes, self._combinations)


@study_rule
def decided_beside_a_baseline(study: Study) -> RuleProblems:
    """Refuse seeds until decided where no row is compared with a baseline."""
    if not isinstance(study.seeds, UntilDecided):
        return
    if study.grid is None:
        rule = "is for grids, whose rows are compared with a baseline; a search runs one seed"
        yield "seeds.until = 'decided'", rule, "Give one, `seeds: [0]`, and the bounds to `confirm.seeds`"
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


@study_rule
def papers_table(study: Study) -> RuleProblems:
    """Refuse a paper's table of a search, and of an objective that is a loss."""
    if study.paper is not None and study.grid is None:
        yield "paper", "belongs to a grid, whose rows are those of the paper's table", "Remove it"
    if study.paper is not None and study.paper.table and study.objective.direction == "minimize":
        rule = f"its claims are of scores, where more is better, and objective.metric = {study.objective.metric!r}"
        yield f"paper.table = {study.paper.table!r}", rule, "Use metric: dev, or remove the table"


@study_rule
def no_conditions_in_a_grid(study: Study) -> RuleProblems:
    """Refuse `when` in a grid."""
    grid = study.grid or Grid()
    for name, domain in grid.domains.items():
        if domain.when:
            rule = "belongs to a search: a grid runs every combination of its axes"
            yield f"{grid.at}.{name}.when", rule, "Use rows: `grid: {rows: {...}}`"


@study_rule
def _one_question(study: Study) -> RuleProblems:
    if study.grid is not None and study.search is not None:
        remedy = "Remove one (if it is inherited: `search: null`)"
        yield "grid", "a study is a grid or a search, never both", remedy
    if study.grid is None and study.search is None:
        yield "search", "is required, or `grid`", "Name an axis: `search: {rho: {float: [0, 1]}}`"


@study_rule
def _search_only(study: Study) -> RuleProblems:
    if study.grid is None or study.search is not None:
        return
    for name in SEARCH_ONLY:
        if name in study.model_fields_set and getattr(study, name) not in (None, ()):
            rule = "belongs to a search; a grid runs every row and every seed to its end, and all of it is a result"
            yield name, rule, f"Remove it (if it is inherited: `{name}: null`)"


@study_rule
def _evaluations(study: Study) -> RuleProblems:
    known, own = all_evaluations(), {one.evaluation for one in study.own_files}
    for at, name in study.located_evaluations():
        what = f"{at} = {name!r}"
        if name in own:
            if name.partition("/")[0] in {one.partition("/")[0] for one in (*known, MTEB)}:
                yield what, "has the name of a shipped set", "Give the file another `name`"
        elif name.endswith("/dev") and name.replace("/dev", "/test") in known:
            rule = "a dev split selects, and is measured during training; an evaluation is a test split"
            yield what, rule, f"Did you mean {name.replace('/dev', '/test')!r}?"
        elif name not in known and not class_in(name) and not name.startswith(MTEB):
            remedy = did_you_mean(name, known)
            if ":" in name:
                remedy = "One by class is named module:Class/preset, for example my_scores:Overlap/builtin"
            elif "." in name:
                remedy = f"A file of your own is {{pairs: {name}}} or {{labelled: {name}}}"
            yield what, "no such evaluation", remedy
    yield from listed_twice(study.located_evaluations(), "Keep one of them, or give a file another `name`")


@study_rule
def seen_by_the_objective(study: Study) -> RuleProblems:
    """Refuse evaluations on texts that a search selects by; a grid selects nothing."""
    if "robust/accuracy" not in {one.metric for one in study.all_objectives} or study.search is None:
        return
    labelled = study.base.replayed.labelled
    for at, name in study.located_evaluations():
        if name.split("/")[0] in tasks_seen_with(labelled):
            rule = f"the search selects by {labelled}, attacked (base.replayed.labelled): it has seen these texts"
            remedy = "Replay texts of another set (builtin), or evaluate on another one"
            yield f"{at} = {name!r}", rule, remedy


@study_rule
def _baselines(study: Study) -> RuleProblems:
    names = [name for one in study.baselines for name in ([one] if isinstance(one, str) else one)]
    yield from listed_twice(located("baselines", names))
    if "flow" in study.baselines and study.base.encoder.template:
        rule = "it is fitted on the corpus, each sentence of which stands in the template, and no scored text does"
        yield "baselines: flow with a template", rule, "Remove flow from baselines, or use another pooling"
    taken = {*BASELINES, *BASELINES.values(), BASE, *_RowsByName(study.grid or Grid()).names}
    for name in study.own_baselines:
        if name in taken or not re.fullmatch(r"(?!trial \d+$)\S(.{0,62}\S)?", name) or not name.isprintable():
            rule = "must be 1 to 64 characters without a blank at an end, and no name of a row or shipped baseline"
            yield f"baselines: {name!r:.80}", rule, "Give it another one"


@study_rule
def _workers(study: Study) -> RuleProblems:
    for at, resources in study.located_resources():
        for name, value in (("workers", resources.workers), ("gpus", resources.gpus)):
            if resources.executor == "inline" and value > (name == "workers"):
                rule = f"inline runs a cell in one process on CPUs, and {at}.{name} = {value:g}"
                yield f"{at}.executor = 'inline'", rule, "Use executor: train (or auto)"
        if 0 < resources.gpus < 1 and resources.workers > 1:
            rule = f"workers that train together need a GPU each, and {at}.workers = {resources.workers}"
            yield f"{at}.gpus = {resources.gpus:g}", rule, "Use gpus: 1, or one worker"


def own_evaluations(study: Study, folder: Path) -> RuleProblems:
    """Refuse evaluations by class that cannot be imported, and unfit tasks of MTEB."""
    for at, name in study.located_evaluations():
        what = f"{at} = {name!r}"
        if class_in(name):
            yield from broken_by(partial(evaluation_class, name, what=what, folder=folder))
        elif name.startswith(MTEB):
            yield from broken_by(partial(mteb_class, name, what))


@trials_rule
def batch_sizes(study: Study, space: Space[Trial], rows: Sequence[Row]) -> RuleProblems:
    """Refuse workers that cannot share batches equally, or record their steps."""
    are_recorded = any(row.trial.graphed for row in rows) or (not rows and study.base.graphed)
    sizes = {row.trial.batch_size for row in rows} or {
        size for _, branch in space.branches() for size in _sizes(branch)
    }
    for at, resources in study.located_resources():
        uneven = sorted(size for size in sizes if size % resources.workers)
        if uneven:
            what = f"must be a multiple of {at}.workers = {resources.workers}: each takes an equal share"
            remedy = f"Change batch_size (an axis: `choice`) or {at}.workers"
            yield f"batch_size = {uneven[0]}", what, remedy
        if are_recorded and resources.workers > 1:
            rule = "graphed: true records the steps of one worker"
            remedy = "Use one worker a cell, or graphed: false"
            yield f"{at}.workers = {resources.workers}", rule, remedy


def _sizes(space: Space[Trial]) -> set[int]:
    """Return every batch size that a search can propose in a branch; for an integer axis, its whole range."""
    sizes: set[int] = set()
    for axis in space.axes:
        if "batch_size" in axis.paths and isinstance(axis.domain, Int):
            sizes.update(axis.domain.values())
        elif "batch_size" in axis.paths:
            sizes.update(space.apply({axis.name: value}).batch_size for value in axis.domain.edges())
    return sizes or {space.base.batch_size}


@trials_rule
def judged_alike(study: Study, space: Space[Trial], rows: Sequence[Row]) -> RuleProblems:
    """Require that all trials, which are compared, are judged by the same pairs."""
    for judge, why in _judges(space.base).items():
        writing = (axis for axis in space.axes if any(overlap(judge, path) for path in axis.paths))
        ats = [f"{space.at}.{axis.name}" for axis in writing if not axis.variants] or [
            at
            for at, trial in _named_trials(space, rows)
            if look_up(trial, judge) != look_up(space.base, judge)
        ]
        yield from ((at, f"writes base.{judge}, {why}", "Make it a study of its own") for at in ats)


def _named_trials(space: Space[Trial], rows: Sequence[Row]) -> Iterator[tuple[str, Trial]]:
    """Yield rows and variants, which have names, and where they stand."""
    yield from ((f"grid.rows.{row.label}", row.trial) for row in rows)
    for axis in space.axes:
        for name in axis.variants:
            yield f"{space.at}.{axis.name}.variants.{name}", space.apply({axis.name: name})


def _judges(base: Trial) -> dict[str, str]:
    """Return the fields that decide what a trial is judged by, and why they must not vary."""
    alike = "all trials of a study are judged alike"
    judges = dict.fromkeys(JUDGES, f"by which {alike}")
    if base.replayed.recipe == "none":
        return judges
    reference = f"against which the replayed pairs are found, and {alike}"
    # Another reference is read with the trial's own pooling, template and prompt.
    whom: tuple[str, ...] = ("encoder.pooling", "encoder.template", "encoder.prompt")
    if base.replayed.reference == "base":
        whom = ("encoder", "corpus") if base.encoder.name in MADE_FROM_CORPUS else ("encoder",)
    return judges | dict.fromkeys(whom, reference)
