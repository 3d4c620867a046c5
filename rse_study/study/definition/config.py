"""The study: a question, the base trial, the grid or the space around it, and how it is run."""

from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from rse_study.downstream.registry import all_evaluations
from rse_study.downstream.settings import Attacks, Settings, Tasks
from rse_study.registry import did_you_mean
from rse_study.spec import Spec, field
from rse_study.study.definition.domains import AnyDomain, FiniteDomain
from rse_study.training.classifier.spec import FineTuning
from rse_study.training.trial import Trial

METRICS = ("dev", "loss", "robust/spearman", "robust/drift", "robust/accuracy")
LOWER_IS_BETTER = ("loss", "robust/drift")
Baseline = Literal["token_overlap", "untrained", "start", "cls", "mean", "first_last", "whitening"]
Seed = Annotated[int, Field(strict=True, ge=0)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1)]


class Sampler(Spec):
    """Who proposes: `tpe` (multivariate, with constant liar) after `num_startup` random draws, `random`,
    `quasi_random` (scrambled Sobol points) or `grid` (every combination of choices and short integer axes)."""

    name: Literal["tpe", "random", "quasi_random", "grid"] = "tpe"
    num_startup: PositiveInt = 6


class Objective(Spec):
    """What is optimised: a metric's value at a trial's last step, never the best one so far."""

    metric: str = "dev"
    direction: Literal["maximize", "minimize"] = "maximize"

    @field_validator("metric")
    @classmethod
    def _produced(cls, metric: str) -> str:
        if "test" in metric:
            raise ValueError(f"{metric!r} is a test split, which can never select; use `dev`")
        if metric.rpartition("/")[0] in all_evaluations():
            raise ValueError(
                f"{metric!r} is an evaluation's, and those never select, watched or not; use `dev`"
            )
        if metric not in METRICS:
            raise ValueError(f"{metric!r} is not produced by training. {did_you_mean(metric, METRICS)}")
        return metric

    @model_validator(mode="after")
    def _towards_the_better(self) -> "Objective":
        better = "minimize" if self.metric in LOWER_IS_BETTER else "maximize"
        if self.direction != better:
            raise ValueError(f"a better {self.metric!r} is found by `direction: {better}`")
        return self


class Asha(Spec):
    """Asynchronous successive halving (Li et al. 2020): at each rung a cell goes on if it is among the best
    1/factor of all that got there. `first`: optimiser steps at the first rung; the next ones are `factor` times as
    far, below the full budget."""

    name: Literal["asha"] = "asha"
    first: PositiveInt
    factor: int = field(3, ge=2)


class Grid(Spec):
    """Every combination of `axes` (values by axis name), and `rows`: settings by path, laid over the base.

    An axis is a list of values, or `{choice: [...], into: [...]}`. A row may be empty: it is the base itself.
    `baseline`: the row of `rows` that every other is compared with, seed by seed.
    """

    axes: dict[str, FiniteDomain] = Field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = Field(default_factory=dict)
    baseline: str = ""


class Resources(Spec):
    """What one cell uses. Bit-equality depends on `workers` and `threads`, so they are recorded."""

    executor: Literal["auto", "train", "inline"] = field(
        "auto", description="auto: train for GPUs or several workers, else inline"
    )
    workers: PositiveInt = 1
    threads: PositiveInt = field(1, description="CPU threads of each worker")
    gpus: int = field(0, ge=0, le=1, description="GPUs of each worker, which drives one at most")
    max_concurrent: NonNegativeInt = field(0, description="cells at a time; 0 = as many as fit")
    max_attempts: PositiveInt = field(3, description="tries at a cell whose process was lost, in one run")
    max_silence_s: PositiveFloat = field(1800.0, description="seconds without a word before a cell is ended")

    @property
    def runs_on(self) -> Literal["train", "inline"]:
        """The executor, `auto` resolved."""
        if self.executor != "auto":
            return self.executor
        return "train" if self.gpus or self.workers > 1 else "inline"


class Confirm(Spec):
    """What decides a search: its best trials and its baseline again, with seeds that selected nothing."""

    num_best: PositiveInt = 1
    baseline: Literal["base", "none"] = "base"
    seeds: Seeds = field()
    resources: Resources | None = None  # of these cells; without it, the study's


class Allowance(Spec):
    """What the study may cost; 0 = no limit. `run` and `plan` refuse what will not stay below (exit code 4)."""

    max_hours: NonNegativeFloat = field(0.0, description="device hours")
    max_cost: NonNegativeFloat = 0.0
    price_per_hour: NonNegativeFloat = field(0.0, description="price of a device hour, in any currency")
    hours_per_cell: tuple[PositiveFloat, PositiveFloat] | None = field(
        None,
        description="low and high for the base, told by others: prices what nothing alike here has measured",
    )


class Paper(Spec):
    """The table or figure of a paper that a grid repeats; its claims are checked on the grid's rows.

    `scale`: `mini` says "same direction here" where `paper` says "reproduced": a small encoder proves nothing about a
    large one.
    """

    table: str = field("", description="for example rse-table6; empty: of no table of a paper")
    scale: Literal["paper", "mini"] = "paper"


class Study(Spec):
    """A question about the method, asked as a grid or a search around a base trial."""

    name: str = field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)
    question: str = field(min_length=1)
    base: Trial
    grid: Grid | None = None
    search: dict[str, AnyDomain] | None = field(None, min_length=1, description="at least one axis")
    num_trials: PositiveInt = field(16, description="of a search")
    sampler: Sampler = Sampler()
    search_seed: NonNegativeInt = 0
    early_stopping: Asha | None = None
    seeds: Seeds = (0,)
    objective: Objective = Objective()
    evaluations: tuple[str, ...] = field(
        (), description="task/split, task/preset or task/recipe; in a search, of confirmed trials only"
    )
    attacks: Attacks = Attacks()
    fine_tuning: FineTuning = field(FineTuning(), description="of the classifiers that evaluations ask for")
    tasks: Tasks = field(Tasks(), description="of evaluations that end in /fine_tuned")
    confirm: Confirm | None = None
    paper: Paper | None = None
    keep_models: Literal["final", "best", "none"] = "final"
    resources: Resources = Resources()
    budget: Allowance = Allowance()
    baselines: tuple[Baseline, ...] = field(
        ("token_overlap", "untrained", "start"),
        description="cls, mean, first_last, whitening: the base's weights pooled so, without training or template",
    )

    @property
    def settings(self) -> Settings:
        """How its evaluations are asked."""
        return Settings(self.attacks, self.fine_tuning, self.tasks)
