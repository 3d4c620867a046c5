"""What a ledger holds: frozen records, nothing but JSON and numbers inside."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_serializer

from rse_study.results.settings import StudySettings

Status = Literal["planned", "running", "complete", "failed", "stopped_early"]
AttemptOutcome = Literal["running", "complete", "failed", "stopped_early", "lost"]
Stage = Literal["grid", "search", "confirm", "path"]
Verdict = Literal["continue", "stop"]
Direction = Literal["maximize", "minimize"]
"""the better end of a metric"""
OWN_COLUMNS = frozenset(
    {
        "row",
        "trial",
        "seed",
        "num_seeds",
        "stage",
        "label",
        "status",
        "objective",
        "t",
        "step",
        "time",
        "duration_s",
        "reason",
    }
    | {"identity", "best", "row", "started", "ended"}
)
"""Headings of the trials table, and of the public frame of cells, that no axis may take."""
WITHDRAWN = "withdrawn"
MINUS = " - "
"""Stands between two metrics of which the difference is meant."""
LESS_IS_BETTER_UNLESS_NOTED = ("success_rate", "alignment", "uniformity", "drift", "drop")
"""Aggregations of which an encoder should have little, where a study's `measures` do not name the metric: older ledgers
noted none, and not all that is measured is shown. More queries and more words changed: a harder attack."""
FINISHED: tuple[Status, ...] = ("complete", "failed", "stopped_early")
COSTS = {"cost/work": "work of a cell, P*T", "cost/seconds": "seconds of a cell"}
"""What a cell costs, as metrics that trials may be chosen by, and what readers call them. Work is what its training
computes (`methods.cost`); seconds are those of training and scoring, on the machine it ran on."""


ALWAYS_SHOWN = {
    "token_overlap": "token overlap",
    "untrained": "untrained encoder",
    "start": "before training",
}
TRAINING_FREE = {
    "cls": "[CLS], no training",
    "mean": "mean, no training",
    "first_last": "first-last mean, no training",
    "whitening": "whitened mean, no training",
}
BASELINES = {**ALWAYS_SHOWN, **TRAINING_FREE}
"""Subjects beside the trials, and what readers call them. The first three are shown whether measured or not."""


def evaluation_name(task: str, split: str, preset: str) -> str:
    """Return what a study calls an evaluation: STS-B/test, MR/fast.

    Parameters
    ----------
    task
        What is scored.
    split
        Of its data.
    preset
        How it is measured, where there is more than one way.
    """
    return f"{task}/{preset or split}"


class Record(BaseModel):
    """A row of the ledger, frozen.

    No Spec: it configures nothing and has no identity of its own.
    """

    # NaN and infinities are kept as JSON's strings: they are results too.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class ObjectiveRecord(Record):
    """What a search optimises: the value of `metric` at a cell's last step."""

    metric: str
    direction: Direction = "maximize"
    label: str = ""
    """For readers: "STS-B dev, Spearman x100"."""
    evaluation: str = ""
    """`EvaluationRow.metric` that measures the same thing on baselines: "STS-B/dev/all"."""

    @property
    def mark(self) -> str:
        """The metric that is 1 where a model had collapsed when `metric` was measured."""
        return f"{self.metric.partition('/')[0]}/degenerate"


class ConstraintRecord(Record):
    """A bound that a trial must keep to, to be chosen."""

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    label: str = ""
    """Of the metric, for readers."""

    def violation(self, value: float) -> float:
        """By how much a value of the metric breaks the bound.

        At most 0 where it keeps to it; NaN of a NaN.
        """
        if self.at_most is not None:
            return value - self.at_most
        assert self.at_least is not None, f"a constraint on {self.metric} without a bound"
        return self.at_least - value


class AxisRecord(Record):
    """One searched dimension: a name, the paths it writes, its domain."""

    name: str
    symbol: str = ""
    paths: tuple[str, ...]
    kind: Literal["int", "float", "choice"]
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[Any, ...] = ()
    """Values, or names of variants."""
    when: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """The axis it belongs to, and at which of its values; empty of one that is there in every trial."""

    @model_serializer(mode="wrap")
    def _as_before_conditions(self, write: Callable[["AxisRecord"], dict[str, Any]]) -> dict[str, Any]:
        """Records frozen before there were conditions have no `when`: neither has an axis without one."""
        content = write(self)
        return {name: value for name, value in content.items() if name != "when" or value}

    def is_active(self, proposal: Mapping[str, Any]) -> bool:
        """Return whether a trial with these values has the axis."""
        return all(proposal.get(name) in values for name, values in self.when.items())


