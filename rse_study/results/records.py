"""What a ledger holds: frozen records, nothing but JSON and numbers inside."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Status = Literal["planned", "running", "complete", "failed", "stopped_early"]
AttemptOutcome = Literal["running", "complete", "failed", "stopped_early", "lost"]
Stage = Literal["grid", "search", "confirm"]
Verdict = Literal["continue", "stop"]
OWN_COLUMNS = frozenset(
    {"trial", "seed", "stage", "label", "status", "objective", "t", "step", "time", "duration_s", "reason"}
    | {"identity", "best"}
)
"""Headings of the trials table that no axis may take."""
WITHDRAWN = "withdrawn"
MINUS = " - "
"""Stands between two metrics of which the difference is meant."""
LESS_IS_BETTER_UNLESS_NOTED = ("success_rate", "alignment", "uniformity", "drift", "drop")
"""Aggregations of which an encoder should have little, where a study's `measures` do not name the metric: older ledgers
noted none, and not all that is measured is shown. More queries and more words changed: a harder attack."""
FINISHED: tuple[Status, ...] = ("complete", "failed", "stopped_early")


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
    """What a study calls an evaluation: STS-B/test, MR/fast."""
    return f"{task}/{preset or split}"


class Record(BaseModel):
    """A row of the ledger, frozen. No Spec: it configures nothing and has no identity of its own."""

    # NaN and infinities are kept as JSON's strings: they are results too.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class ObjectiveRecord(Record):
    """What a search optimises: the value of `metric` at a cell's last step."""

    metric: str
    direction: Literal["maximize", "minimize"] = "maximize"
    label: str = ""
    """For readers: "STS-B dev, Spearman x100"."""
    evaluation: str = ""
    """`EvaluationRow.metric` that measures the same thing on baselines: "STS-B/dev/all"."""


class AxisRecord(Record):
    """One searched dimension: a name, the configuration paths it writes, its domain."""

    name: str
    symbol: str = ""
    paths: tuple[str, ...]
    kind: Literal["int", "float", "choice"]
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[Any, ...] = ()


class Measure(Record):
    """What readers see of an evaluation: a name, `EvaluationRow.metric`, and which way is better."""

    name: str
    metric: str
    direction: Literal["maximize", "minimize"] = "maximize"


class StudyRecord(Record):
    """A study as it was frozen before its first cell ran."""

    name: str
    title: str = ""
    question: str = ""
    objective: ObjectiveRecord
    kind: Literal["grid", "search"] = "search"
    axes: tuple[AxisRecord, ...] = ()
    num_trials: int = 0
    num_cells: int = 0  # planned in all: every seed of every row, confirmation included
    rungs: tuple[int, ...] = ()  # steps at which a cell may be stopped early
    evaluations: tuple[str, ...] = ()  # by name, of every cell whose model is a result
    measures: tuple[Measure, ...] = ()  # what is shown of them
    fingerprints: dict[str, str] = Field(default_factory=dict)
    """Of data and settings, by evaluation (the baselines' own, too): a score with another is no longer the study's."""
    search_seed: int = 0
    resolved: dict[str, Any] = Field(default_factory=dict)

    @property
    def shown_measures(self) -> tuple[Measure, ...]:
        """`measures`; of a ledger that has none, which knew similarity alone, the first aggregation of each."""
        return self.measures or tuple(Measure(name=name, metric=f"{name}/all") for name in self.evaluations)

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
        """A heading per axis, all different: its symbol; its name where the symbol is absent or shared."""
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
    """Trial x seed: what runs. `proposal`: searched values by axis name; `config`: the whole trial.

    `label` names a row of a grid, or the baseline of a search. `retired`: no longer part of the study's newest
    revision, kept all the same. `revision` is the one that planned the cell first. `started` and `ended` are those of
    its newest attempt; `provenance` is its result's.
    """

    identity: str
    trial: int
    seed: int
    stage: Stage = "search"
    label: str = ""
    config: dict[str, Any]
    proposal: dict[str, Any] = Field(default_factory=dict)
    status: Status = "planned"
    reason: str = ""
    started: str = ""
    ended: str = ""
    duration_s: float = 0.0
    revision: int = 1
    retired: bool = False
    provenance: dict[str, Any] = Field(default_factory=dict)


class AttemptRecord(Record):
    """One try at a cell. `lost`: it ended without a result, through no fault of its configuration."""

    cell: str
    number: int
    executor: str
    workers: int
    threads: int
    started: str
    ended: str = ""
    outcome: AttemptOutcome = "running"
    reason: str = ""


class RungRow(Record):
    """What was decided about a cell at step `t`, and the value it was decided on."""

    cell: str
    t: int
    value: float
    verdict: Verdict


class ImportanceRow(Record):
    """An axis' share in the objective's variation, by one evaluator over so many trials."""

    axis: str
    evaluator: str
    value: float
    num_trials: int


class Revision(Record):
    """One edition of a study; `change` says in words how it differs from the one before."""

    number: int
    at: str
    change: str
    study: StudyRecord


class MetricRow(Record):
    """One number of a cell's history at step `t`; it may be NaN or infinite, as it was seen."""

    cell: str
    t: int
    name: str
    value: float


class EvaluationRow(Record):
    """A task's score of a subject: a cell's identity, or a baseline (untrained, start, token_overlap).

    `preset`: how it was measured, where there is more than one way. `num_skipped`: examples that could not count.
    `seed`: of what the evaluation itself draws. `fingerprint`: of its data and settings; WITHDRAWN: of weights that
    are no longer those of the subject.
    """

    subject: str
    task: str
    split: str
    aggregation: str = "all"
    value: float
    num_examples: int
    degenerate: bool = False
    fingerprint: str = ""
    preset: str = ""
    num_skipped: int = 0
    seed: int = 0

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
