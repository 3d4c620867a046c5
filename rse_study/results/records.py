"""What a ledger holds: frozen records, nothing but JSON and numbers inside."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Status = Literal["planned", "running", "complete", "failed", "stopped_early"]
OWN_COLUMNS = frozenset(
    {"trial", "seed", "status", "objective", "t", "step", "time", "duration_s", "reason", "identity", "best"}
)
"""Headings of the trials table that no axis may take."""
FINISHED: tuple[Status, ...] = ("complete", "failed", "stopped_early")


BASELINES = {
    "token_overlap": "token overlap",
    "untrained": "untrained encoder",
    "start": "before training",
}
"""Subjects always shown beside the trials, measured or not, and what readers call them."""


class Record(BaseModel):
    """A row of the ledger, frozen. No Spec: it configures nothing and has no identity of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Objective(Record):
    """What a search optimises: the value of `metric` at a cell's last step."""

    metric: str
    direction: Literal["maximize", "minimize"] = "maximize"
    label: str = ""
    """For readers: "STS-B dev, Spearman x100"."""
    evaluation: str = ""
    """`EvaluationRow.metric` that measures the same thing on baselines: "STS-B/dev/all"."""


class Axis(Record):
    """One searched dimension: a name, the configuration paths it writes, its domain."""

    name: str
    symbol: str = ""
    paths: tuple[str, ...]
    kind: Literal["int", "float", "choice"]
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[Any, ...] = ()


class StudyRecord(Record):
    """A study as it was frozen before its first cell ran."""

    name: str
    title: str = ""
    question: str = ""
    objective: Objective
    axes: tuple[Axis, ...] = ()
    num_trials: int = 0
    search_seed: int = 0
    resolved: dict[str, Any] = Field(default_factory=dict)

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
    """Trial x seed: what runs. `proposal`: searched values by axis name; `config`: the whole trial."""

    identity: str
    trial: int
    seed: int
    config: dict[str, Any]
    proposal: dict[str, Any] = Field(default_factory=dict)
    status: Status = "planned"
    reason: str = ""
    started: str = ""
    ended: str = ""
    duration_s: float = 0.0


class MetricRow(Record):
    """One number of a cell's history at step `t`; it may be NaN or infinite, as it was seen."""

    cell: str
    t: int
    name: str
    value: float


class EvaluationRow(Record):
    """A task's score of a subject: a cell's identity, or a baseline (untrained, start, token_overlap)."""

    subject: str
    task: str
    split: str
    aggregation: str = "all"
    value: float
    num_examples: int
    degenerate: bool = False
    fingerprint: str = ""

    @property
    def metric(self) -> str:
        """The row's name among metrics: task/split/aggregation."""
        return f"{self.task}/{self.split}/{self.aggregation}"


class Event(Record):
    """Something that happened to the study or to one of its cells."""

    at: str
    kind: str
    text: str
    cell: str = ""