class KnownTrial(Record):
    """What another study's trial came to: a search was told before it began."""

    study: str
    """The other one's name."""
    trial: int
    """Its number there."""
    proposal: dict[str, Any]
    """Its values by axis of this study."""
    values: tuple[float, ...]
    """Of the objectives, the mean over its seeds."""
    violations: tuple[float, ...] = ()
    """Of the constraints."""
    num_steps: int = 1
    """Optimiser steps behind the values, of all its seeds."""


class Measure(Record):
    """What readers see of an evaluation."""

    name: str
    """For readers."""
    metric: str
    """`EvaluationRow.metric`."""
    direction: Direction = "maximize"
    """Which way is better."""


class StudyRecord(Record):
    """A study as it was frozen before its first cell ran."""

    name: str
    title: str = ""
    question: str = ""
    objective: ObjectiveRecord
    """The one that is optimised, or the first of several: curves and tables show it."""
    other_objectives: tuple[ObjectiveRecord, ...] = ()
    """Of a search with several, the others."""
    constraints: tuple[ConstraintRecord, ...] = ()
    """What a trial must keep to, to be chosen."""
    kind: Literal["grid", "search"] = "search"
    axes: tuple[AxisRecord, ...] = ()
    num_trials: int = 0
    num_cells: int = 0
    """Planned in all: every seed of every row, confirmation included, as many seeds of a search's trials as there may
    be, and as many cells of an ablation path; `ablation_path.num_planned` says how many there are."""
    rungs: tuple[int, ...] = ()
    """Steps at which a cell may be stopped early."""
    evaluations: tuple[str, ...] = ()
    """By name, of every cell whose model is a result."""
    measures: tuple[Measure, ...] = ()
    """What is shown of the evaluations."""
    fingerprints: dict[str, str] = Field(default_factory=dict)
    """Of data and settings, by evaluation (the baselines' own, too): a score with another is no longer the study's."""
    search_seed: int = 0
    is_ended_by_budget: bool = Field(False, exclude=True)
    """Whether its budget has ended the search; never in a ledger: `search_budget.as_far_as_it_went` says it."""
    num_confirmable: int | None = Field(None, exclude=True)
    """Then: trials beside the base, of which no more than these can be confirmed."""
    known_trials: tuple[KnownTrial, ...] = ()
    """What the search was told before its first trial; no results of it."""
    resolved: dict[str, Any] = Field(default_factory=dict)

    @property
    def settings(self) -> StudySettings:
        """The sections of the study's file, by name."""
        return StudySettings.model_validate(self.resolved)

    @property
    def all_objectives(self) -> tuple[ObjectiveRecord, ...]:
        """The first, and the others of a search with several."""
        return (self.objective, *self.other_objectives)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Which way each objective is better."""
        return tuple(one.direction for one in self.all_objectives)

    @property
    def raced_seeds(self) -> tuple[int, ...]:
        """The seeds of a search that races them, in order; none where it runs one."""
        seeds = self.settings.seeds if self.kind == "search" else ()
        return seeds if len(seeds) > 1 else ()

    @property
    def shown_measures(self) -> tuple[Measure, ...]:
        """What readers are shown: `measures`.

        Of a ledger that has none, which knew similarity alone, the first aggregation of each evaluation.
        """
        return self.measures or tuple(Measure(name=name, metric=f"{name}/all") for name in self.evaluations)

    @property
    def encoder(self) -> str:
        """What is trained, as the study's file names it; empty where an axis says it."""
        return str(self.settings.of_base("encoder.name") or "")

    def is_less_better(self, metric: str = "") -> bool:
        """Whether an encoder should have little of a metric; of the objective without one.

        A difference of two, "one - other", is what an attack takes away.
        """
        if not metric:
            return self.objective.direction == "minimize"
        noted = {measure.metric: measure.direction for measure in self.shown_measures}
        if MINUS in metric or metric in noted:
            return MINUS in metric or noted[metric] == "minimize"
        return metric.rpartition("/")[2] in LESS_IS_BETTER_UNLESS_NOTED

    @property
    def headings(self) -> tuple[str, ...]:
        """A heading per axis, all different.

        Its symbol; its name where the symbol is absent or shared.
        """
        shown = [axis.symbol or axis.name for axis in self.axes]
        unique = [
            text if shown.count(text) == 1 and text not in OWN_COLUMNS else axis.name
            for text, axis in zip(shown, self.axes, strict=True)
        ]
        clashes = {text for text in unique if unique.count(text) > 1} | OWN_COLUMNS
        return tuple(
            f"{text} of {axis.paths[0]}" if text in clashes else text
            for text, axis in zip(unique, self.axes, strict=True)
        )


