"""Records of a ledger: frozen, with nothing but JSON and numbers inside."""

import math
import re
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

if TYPE_CHECKING:
    from rse_study.results.item_scores import ItemScores
else:
    ItemScores = Any  # without numpy: `status` and completion read records alone

Status = Literal["planned", "running", "complete", "failed", "stopped_early"]
AttemptOutcome = Literal["running", "complete", "failed", "stopped_early", "lost"]
Stage = Literal["grid", "search", "confirm", "path"]
Verdict = Literal["continue", "stop"]
Direction = Literal["maximize", "minimize"]
BASE = "base"  # label of the trial of a search that has the base's settings
WITHDRAWN = "withdrawn"
PLANE = "t-sne"  # preset of an evaluation whose rows are places of sentences in the plane
FINISHED: tuple[Status, ...] = ("complete", "failed", "stopped_early")
FEWEST_TRIALS = 8  # for importance: below, the best tenth of them is a single one, without variation to share
COSTS = {"cost/work": "work of a cell, P*T", "cost/seconds": "seconds of a cell"}
"""Costs of a cell as metrics for choosing trials, with display names. Work is the computation of its training
(`methods.cost`); seconds are those of training and scoring on its machine."""


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
    "flow": "BERT-flow, no training",
}
FINE_TUNED = {"adversarial": "adversarial fine-tuning", "augmented": "augmented fine-tuning"}
BASELINES = {**ALWAYS_SHOWN, **TRAINING_FREE, **FINE_TUNED}
"""Shipped baselines and their display names; the first three are shown whether measured or not."""
# Begins the key of a user's own among a study's fingerprints, and of no evaluation.
OWN_BASELINE = "baseline: "


def own_subject(name: str, fingerprint: str) -> str:
    """Return the subject of a user's own baseline; other weights are another one."""
    return f"{name}:{fingerprint[:16]}"


def evaluation_name(task: str, split: str, preset: str) -> str:
    """Return the name of an evaluation in a study: STS-B/test, MR/fast."""
    return f"{task}/{preset or split}"


class Record(BaseModel):
    """A frozen row of the ledger; no Spec, since it configures nothing."""

    # NaN and infinities are results, too: JSON keeps them as strings.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


SELECTING = "dev"
"""The metric by which a cell chooses the checkpoint that it keeps."""


POINTS = "points"
LARGEST = 1e100  # squares of larger numbers, and their sums, overflow
IN_POINTS = re.compile(
    r"(accuracy|spearman|/f1|matthews|success_rate|words_changed|/drop|/wmean)(_under_attack)?( |$)"
    r"|/(test|dev)/all$|/invariance/mean$|/(fine_tuned|synonyms|t-sne|weakened)/"
)
"""Parts of the names of our own metrics that are shares, correlations or cosines x 100."""
DISTANCES = ("alignment", "uniformity", "drift")
"""Last words of our own metrics that are distances on the unit sphere; the papers print three decimals."""
LESS_IS_BETTER = ("success_rate", "drop", *DISTANCES)
"""Last words of our own metrics that an encoder should have little of. More queries or more changed words mean a harder
attack."""


def unit_by_name(metric: str) -> str:
    """Return POINTS of a metric that is known to be a score x 100, "" of any other."""
    is_known = metric in ("dev", "dev/kept") or bool(IN_POINTS.search(metric))
    return POINTS if is_known and ":" not in metric else ""


class Measure(Record):
    """A score of an evaluation as reports show it, with its unit and its margin.

    The tables above are for metrics that no measure names: older ledgers recorded none, and not everything measured is
    shown.
    """

    name: str
    metric: str
    direction: Direction = "maximize"
    unit: str = Field(default_factory=lambda given: unit_by_name(given.get("metric", "")))
    """POINTS for a score x 100, or another one ("s"); by default, that of its name"""
    margin: float | None = Field(None, ge=0, exclude_if=lambda margin: margin is None)
    """the largest difference that does not matter, in `unit`; None: the study's in points, 0 in any other unit"""


