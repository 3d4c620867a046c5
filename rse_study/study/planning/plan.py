"""Plan of a study: cells left, their steps, device hours, disk and memory."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rse_study.data import data_dir
from rse_study.errors import InputError, OverBudget
from rse_study.evaluation.evaluations import Evaluation
from rse_study.methods.method import FORWARD
from rse_study.results.records import FINISHED, Status
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.parts import Resources
from rse_study.study.planning.data_sizes import DataSizes, sentences_of
from rse_study.study.planning.footprint import Footprint, footprint, trials_of
from rse_study.study.planning.measured import (
    Conditions,
    History,
    Range,
    TimedWork,
    assumptions,
    exactly,
    history_of,
    pace_of,
    seconds_beside,
    work_of,
)
from rse_study.study.planning.remaining import Left, Remaining, ScoresLeft, remaining
from rse_study.training.materials import PrepareMaterials

AT_MOST = "rows and confirmed trials get seeds until they are decided: these are the most, and fewer may do"
SCORED = 0.3  # of a forward pass of training, without gradients and in batches of one length (docs/results/plan.md)
TimeTrials = Callable[[CheckedStudy, Path], tuple[TimedWork, ...]]


@dataclass(frozen=True)
class StagePlan:
    """A stage of a study: its cells by status, and the rest of it."""

    name: str
    resources: Resources
    ended: Mapping[Status, int]
    left: tuple[Left, ...]
    device_hours: Range | None
    """of the cells left; None if no cell like these was timed"""

    @property
    def num_ended(self) -> tuple[int, int, int]:
        """Cells that are complete, were stopped early, and failed."""
        return self.ended.get("complete", 0), self.ended.get("stopped_early", 0), self.ended.get("failed", 0)

    @property
    def num_to_run(self) -> int:
        return sum(one.num_cells for one in self.left)

    @property
    def num_cells(self) -> int:
        return self.num_to_run + sum(self.ended.values()) + sum(len(one.copied_from) for one in self.left)

    @property
    def num_steps(self) -> int:
        return sum(one.num_cells * one.num_steps for one in self.left)


@dataclass(frozen=True)
class Plan:
    """Plan of what is left of a study."""

    study: str
    stages: tuple[StagePlan, ...]
    scores: ScoresLeft
    hours_of_scores: Range | None
    """device hours of evaluations in tasks of their own, and of models that are trained again for their scores"""
    price_per_hour: float
    spent_hours: float
    """device hours of all attempts so far: `device_time.INCLUDED`"""
    source: str
    """basis of the hours; empty if they are unknown"""
    notes: tuple[str, ...] = ()
    """further assumptions, and what the figures leave out"""
    footprint: Footprint | None = None
    """disk and memory; None if the shape of its encoder is not known here"""

    @property
    def num_to_run(self) -> int:
        return sum(stage.num_to_run for stage in self.stages)

    @property
    def is_complete(self) -> bool:
        """Whether no cell and no score is left."""
        return not self.num_to_run and not self.scores.missing

    @property
    def new(self) -> dict[str, tuple[int, ...]]:
        """Seeds to run by row, in a grid that has run before."""
        has_run = any(any(stage.ended.values()) for stage in self.stages)
        rows = (one for stage in self.stages for one in stage.left if one.seeds)
        return {one.row: one.seeds for one in rows} if has_run else {}

    @property
    def device_hours(self) -> Range | None:
        """Device hours of all that is left; None if a part is unknown."""
        parts = [*(stage.device_hours for stage in self.stages), self.hours_of_scores]
        known = [part for part in parts if part is not None]
        return sum(known, exactly(0.0)) if len(known) == len(parts) else None

    @property
    def price(self) -> Range | None:
        """Price of all that is left; None without hours or an hourly price."""
        hours = self.device_hours
        return hours.times(self.price_per_hour) if hours is not None and self.price_per_hour else None


def price(
    left: Iterable[Left], resources: Resources, timed: Sequence[TimedWork], evaluations: Collection[str] = ()
) -> Range | None:
    """Return the device hours of cells: number times steps times seconds a step.

    The time of each cell outside its training loop is added, in which its own process makes these `evaluations`. None
    if no cell like these was timed.
    """
    hours, beside = exactly(0.0), exactly(seconds_beside(timed, evaluations))
    for one in left:
        pace = pace_of(timed, Conditions.wanted(one.trial, resources)) if one.num_cells else exactly(0.0)
        if pace is None:
            return None
        each = pace.times(work_of(one.trial, one.num_steps)) + beside
        hours += each.times(one.num_cells * resources.num_devices / 3600)
    return hours


def plan_study(
    checked: CheckedStudy,
    store: Path,
    prepare: PrepareMaterials | None = None,
    probe: TimeTrials | None = None,
) -> Plan:
    """Plan a study against its ledger in a store.

    Hours are those that `probe` measures, else those of cells in the store's ledgers, else those that the file states.
    `prepare` returns today's materials, without those that take long, for the identities of ended cells.
    """
    study, sizes = checked.study, DataSizes(data_dir(), checked.folder)
    folder = store / study.name
    history = history_of(checked, store, {trial.encoder.name for trial in trials_of(checked)})
    if probe is not None:
        history = replace(history, timed=probe(checked, folder), source="a probe on this machine")
    prepare = prepare and sizes.counting(prepare)
    rest = remaining(checked, folder, history.elsewhere, sizes.num_steps, prepare)
    history = _with_stated_hours(history, checked, sizes)
    hours_of_scores, missing = _hours_of_scores(checked, rest.scores, history.timed)
    notes = [*rest.notes, *_notes(checked, rest.left, history.timed), *sizes.supposed, *missing]
    return Plan(
        study=study.name,
        stages=tuple(_stages(checked, rest, history.timed)),
        scores=rest.scores,
        hours_of_scores=hours_of_scores,
        price_per_hour=study.allowance.price_per_hour,
        spent_hours=rest.ledger.device_seconds / 3600,
        source=history.source,
        notes=tuple(dict.fromkeys(notes)),
        footprint=footprint(checked, sum(one.num_cells + len(one.copied_from) for one in rest.left), sizes),
    )


def check_hours(planned: Plan, max_hours: float) -> list[str]:
    """Return a warning if the high estimate passes a limit; none if nothing is left.

    Raises OverBudget if the expected total does.
    """
    if planned.is_complete:
        return []
    hours, limit = planned.device_hours, f"max_hours = {max_hours:g}"
    if hours is None:
        rule, remedy = "the time of its cells is unknown", "Use --probe"
        raise InputError(limit, where=planned.study, rule=rule, remedy=remedy)
    whole = hours + exactly(planned.spent_hours)
    spent = f", {planned.spent_hours:.3g} of it spent" if planned.spent_hours else ""
    expected = f"{whole.mid:.3g} device hours expected ({whole.low:.3g} to {whole.high:.3g}{spent})"
    message = f"{planned.study}: {expected}, {limit}"
    if whole.mid > max_hours:
        raise OverBudget(message)
    return [message] if whole.high > max_hours else []


def _with_stated_hours(history: History, checked: CheckedStudy, sizes: DataSizes) -> History:
    """Add the stated `allowance.hours_per_cell` if nothing like the base was timed."""
    base, allowance = checked.study.base, checked.study.allowance
    wanted, stated = Conditions.wanted(base, checked.study.resources), allowance.hours_per_cell
    if stated is None or pace_of(history.timed, wanted) is not None:
        return history
    work = work_of(base, allowance.steps_per_cell or sizes.num_steps(base))
    timed = tuple(TimedWork(wanted, hours * 3600, work) for hours in stated)
    steps = f" of {allowance.steps_per_cell:,} steps" if allowance.steps_per_cell else ""
    told = f"{stated[0]:g} to {stated[1]:g} hours for a base cell{steps}, on another machine"
    return replace(history, timed=(*history.timed, *timed), source=f"allowance.hours_per_cell: {told}")


def _stages(checked: CheckedStudy, rest: Remaining, timed: Sequence[TimedWork]) -> Iterator[StagePlan]:
    study, budget, state = checked.study, checked.study.search_budget, rest.ledger.state
    for stage, resources in study.resources_by_stage.items():
        mine = tuple(one for one in rest.left if one.stage == stage)
        scored = study.evaluations_of_vectors if stage in ("grid", "confirm") else ()
        hours = price(mine, resources, timed, scored)
        if stage == "search" and budget and budget.device_hours and hours is not None:
            spent = sum(one.spent for one in state.budget if one.name == "device_hours") if state else 0.0
            hours = hours.at_most(max(0.0, budget.device_hours - spent))
        ended = Counter(one.status for one in rest.cells if one.stage == stage and one.status in FINISHED)
        yield StagePlan(stage, resources, ended, mine, hours)


def _hours_of_scores(
    checked: CheckedStudy, scores: ScoresLeft, timed: Sequence[TimedWork]
) -> tuple[Range | None, list[str]]:
    """Return the device hours of scores in tasks of their own, and notes on what they leave out."""
    study = checked.study
    resources = study.resources_by_stage.get("confirm", study.resources)
    of_vectors = study.evaluations_of_vectors
    hours = price(scores.retrained, resources, timed, of_vectors)
    if hours is not None:
        seconds = seconds_beside(timed, scores.missing.keys() & of_vectors)
        hours += exactly((scores.num_only - scores.num_retrained) * seconds * resources.num_devices / 3600)
    of_weights = [name for name in scores.missing if name not in of_vectors]
    evaluations, notes = list[Evaluation](), list[str]()
    for name in of_weights:
        try:
            evaluations.append(checked.read_evaluation(name, data_dir()))
        except InputError:
            notes.append(f"{name} is not in the data folder: its time is not included")
    if not evaluations:
        return hours, notes
    pace = pace_of(timed, Conditions.wanted(study.base, resources))
    if pace is None or hours is None:
        return None, notes
    num_models = max(scores.missing[name] for name in of_weights)
    work = num_models * sentences_of(evaluations) * FORWARD * SCORED
    return hours + pace.times(work * resources.num_devices / 3600), notes


def _notes(checked: CheckedStudy, left: Sequence[Left], timed: Sequence[TimedWork]) -> Iterator[str]:
    study, is_left = checked.study, any(one.num_cells for one in left)
    if is_left and study.grid is None:
        stopped = ", and as if none was stopped early" if checked.rungs else ""
        yield f"trials are unknown until {study.sampler.title} proposes them: each is priced as the base{stopped}"
        if study.ablation_path is not None:
            yield "path: as if base and best trial differed on every axis, until the search is over"
        if study.search_budget and any(study.search_budget.model_dump().values()):
            yield "search: it ends at its budget; confirmation and path come after it"
    if untimed := [*study.own_baselines, *(one for one in study.baselines if one == "flow")]:
        yield f"baselines {', '.join(untimed)}: their time is not included"
    if is_left and study.gives_seeds_until_decided:
        yield AT_MOST
    if is_left and study.base.replayed.recipe != "none":
        yield "unless it exists, the replayed set is built once before the first cell: its time is not included"
    for name, number in Counter(name for one in left for name in one.copied_from).items():
        yield (
            f"{number:,} finished cells will be copied from {name} instead of trained again, if they ran on a machine "
            "like this"
        )
    resources = study.resources_by_stage
    yield from assumptions(
        timed, {Conditions.wanted(one.trial, resources[one.stage]) for one in left if one.num_cells}
    )
