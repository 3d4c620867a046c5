"""Rules of a grid beyond single fields."""

from math import prod
from typing import Any

from rse_study.registry import did_you_mean
from rse_study.results.row_names import find_combination, row_name
from rse_study.results.settings import UntilDecided
from rse_study.study.checking.rule import RuleProblems
from rse_study.study.definition.config import Grid, Study
from rse_study.study.definition.factorial import combinations_of
from rse_study.study.definition.rows import MAX_ROWS


def baseline_row(study: Study) -> RuleProblems:
    """Require that the baseline is a row."""
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
        yield f"grid.baseline = {grid.baseline!r}", rule, known or "Name a row in grid.rows, or remove it"


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


def papers_rows(study: Study) -> RuleProblems:
    """Refuse a paper's table of a search."""
    if study.paper is not None and study.grid is None:
        yield "paper", "belongs to a grid, whose rows are those of the paper's table", "Remove it"


def papers_measure(study: Study) -> RuleProblems:
    """Refuse a paper's table for an objective of which less is better."""
    if study.paper is not None and study.paper.table and study.objective.direction == "minimize":
        rule = f"its claims are of scores, where more is better, and objective.metric = {study.objective.metric!r}"
        yield f"paper.table = {study.paper.table!r}", rule, "Use metric: dev, or remove the table"


def no_conditions_in_a_grid(study: Study) -> RuleProblems:
    """Refuse `when` in a grid."""
    grid = study.grid or Grid()
    for name, domain in grid.domains.items():
        if domain.when:
            rule = "belongs to a search: a grid runs every combination of its axes"
            yield f"{grid.at}.{name}.when", rule, "Use rows: `grid: {rows: {...}}`"
