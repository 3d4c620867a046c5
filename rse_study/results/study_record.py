"""The frozen study of a ledger: objectives, axes, settings, margin."""

from collections.abc import Mapping
from operator import not_
from typing import Any, Literal

from pydantic import Field, ValidationError

from rse_study.errors import InputError
from rse_study.results import records
from rse_study.results.manipulation import ManipulationCheck
from rse_study.results.records import LESS_IS_BETTER, POINTS, Direction, Measure, Record, unit_by_name
from rse_study.results.settings import ConfirmSettings, StudySettings

OWN_COLUMNS = frozenset((
    "row", "trial", "seed", "num_seeds", "stage", "label", "status", "objective", "t", "step", "time", "duration_s",
    "reason", "identity", "best", "started", "ended",
))  # fmt: skip
"""Headings that no axis may take, in the trials table and in the public frame of cells."""
MINUS = " - "
AT_CHECKPOINT = "/kept"
"""Ending of a metric's name: its value at the checkpoint that is kept, not at the last step."""
DEFAULT_MARGIN = 0.5
"""Points of a score x 100, such as a correlation or an accuracy."""


class ObjectiveRecord(Record):
    """The objective of a study: a metric at a cell's last step or kept checkpoint."""

    metric: str
    direction: Direction = "maximize"
    label: str = ""
    """Display name: "STS-B dev, Spearman x100"."""
    evaluation: str = ""
    """`EvaluationRow.metric` that measures the same on baselines: "STS-B/dev/all"."""

    @property
    def mark(self) -> str:
        """The metric that is 1 where the model had collapsed when `metric` was measured."""
        return f"{self.curve.partition('/')[0]}/degenerate{self.metric.removeprefix(self.curve)}"

    @property
    def curve(self) -> str:
        """The metric whose values step by step it is one of."""
        return self.metric.removesuffix(AT_CHECKPOINT)


class ConstraintRecord(Record):
    """A bound that a trial must keep to be chosen."""

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    label: str = ""

    def violation(self, value: float) -> float:
        """Return by how much a value breaks the bound; at most 0 if it keeps it."""
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
    when: dict[str, tuple[Any, ...]] = Field(default_factory=dict, exclude_if=not_)
    """The parent axis and the values at which this axis exists; empty, and omitted as in records frozen
    before conditions existed, if it always does."""

    def is_active(self, proposal: Mapping[str, Any]) -> bool:
        """Whether a trial with these values has the axis."""
        return all(proposal.get(name) in values for name, values in self.when.items())