def _checked_time(text: str) -> str:
    if text:
        datetime.fromisoformat(text)
    return text


Time = Annotated[str, AfterValidator(_checked_time)]
"""ISO 8601; empty if there is none yet"""


def number_of(value: float | None) -> float:
    """Return a stored number; SQLite keeps NaN as NULL."""
    return math.nan if value is None else value


StoredNumber = Annotated[float, BeforeValidator(number_of, json_schema_input_type=float)]


class CellRecord(Record):
    """A cell: trial x seed, the unit that runs."""

    identity: str
    trial: int
    seed: int
    stage: Stage = "search"
    label: str = ""
    """Name of a grid's row, or of a search's baseline."""
    config: dict[str, Any]
    proposal: dict[str, Any] = Field(default_factory=dict)
    status: Status = "planned"
    reason: str = ""
    started: Time = ""
    ended: Time = ""
    duration_s: float = 0.0
    revision: int = 1
    """Revision of the study that first planned it."""
    retired: bool = False
    """No longer part of the newest revision, but kept."""
    provenance: dict[str, Any] = Field(default_factory=dict)

    @property
    def is_left_behind(self) -> bool:
        """Whether an interruption left the cell without an end, and it was not given up."""
        return self.status not in FINISHED and not self.reason


class RunProvenance(BaseModel, extra="allow"):
    """Versions and machine of a run; only what readers look into has a type."""

    packages: dict[str, str] = Field(default_factory=dict)
    libraries: dict[str, Any] = Field(default_factory=dict)
    gpus: float | None = None


class AttemptRecord(Record):
    """One attempt at a cell."""

    cell: str
    number: int
    executor: str
    workers: int
    threads: int
    started: Time
    ended: Time = ""
    outcome: AttemptOutcome = "running"
    """`lost`: it ended without a result, through no fault of its configuration."""
    reason: str = ""


class RungRow(Record):
    """Verdict on a cell at step `t`, and the value behind it."""

    cell: str
    t: int
    value: StoredNumber
    verdict: Verdict


class ImportanceRow(Record):
    """An axis's share of the objective's variation, as one evaluator estimates it."""

    axis: str
    evaluator: str
    value: StoredNumber
    low: StoredNumber = math.nan
    """Lower end of the 95% interval, by resampling trials; NaN in old ledgers."""
    high: StoredNumber = math.nan
    num_trials: int


class MetricRow(Record):
    """One metric value in a cell's history."""

    cell: str
    t: int
    name: str
    value: StoredNumber
    """May be NaN or infinite."""


class EvaluationRow(Record):
    """Score of a cell or baseline on a task."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    subject: str
    """A cell's identity, or a baseline (untrained, start, token_overlap)."""
    task: str
    split: str
    aggregation: str = "all"
    value: StoredNumber
    num_examples: int
    degenerate: bool = False
    """Measured on a collapsed model, which gives the same output for everything."""
    fingerprint: str = ""
    """Fingerprint of data and settings; WITHDRAWN if the subject's weights have changed since."""
    preset: str = ""
    """How it was measured, if there are several ways."""
    num_skipped: int = 0
    """Examples that could not be scored."""
    seed: int = 0
    items: ItemScores | None = Field(None, exclude=True, repr=False)
    """The score of each item, if the value is a mean or a Spearman of them; kept beside the ledger, not in it."""

    def __eq__(self, other: object) -> bool:
        """Whether both say the same score of the same; a ledger has no items."""
        return isinstance(other, EvaluationRow) and self._without_items == other._without_items

    def __hash__(self) -> int:
        return hash((self.subject, self.metric, self.fingerprint))

    @property
    def _without_items(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "items"}

    @property
    def evaluation(self) -> str:
        """Name in a study: task/split, or task/preset."""
        return evaluation_name(self.task, self.split, self.preset)

    @property
    def metric(self) -> str:
        """Name among metrics: evaluation/aggregation."""
        return f"{self.evaluation}/{self.aggregation}"


class Event(Record):
    """An event of the study or of one of its cells."""

    at: str
    kind: str
    text: str
    cell: str = ""
