"""The study: a question, the base trial, the space around it, and how it is searched."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from rse_study.spec import Spec, field
from rse_study.study.domains import AnyDomain
from rse_study.training.trial import Trial

METRICS = ("dev", "loss")
Baseline = Literal["token_overlap", "untrained", "start"]


class Sampler(Spec):
    """Who proposes: `tpe` (multivariate, with constant liar) after `num_startup` random draws, or `random`."""

    name: Literal["tpe", "random"] = "tpe"
    num_startup: PositiveInt = 6


class Objective(Spec):
    """What is optimised: a metric's value at a trial's last step, never the best one so far."""

    metric: str = "dev"
    direction: Literal["maximize", "minimize"] = "maximize"

    @model_validator(mode="after")
    def _produced(self) -> "Objective":
        if "test" in self.metric:
            raise ValueError(f"metric {self.metric!r} is a test split, which can never select; use `dev`")
        if self.metric not in METRICS:
            raise ValueError(
                f"metric {self.metric!r} is not produced by training; known: {', '.join(METRICS)}"
            )
        return self


class Resources(Spec):
    """What one trial uses. Bit-equality depends on `threads`, so they are recorded."""

    workers: PositiveInt = 1
    threads: PositiveInt = field(1, description="CPU threads of each worker")
    gpus: NonNegativeInt = field(0, description="GPUs of each worker")
    max_concurrent: NonNegativeInt = field(0, description="trials at a time; 0 = as many as fit")


class Study(Spec):
    """A question about the method, asked as a search around a base trial."""

    name: str = field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)
    question: str = field(min_length=1)
    base: Trial
    search: dict[str, AnyDomain] = field(min_length=1, description="at least one axis")
    num_trials: PositiveInt = 16
    sampler: Sampler = Sampler()
    search_seed: NonNegativeInt = 0
    seeds: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1, max_length=1)] = (
        0,
    )  # a search runs one seed
    objective: Objective = Objective()
    resources: Resources = Resources()
    baselines: tuple[Baseline, ...] = ("token_overlap", "untrained", "start")