class CellRecord(Record):
    """Trial x seed: what runs."""

    identity: str
    trial: int
    seed: int
    stage: Stage = "search"
    label: str = ""
    """Names a row of a grid, or the baseline of a search."""
    config: dict[str, Any]
    """The whole trial."""
    proposal: dict[str, Any] = Field(default_factory=dict)
    """Its values by axis name."""
    status: Status = "planned"
    reason: str = ""
    started: str = ""
    """When its newest attempt began."""
    ended: str = ""
    """When its newest attempt ended."""
    duration_s: float = 0.0
    revision: int = 1
    """The edition of the study that planned it first."""
    retired: bool = False
    """No longer part of the study's newest revision, kept all the same."""
    provenance: dict[str, Any] = Field(default_factory=dict)
    """Its result's."""

    @property
    def is_left_behind(self) -> bool:
        """Whether an interruption left it without an end.

        By the status that the next run finds. One that was given up with a reason is none.
        """
        return self.status not in FINISHED and not self.reason


class AttemptRecord(Record):
    """One try at a cell."""

    cell: str
    number: int
    executor: str
    workers: int
    threads: int
    started: str
    ended: str = ""
    outcome: AttemptOutcome = "running"
    """`lost`: it ended without a result, through no fault of its configuration."""
    reason: str = ""


class RungRow(Record):
    """What was decided about a cell at step `t`, and the value it was decided on."""

    cell: str
    t: int
    value: float
    verdict: Verdict


class ImportanceRow(Record):
    """An axis' share in the objective's variation, by one evaluator."""

    axis: str
    evaluator: str
    value: float
    low: float = math.nan
    """Where its 95 % interval begins, by resampling the trials; NaN in ledgers that knew no interval."""
    high: float = math.nan
    """Where its interval ends."""
    num_trials: int
    """How many the evaluator had to go by."""


class Revision(Record):
    """One edition of a study."""

    number: int
    """Counted from 1."""
    at: str
    change: str
    """How it differs from the one before, in words."""
    study: StudyRecord


class MetricRow(Record):
    """One number of a cell's history."""

    cell: str
    t: int
    """Optimiser steps done."""
    name: str
    value: float
    """As it was seen: it may be NaN or infinite."""


class EvaluationRow(Record):
    """A task's score of a subject."""

    subject: str
    """A cell's identity, or a baseline (untrained, start, token_overlap)."""
    task: str
    split: str
    aggregation: str = "all"
    value: float
    num_examples: int
    degenerate: bool = False
    """Measured on a model that says one and the same of everything."""
    fingerprint: str = ""
    """Of its data and settings; WITHDRAWN: of weights that are no longer those of the subject."""
    preset: str = ""
    """How it was measured, where there is more than one way."""
    num_skipped: int = 0
    """Examples that could not count."""
    seed: int = 0
    """Of what the evaluation itself draws."""

    @property
    def evaluation(self) -> str:
        """What a study calls it: task/split, or task/preset."""
        return evaluation_name(self.task, self.split, self.preset)

    @property
    def metric(self) -> str:
        """The row's name among metrics: its evaluation/aggregation."""
        return f"{self.evaluation}/{self.aggregation}"


class Event(Record):
    """Something that happened to the study or to one of its cells."""

    at: str
    kind: str
    text: str
    cell: str = ""
