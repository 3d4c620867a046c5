"""Parts of a study: objective, sampler, confirmation, ablation path, resources."""

import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

from rse_study.downstream import all_evaluations
from rse_study.registry import ClassPath, did_you_mean
from rse_study.results.records import COSTS
from rse_study.results.settings import Confirmation, Flips, UntilDecided
from rse_study.spec import Spec, field

LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
"""Pattern of a label's value, and of its key after a prefix such as ray.io/."""


class Resources(Spec):
    """What one cell uses.

    Bit-equality depends on `workers` and `threads`, so they are recorded, with the machine.
    """

    executor: Literal["auto", "train", "inline"] = "auto"
    """auto: train for GPUs or several workers, else inline"""
    workers: PositiveInt = 1
    """processes that train a cell together, each on its share of the batch"""
    threads: PositiveInt = 1
    """CPU threads of each worker"""
    gpus: float = field(0, ge=0, le=1)
    """GPUs of each worker, which drives one at most; a part of one (0.25) where a trial has one worker"""
    labels: dict[str, str] = Field(default_factory=dict)
    """of the nodes that may run it, for example {gpu: h100}: what Ray calls a label selector"""
    max_concurrent: NonNegativeInt = 0
    """cells at a time; 0 = as many as fit"""
    max_attempts: PositiveInt = 3
    """tries at a cell whose process was lost, in one run"""
    max_silence_s: PositiveFloat = 1800.0
    """seconds without a word before a cell is ended"""

    @field_validator("labels")
    @classmethod
    def _of_nodes(cls, labels: dict[str, str]) -> dict[str, str]:
        for text in (*(key.rpartition("/")[2] for key in labels), *labels.values()):
            if not LABEL.fullmatch(text):
                raise ValueError(f"{text!r} is not a label: letters and digits, and . _ - between them")
        return labels

    @property
    def runs_on(self) -> Literal["train", "inline"]:
        """The executor, with `auto` resolved."""
        if self.executor != "auto":
            return self.executor
        return "train" if self.gpus or self.workers > 1 else "inline"

    @property
    def num_devices(self) -> float:
        """Number of devices of a cell: GPUs or parts of them, or else CPU threads."""
        return float(self.workers * (self.gpus or self.threads))


def num_sharing(gpus: float) -> int:
    """Return how many workers with this part of a GPU fit on one.

    A part is never combined from two GPUs. Ray's smallest is 0.0001.

    >>> num_sharing(0.3), num_sharing(0.2), num_sharing(0.08)
    (3, 5, 12)
    """
    return int(1 / max(gpus, 1e-4) + 1e-9)


class Allowance(Spec):
    """Price of a device hour, and hours of a cell as others state them."""

    removed: ClassVar = dict.fromkeys(
        ("max_hours", "max_cost"),
        (
            "is no longer possible: the limit is given to the command, in device hours",
            "Use --max-hours, for money divided by the price of a device hour: a grid that would take longer is "
            "refused, and a search ends there (in its file: search_budget.device_hours)",
        ),
    )
    price_per_hour: NonNegativeFloat = 0.0
    """price of a device hour, in any currency"""
    hours_per_cell: tuple[PositiveFloat, PositiveFloat] | None = None
    """low and high for the base, told by others: prices what nothing alike here has measured"""
    steps_per_cell: NonNegativeInt = 0
    """optimiser steps that these hours are for; 0: those of the base as its file has it"""


METRICS = ("dev", "dev/kept", "loss", "robust/spearman", "robust/drift", "robust/accuracy")
LOWER_IS_BETTER = ("loss", "robust/drift", *COSTS)


def _may_select(metric: str) -> str:
    """Return a metric by which trials may be chosen; raise ValueError for others."""
    if "test" in metric:
        raise ValueError(f"{metric!r} is a test split, which can never select. Use `dev`")
    if metric.rpartition("/")[0] in all_evaluations():
        raise ValueError(f"{metric!r} is an evaluation's, and those never select. Use `dev`")
    known = (*METRICS, *COSTS)
    if metric not in known:
        raise ValueError(f"{metric!r} is not produced by training. {did_you_mean(metric, known)}")
    return metric


SelectingMetric = Annotated[str, AfterValidator(_may_select)]
"""dev, loss, robust/..., or what a cell costs: cost/work (P*T), cost/seconds; of a grid also dev/kept"""