class StudyRecord(Record):
    """A study as it was frozen before its first cell ran."""

    name: str
    title: str = ""
    question: str = ""
    objective: ObjectiveRecord
    """The optimised one, or the first of several: curves and tables show it."""
    other_objectives: tuple[ObjectiveRecord, ...] = ()
    constraints: tuple[ConstraintRecord, ...] = ()
    kind: Literal["grid", "search"] = "search"
    axes: tuple[AxisRecord, ...] = ()
    num_trials: int = 0
    num_cells: int = 0
    """upper bound on the planned cells; `SearchState.num_planned` gives the actual number"""
    rungs: tuple[int, ...] = ()
    """Steps at which a cell may be stopped early."""
    evaluations: tuple[str, ...] = ()
    """Names of the evaluations of every cell whose model is a result."""
    measures: tuple[Measure, ...] = ()
    fingerprints: dict[str, str] = Field(default_factory=dict)
    """Fingerprints of data and settings, also of baselines: a score with another one is outdated."""
    search_seed: int = 0
    is_cut_short: bool = Field(False, exclude=True)
    """Whether the search ended before its trials did; never stored: `search.state` sets it."""
    num_confirmable: int | None = Field(None, exclude=True)
    """If so, the most trials, besides the base, that can be confirmed."""
    known_trials: tuple[dict[str, Any], ...] = ()
    """Another `study`'s trials that an earlier version gave to the search before its first one; not results of it."""
    checks: tuple[ManipulationCheck, ...] = ()
    """Manipulation checks of its methods; empty where an older version froze it."""
    unchecked: tuple[str, ...] = ()
    """Methods that name no checks."""
    resolved: dict[str, Any] = Field(default_factory=dict)
    file: str = Field("", exclude_if=not_)
    """Path of the file that made this revision; empty, and omitted, where an older version froze it."""
    file_hash: str = Field("", exclude_if=not_)

    @property
    def settings(self) -> StudySettings:
        try:
            return StudySettings.model_validate(self.resolved)
        except (ValidationError, AttributeError, TypeError) as error:
            said = "`seeds` or `confirm` has another form"
            if isinstance(error, ValidationError):
                said = error.errors()[0]["msg"]
            raise InputError(
                f"the frozen study: {said}",
                where=self.name,
                rule="this version does not know these settings",
                remedy="Read it with the version that ran it",
            ) from None

    @property
    def baselines(self) -> dict[str, str]:
        """Display names of all baselines by subject, the shipped ones first."""
        named = {key.partition(records.OWN_BASELINE)[2]: one for key, one in self.fingerprints.items()}
        own = {records.own_subject(name, one): name for name, one in named.items() if name}
        return records.BASELINES | own

    @property
    def all_objectives(self) -> tuple[ObjectiveRecord, ...]:
        return (self.objective, *self.other_objectives)

    @property
    def directions(self) -> tuple[Direction, ...]:
        return tuple(one.direction for one in self.all_objectives)

    @property
    def search_seeds(self) -> tuple[int, ...]:
        """Seeds of a search's trials, in order; none where each runs a single one."""
        seeds = self.settings.seeds if self.kind == "search" else ()
        return seeds if len(seeds) > 1 else ()

    @property
    def further_seeds(self) -> tuple[int, ...]:
        """The seeds of a search's trials after the first."""
        return self.search_seeds[1:]

    @property
    def confirm_settings(self) -> ConfirmSettings:
        """Settings of the confirmation, with no more trials than a budget has left."""
        plan = self.settings.confirm
        plan = plan.model_copy(update={"num_best": plan.num_best * max(1, len(self.tuned))})
        if self.num_confirmable is None:
            return plan
        return plan.model_copy(update={"num_best": min(plan.num_best, self.num_confirmable)})

    @property
    def tuned(self) -> tuple[Any, ...]:
        """Values of the axis whose every value gets as many trials; empty without one."""
        return next((axis.choices for axis in self.axes if axis.name == self.settings.tune_each), ())

    @property
    def shown_measures(self) -> tuple[Measure, ...]:
        """Measures that reports show; old ledgers without any show similarity alone."""
        return self.measures or tuple(Measure(name=name, metric=f"{name}/all") for name in self.evaluations)

    @property
    def encoder(self) -> str:
        """Name of the encoder in the study's file; empty where an axis sets it."""
        return str(self.settings.of_base("encoder.name") or "")

    def is_less_better(self, metric: str = "") -> bool:
        """Whether less of a metric is better: of a difference, of losses under attack."""
        if not metric:
            return self.objective.direction == "minimize"
        if MINUS in metric:
            return metric.endswith("/accuracy_under_attack")
        noted = {measure.metric: measure.direction for measure in self.shown_measures}
        if metric in noted:
            return noted[metric] == "minimize"
        return metric.rpartition("/")[2] in LESS_IS_BETTER

    @property
    def headings(self) -> tuple[str, ...]:
        """Unique heading per axis: its symbol, or its name where that is absent or shared."""
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

    @property
    def heading_of(self) -> dict[str, str]:
        """The heading of each axis by its name."""
        return dict(zip((axis.name for axis in self.axes), self.headings, strict=True))


def margin_of(study: StudyRecord, metric: str = "") -> float:
    """Return the margin of a metric in its unit, by default of the objective.

    0 means none. A study's own `margin` is in the unit of its objective, and holds for all metrics in that unit whose
    measure has no margin of its own.
    """
    objective, given = study.objective, study.settings.margin
    if given is not None and metric in ("", objective.metric, objective.evaluation):
        return given
    metric = metric or objective.metric
    own = next((one.margin for one in study.shown_measures if one.metric == metric), None)
    if own is not None or not is_in_points(study, metric):
        return own or 0.0
    return given if given is not None and is_in_points(study, objective.metric) else DEFAULT_MARGIN


def is_in_points(study: StudyRecord, metric: str) -> bool:
    """Whether a metric is a score x 100."""
    return unit_of(study, metric) == POINTS


def unit_of(study: StudyRecord, metric: str) -> str:
    """Return the unit of a metric, by its measure or else its name; "" if unknown."""
    units = {one.metric: one.unit for one in study.shown_measures}
    found = {units.get(part, unit_by_name(part)) for part in (metric or study.objective.metric).split(MINUS)}
    return found.pop() if len(found) == 1 else ""
