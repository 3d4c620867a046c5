"""Missing scores, of models to be trained and of trained ones."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rse_study.study.definition.resources import Resources
from rse_study.study.planning.cost_model import Cost, CostModel, total
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.estimates import Range
from rse_study.study.planning.grid_stage import Remaining
from rse_study.study.planning.ledger_state import LedgerCell
from rse_study.study.planning.stages import device_hours
from rse_study.study.planning.workload import shape_of, workload_of
from rse_study.training.trial import Trial


@dataclass(frozen=True)
class ScoresPlan:
    """Scores to be made, and their cost."""

    missing: dict[str, int]
    num_models: int
    num_only: int
    """those of them that are trained"""
    num_retrained: int
    """those trained but not saved: trained again for their scores"""
    resources: Resources
    cost: Cost

    @property
    def device_hours(self) -> Range | None:
        return device_hours(self.cost, self.resources)


def plan_scores(
    evaluations: Iterable[str], remaining: Iterable[Remaining], cost_model: CostModel, data_sizes: DataSizes
) -> ScoresPlan:
    """Plan the scores that the ledger lacks, of all cells whose model is a result."""
    names, missing, costs = tuple(evaluations), Counter[str](), list[Cost]()
    num_models = num_only = num_retrained = 0
    for one in remaining if names else ():
        only = [cell for cell in one.ended if cell.status == "complete" and _lacking(cell, names)]
        lost = [cell for cell in only if not cell.has_model]
        wanted = Counter(_lacking(cell, names) for cell in only)
        for lacking, number in wanted.items():
            missing.update(dict.fromkeys(lacking, number))
            cost = _scoring(one.trial, lacking, cost_model, data_sizes, is_trained=False)
            costs.append(cost.times(number))
        if one.num_to_run:
            missing.update(dict.fromkeys(names, one.num_to_run))
            cost = _scoring(one.trial, names, cost_model, data_sizes, is_trained=True)
            costs.append(cost.scaled(one.range_to_run))
        if lost:
            costs.append(cost_model.cell(workload_of(one.trial, data_sizes)).times(len(lost)))
        num_models += one.num_to_run + len(only)
        num_only, num_retrained = num_only + len(only), num_retrained + len(lost)
    to_make = {name: number for name, number in missing.items() if number}
    return ScoresPlan(to_make, num_models, num_only, num_retrained, cost_model.resources, total(costs))


def _lacking(cell: LedgerCell, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in cell.scored)


def _scoring(
    trial: Trial, names: Iterable[str], cost_model: CostModel, data_sizes: DataSizes, *, is_trained: bool
) -> Cost:
    """Return the cost of scoring one model; missing data and the probes of transfer cost nothing here.

    A cell that is to run scores vectors in its own process. Tasks fine-tune and attack, and score what has ended.
    """
    sizes = [size for size in map(data_sizes.size_of, names) if size is not None]
    of_weights = [size for size in sizes if size.tuned or size.recipe]
    shared = {size.task: size.tuned for size in of_weights}
    attacks = sum(size.attacked(cost_model.throughput.queries) for size in of_weights)
    num_sentences = sum(size.scored for size in sizes) + sum(shared.values()) + attacks
    num_tasks = int(bool(of_weights) if is_trained else bool(sizes))
    return cost_model.scoring(num_sentences, shape_of(trial), num_tasks)
