"""A trial: one complete configuration, defaults written out."""

from math import cos, pi
from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, field_validator, model_validator

from rse_study.data.corpus import Corpus
from rse_study.methods import AnyMethod, RobustSentEmbed
from rse_study.methods.presets import with_preset
from rse_study.models.pooling import PoolingKind
from rse_study.spec import Spec, field


class Encoder(Spec):
    """The base encoder and how its token vectors become a sentence vector."""

    # A hub name, a folder, or the asset `tiny` or `minilm`.
    name: str = field("bert-base-uncased", min_length=1)
    pooling: PoolingKind = "cls"
    template: str = ""  # prompt pooling: `This sentence of "[X]" means [MASK].`
    revision: str = "main"

    @model_validator(mode="after")
    def _template_for_prompt(self) -> "Encoder":
        if (self.pooling == "prompt") != bool(self.template):
            raise ValueError('pooling: prompt and a template (with "[X]" and "[MASK]") need each other')
        return self


class AdamW(Spec):
    """AdamW with decay to 0 over the full budget, no warm-up, one global norm clip (RobustSentEmbed is silent)."""

    lr: PositiveFloat = field(7e-6, symbol="xi")
    beta1: float = field(0.9, ge=0, lt=1)
    beta2: float = field(0.999, ge=0, lt=1)
    epsilon: PositiveFloat = 1e-8
    weight_decay: NonNegativeFloat = 0.0
    max_norm: PositiveFloat = 1.0  # over all trained parameters, D's included
    schedule: Literal["linear", "cosine"] = field("linear", neutral="linear")

    def rate(self, step: int, num_steps: int) -> float:
        """Learning rate of a step, counted from 0."""
        done = step / num_steps
        return self.lr * ((1 + cos(pi * done)) / 2 if self.schedule == "cosine" else 1 - done)


class Budget(Spec):
    """How long a trial trains."""

    unit: Literal["epochs", "steps"] = "epochs"
    amount: PositiveInt = 4

    def num_steps(self, steps_per_epoch: int) -> int:
        """Optimiser steps."""
        return self.amount * (steps_per_epoch if self.unit == "epochs" else 1)


class Selection(Spec):
    """Which checkpoint becomes the trial's model. A sampler is told the last value whatever is kept here."""

    dev: Literal["STS-B", "builtin"] = "STS-B"  # dev pairs; test splits can never select
    every: PositiveInt = 250  # steps; and at the end
    keep: Literal["best", "last"] = "best"


class Trial(Spec):
    """One configuration of everything that decides a cell's numbers, but the seed."""

    method: AnyMethod = Field(default_factory=RobustSentEmbed)
    encoder: Encoder = Encoder()
    corpus: Corpus = Corpus()
    optimizer: AdamW = AdamW()
    budget: Budget = Budget()
    batch_size: int = field(64, ge=2)  # of the global batch, over all workers
    max_length: int = field(32, ge=4, le=512)  # tokens in training; evaluation never truncates to it
    precision: Literal["float32", "bf16", "float64"] = "float32"
    selection: Selection = Selection()
    report_every: PositiveInt = 10  # steps between two points of the history

    _with_preset = field_validator("method", mode="before")(with_preset)
