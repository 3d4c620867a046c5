"""Remaining cost of a study: cells, steps, gradient passes, hours, price."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

from rse_study.errors import InputError, OverBudget
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.planning.cost_model import Cost, CostModel, total
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.estimates import Range, exactly
from rse_study.study.planning.evaluation_plan import ScoresPlan, plan_scores
from rse_study.study.planning.footprint import Footprint, footprint
from rse_study.study.planning.grid_stage import plan_grid
from rse_study.study.planning.ledger_state import LedgerState
from rse_study.study.planning.search_stages import SearchPlanner
from rse_study.study.planning.stages import StagePlan
from rse_study.study.planning.throughput import Throughput
from rse_study.training.trial import Replayed

UNTIL_DECIDED = (
    "rows and confirmed trials get seeds until they are decided. Low: the seeds they have or get next. Expected, which "
    "limits use, and high: all that they may get"
)


@dataclass(frozen=True)
class Plan:
    """Plan of what is left of a study."""

    study: str
    stages: tuple[StagePlan, ...]
    scores: ScoresPlan
    price_per_hour: float
    spent_hours: float
    """device hours of all attempts so far: `device_time.INCLUDED`"""
    source: str
    """basis of the hours; empty if they are unknown"""
    notes: tuple[str, ...] = ()
    """further assumptions, and what the figures leave out"""
    new: dict[str, list[int]] = field(default_factory=dict)
    """seeds to run by row, in a grid that has run before"""
    footprint: Footprint | None = None
    """disk and memory; None if the shape of its encoder is not known here"""

    @property
    def num_to_run(self) -> int:
        return sum(stage.num_to_run for stage in self.stages)

    @property
    def cost(self) -> Cost:
        """Cost of everything left, scores included."""
        return total([*(stage.cost for stage in self.stages), self.scores.cost])

    @property
    def device_hours(self) -> Range | None:
        """Device hours of all that is left; None if a part is unknown."""
        parts = [*(stage.device_hours for stage in self.stages), self.scores.device_hours]
        hours = [part for part in parts if part is not None]
        return reduce(Range.__add__, hours) if len(hours) == len(parts) else None

    @property
    def price(self) -> Range | None:
        """Price of all that is left; None without hours or an hourly price."""
        hours = self.device_hours
        return hours.times(self.price_per_hour) if hours is not None and self.price_per_hour else None


def plan(
    checked: CheckedStudy, ledger_state: LedgerState, throughput: Throughput, data_sizes: DataSizes
) -> Plan:
    """Plan a study against its ledger.

    A cell has ended if one with its configuration and seed has, whatever code and data have changed since.
    """
    study, new = checked.study, dict[str, list[int]]()
    models = {
        stage: CostModel(throughput, resources) for stage, resources in study.resources_by_stage.items()
    }
    stages: tuple[StagePlan, ...]
    if study.grid is not None:
        stage, remaining, new = plan_grid(checked, ledger_state, models["grid"], data_sizes)
        stages, notes = (stage,), list[str]()
    else:
        planner = SearchPlanner(checked, ledger_state, data_sizes)
        stages, remaining = planner.stages(models)
        notes = list(planner.notes(stages))
    notes += [UNTIL_DECIDED] if any(stage.num_spared for stage in stages) else []
    taken = Counter(cell.taken_from for one in remaining for cell in one.ended if cell.taken_from)
    scored_as = models.get("confirm") or next(iter(models.values()))
    scores = plan_scores(study.evaluations, remaining, scored_as, data_sizes)
    return Plan(
        study=study.name,
        stages=stages,
        scores=scores,
        price_per_hour=study.allowance.price_per_hour,
        spent_hours=ledger_state.device_seconds / 3600,
        source=throughput.source,
        notes=tuple(dict.fromkeys([*notes, *_notes(checked, stages, data_sizes, models.values(), taken)])),
        new=new,
        footprint=footprint(checked, sum(stage.num_to_run for stage in stages) + taken.total(), data_sizes),
    )


def check_allowance(planned: Plan, max_hours: float, max_cost: float) -> list[str]:
    """Return warnings by the high estimate; raise OverBudget by the expected total."""
    limits = {"max_hours": (max_hours, 1.0), "max_cost": (max_cost, planned.price_per_hour)}
    warnings = [_against(planned, name, limit, unit) for name, (limit, unit) in limits.items() if limit]
    return [warning for warning in warnings if warning]


def _against(planned: Plan, name: str, limit: float, unit: float) -> str:
    hours, what = planned.device_hours, f"{name} = {limit:g}"
    if not unit:
        rule, remedy = "the price of an hour is unknown", "Set allowance.price_per_hour"
        raise InputError(what, where=planned.study, rule=rule, remedy=remedy)
    if hours is None:
        rule, remedy = "the time of its cells is unknown", "Use --probe"
        raise InputError(what, where=planned.study, rule=rule, remedy=remedy)
    whole = (hours + exactly(planned.spent_hours)).times(unit)
    spent = f", {planned.spent_hours * unit:.3g} of it spent" if planned.spent_hours else ""
    message = (
        f"{planned.study}: {whole.mid:.3g} expected ({whole.low:.3g} to {whole.high:.3g}{spent}), {what}"
    )
    if whole.mid > limit:
        raise OverBudget(message)
    return message if whole.high > limit else ""


def _notes(
    checked: CheckedStudy,
    stages: tuple[StagePlan, ...],
    data_sizes: DataSizes,
    cost_models: Iterable[CostModel],
    taken: Mapping[str, int],
) -> Iterator[str]:
    if any(stage.num_to_run for stage in stages):
        yield from _replay_note(checked.study.base.replayed)
    for name, number in taken.items():
        yield (
            f"{number:,} finished cells will be copied from {name} instead of trained again, if they ran on a machine "
            "like this"
        )
    for cost_model in cost_models:
        yield from cost_model.assumptions()
    yield from data_sizes.supposed
    for name in data_sizes.missing:
        yield f"{name} is not in the data folder: its time is not included"


def _replay_note(replayed: Replayed) -> Iterator[str]:
    """Note the only known bound on finding the replayed set: its number of queries."""
    sets = {"pairs": replayed.num_pairs, "texts": replayed.num_texts if replayed.labelled != "none" else 0}
    if replayed.recipe == "none":
        return
    most = " and ".join(
        f"{number:,} {noun} x {replayed.max_queries:,} queries" for noun, number in sets.items() if number
    )
    yield (
        f"unless it exists, the replayed set is built once before the first cell: at most {most} of its reference, "
        "besides those of the recipe's own models; its time is not included"
    )