class Objective(Spec):
    """What is optimised: a metric's value at a trial's last step.

    A search is never told the best value on the way. A grid, which optimises nothing, may show `dev/kept`: dev at the
    checkpoint that is kept (`selection.keep`), as papers do.
    """

    metric: SelectingMetric = "dev"
    """of dev pairs at the last step, or the kept checkpoint; of training; or of what is replayed under attack"""
    direction: Literal["maximize", "minimize"] = "maximize"
    """which way is better"""

    @model_validator(mode="after")
    def _towards_the_better(self) -> "Objective":
        better = "minimize" if self.metric in LOWER_IS_BETTER else "maximize"
        if self.direction != better:
            raise ValueError(f"a better {self.metric!r} is found by `direction: {better}`")
        return self


def _refuse_until(given: Any) -> Any:
    if isinstance(given, dict) and "until" in given:
        raise ValueError(
            "must be a list: only rows of a grid and confirmed trials get seeds until they are decided"
        )
    return given


def _kind_of_seeds(given: Any) -> str:
    return "until decided" if isinstance(given, dict | UntilDecided) else "listed"


Seed = Annotated[int, Field(strict=True, ge=0)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), BeforeValidator(_refuse_until)]
ListedOrDecided = Annotated[
    Annotated[Seeds, Tag("listed")] | Annotated[UntilDecided, Tag("until decided")],
    Discriminator(_kind_of_seeds),
]


class Sampler(Spec):
    """Who proposes the trials of a search.

    `tpe` (multivariate, with constant liar) or `gp` (Gaussian process) after some random draws, `cma_es` (numbers;
    choices are drawn uniformly), `nsga2` or `nsga3` (genetic), `random`, `quasi_random` (scrambled Sobol points) or
    `grid` (every combination of choices and short integer axes).
    """

    name: Literal["tpe", "gp", "cma_es", "nsga2", "nsga3", "random", "quasi_random", "grid"] = "tpe"
    """which of Optuna's"""
    num_startup: PositiveInt = 6
    """random draws before `tpe` or `gp` proposes"""
    population_size: int = field(10, ge=4, neutral=10)
    """trials of a generation of `cma_es`, `nsga2` or `nsga3`"""
    class_: ClassPath | None = field(None, alias="class", neutral=None)
    """instead of a name, `module:Class` of any BaseSampler of Optuna: of a file beside the study, or installed"""
    settings: dict[str, Any] = field({}, neutral={})
    """what `class` is made with, beside the seed"""

    @model_validator(mode="after")
    def _has_a_name_or_a_class(self) -> "Sampler":
        if self.class_ is None:
            if self.settings:
                raise ValueError("has settings, which are those of a class. Name it with `class`")
        elif "name" in self.model_fields_set:
            raise ValueError(
                "has a name and a class. Keep one (`name: null` takes away that of a file extended)"
            )
        else:
            self._has_no_settings_of_names()
        return self

    def _has_no_settings_of_names(self) -> None:
        for name in ("num_startup", "population_size"):
            if getattr(self, name) != type(self).model_fields[name].default:
                remedy = f"Write it below `settings` (if it is inherited: `{name}: null`)"
                raise ValueError(f"has {name}, which is of samplers with a name, and a class. {remedy}")

    @model_serializer(mode="wrap")
    def _as_before_classes(self, write: Callable[["Sampler"], dict[str, Any]]) -> dict[str, Any]:
        """Write a name or a class, as earlier studies were frozen with the name alone."""
        left_out = ("class", "class_", "name" if self.class_ else "settings")
        content = {key: value for key, value in write(self).items() if key not in left_out}
        return content | ({"class": self.class_} if self.class_ else {})

    @property
    def title(self) -> str:
        """The name, or the class, for readers."""
        return self.class_ or self.name


class Confirm(Confirmation):
    """What decides a search: its best trials and its baseline, run again.

    Their seeds have selected nothing.
    """

    seeds: ListedOrDecided = field()
    """none of the search's own; or {until: decided, at_least: 3, at_most: 16}: those that follow the search's, further
    ones for undecided trials only"""
    resources: Resources | None = None
    """of these cells; without it, the study's"""


class AblationPath(Flips):
    """What made the best trial of a search better than its base.

    Its axes are flipped one by one, from the base to it. Each point is trained anew (Fawcett & Hoos 2016; Biedenkapp
    et al. 2017).
    """

    seeds: Seeds = field()
    """none of the search's own; cells of seeds that `confirm` has run, too, are not run again"""
    resources: Resources | None = None
    """of these cells; without it, the study's"""
