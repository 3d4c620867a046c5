"""A trial: one complete configuration, defaults written out."""

import re
from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import count
from math import ceil, cos, pi
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from rse_study.data.corpus import Corpus
from rse_study.data.hub_models import Model
from rse_study.data.own_tables import ENDING, Rewrites
from rse_study.errors import InputError
from rse_study.evaluation.attacks.recipes import REPLAYABLE
from rse_study.methods import AnyMethod
from rse_study.methods.method import FORWARD, StepCost
from rse_study.methods.presets import with_preset
from rse_study.methods.robust_sent_embed import RobustSentEmbed
from rse_study.models.pooling import PoolingKind
from rse_study.registry import ClassPath
from rse_study.spec import Spec, canonical_json, field


class Encoder(Spec):
    """The base encoder and how its token vectors become a sentence vector."""

    semantics: ClassVar[int] = 2  # padding draws no dropout any more. Decision 0025.
    name: str = field("bert-base-uncased", min_length=1)
    """a hub name, a folder, or the asset `tiny`, `tiny-vectors` or `minilm`"""
    pooling: PoolingKind = "cls"
    """a sentence's vector: [CLS], the tokens' mean, that of two layers, of convolutions, or a prompt's [MASK]"""
    template: str = ""
    """prompt pooling alone has one, such as `This sentence of "[X]" means [MASK].`"""
    prompt: str = field("", neutral="")
    """text before every sentence, such as "query: ", and a part of it; empty: the model's own default prompt"""
    revision: str = "main"
    """branch, tag or commit on the hub; not used for a folder"""

    @model_validator(mode="after")
    def _template_for_prompt(self) -> "Encoder":
        if (self.pooling == "prompt") != bool(self.template):
            raise ValueError('pooling: prompt and a template (with "[X]" and "[MASK]") need each other')
        return self

    @field_validator("prompt", mode="before")
    @classmethod
    def _one_text(cls, given: Any) -> Any:
        if isinstance(given, dict):
            raise ValueError('is one text for both sides of a pair. For example: prompt: "query: "')
        return given

    def reading(self) -> dict[str, str]:
        """Return how a sentence is read, as keys of what is made once have it."""
        prompt = {"prompt": self.prompt} if self.prompt else {}
        return {"pooling": self.pooling, "template": self.template, **prompt}


class AdamW(Spec):
    """AdamW, or an optimizer by class; the learning rate's schedule; one norm clip.

    RobustSentEmbed is silent about its optimiser.
    """

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)
    semantics: ClassVar[int] = 2  # fused: other roundings. Decision 0025.
    lr: PositiveFloat = field(7e-6, symbol="xi")
    """learning rate of the first step, or at the end of the warm-up"""
    beta1: float = field(0.9, ge=0, lt=1)
    """decay of the mean of the gradients"""
    beta2: float = field(0.999, ge=0, lt=1)
    """decay of the mean of their squares"""
    epsilon: PositiveFloat = 1e-8
    """added to the root of that mean, which divides the step"""
    weight_decay: NonNegativeFloat = 0.0
    """a step shrinks every weight by this times the learning rate"""
    max_norm: PositiveFloat = 1.0
    """largest l2 norm of the gradient of all trained parameters together, D's included"""
    schedule: Literal["linear", "cosine", "constant"] = field("linear", neutral="linear")
    """how the learning rate falls to 0 over the whole budget after the warm-up, or that it stays"""
    warmup: float = field(0.0, ge=0, lt=1, neutral=0.0)
    """share of all steps in which the learning rate rises from 0, linearly"""
    class_: ClassPath | None = field(None, alias="class", neutral=None)
    """instead of AdamW, `module:Class` of any optimizer of torch: of a file beside the study, or installed"""
    settings: dict[str, Any] = field({}, neutral={})
    """what `class` is made with, beside parameters and learning rate"""

    @model_validator(mode="after")
    def _settings_of_its_class(self) -> "AdamW":
        if self.class_ is None and self.settings:
            raise ValueError("has settings, which are those of a class. Name it with `class`")
        for name in ("beta1", "beta2", "epsilon", "weight_decay"):
            if self.class_ and getattr(self, name) != type(self).model_fields[name].default:
                remedy = f"Write it below `settings`, by its name there (if it is inherited: `{name}: null`)"
                raise ValueError(f"has {name}, which is AdamW's, and a class. {remedy}")
        if {"lr", "params"} & {*self.settings}:
            raise ValueError("has lr or params below `settings`. Write lr beside `class`")
        canonical_json(self.settings)  # a ValueError for NaN and infinities
        return self

    def __hash__(self) -> int:
        return hash(self.fingerprint())  # settings are a mapping

    def rate(self, step: int, num_steps: int) -> float:
        """Return the learning rate of a step, counted from 0; as transformers' schedules."""
        rising = ceil(self.warmup * num_steps)
        if step < rising:
            return self.lr * (step / rising)
        done = (step - rising) / (num_steps - rising)
        falling = {"linear": 1 - done, "cosine": (1 + cos(pi * done)) / 2, "constant": 1.0}
        return self.lr * falling[self.schedule]


class Budget(Spec):
    """How long a trial trains."""

    unit: Literal["epochs", "steps", "passes"] = "epochs"
    """what `amount` counts: epochs, optimiser steps, or the computation of as many forward passes of a view"""
    amount: PositiveInt = 4
    """how many of them"""


def _without_repeats(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("a set is listed twice. Remove one of them")
    return names


DEV_SETS = ("STS-B", "SICK-R", "builtin")


def _set_or_file(name: str) -> str:
    if name not in DEV_SETS and not re.search(ENDING, name):
        # Said like a wrong choice of a Literal, which cannot hold every file's name.
        expected = f"{', '.join(map(repr, DEV_SETS))} or a file of pairs: .csv, .tsv, .jsonl or .parquet"
        raise PydanticCustomError("literal_error", "must be {expected}", {"expected": expected})
    return name


DevSet = Annotated[
    str,
    AfterValidator(_set_or_file),
    WithJsonSchema({"anyOf": [{"enum": list(DEV_SETS)}, {"type": "string", "pattern": ENDING}]}),
]
DevSets = Annotated[
    Annotated[DevSet, Tag("one")]
    | Annotated[tuple[DevSet, ...], Field(min_length=1), AfterValidator(_without_repeats), Tag("several")],
    Discriminator(lambda given: "several" if isinstance(given, list | tuple) else "one"),
    BeforeValidator(lambda given: given[0] if isinstance(given, list | tuple) and len(given) == 1 else given),
]


class Selection(Spec):
    """Which checkpoint becomes the trial's model.

    A sampler learns the last value, whatever is kept here.
    """

    dev: DevSets = "STS-B"
    """dev pairs that are measured during training, or the mean over several sets; test splits can never select"""
    every: PositiveInt = 250
    """optimiser steps between two measurements; there is one at the end too"""
    keep: Literal["best", "last"] = "best"
    """the checkpoint with the best measurement after the start, or that of the last step"""

    @property
    def sets(self) -> tuple[str, ...]:
        """The dev sets, one or several."""
        return self.dev if isinstance(self.dev, tuple) else (self.dev,)

    @property
    def files(self) -> tuple[str, ...]:
        """Those of them that are files."""
        return tuple(name for name in self.sets if name not in DEV_SETS)

    def identity(self) -> dict[str, Any]:
        """Return its settings, without the folders of files."""
        given = super().identity()
        return given | {"dev": [Path(name).name for name in self.sets]} if self.files else given


class Replayed(Spec):
    """Dev pairs and texts attacked once and replayed at every measurement: robust/...

    The attacks are found against a reference encoder. With `labelled` also texts with a class each, attacked once
    through a logistic regression on the reference's frozen embeddings: robust/accuracy is that of a fresh one on the
    trial's own embeddings. A search that selects by it has seen those texts: it may not report MR transfer, or
    attacks on MR or SST-2 (which is made of MR), as unseen.
    """

    recipe: Literal["none", *REPLAYABLE] = "none"
    """the attack that finds them; none: nothing is replayed"""
    reference: str = field("base", min_length=1)
    """whom they are found against: base (the study's own encoder before training), minilm, a folder or hub name"""
    num_pairs: PositiveInt = 200
    """dev pairs, drawn by `seed`"""
    sides: Literal["first", "second", "both"] = "second"
    """sentences of a pair that may be changed"""
    max_queries: PositiveInt = 500
    """scores the attack may ask for a pair"""
    seed: NonNegativeInt = 0
    """of the draws, and of what the attack draws"""
    labelled: Literal["none", "builtin", "MR", "CR", "MPQA", "SUBJ"] = field("none", neutral="none")
    """texts with a class, attacked too: generated opinions, or a transfer task without a test split"""
    num_texts: PositiveInt = field(200, neutral=200)
    """of them that are attacked, drawn by `seed`"""
    num_training: PositiveInt = field(500, neutral=500)
    """others of them, never attacked, that every classifier is fitted on"""

    @model_validator(mode="after")
    def _attacked_by_a_recipe(self) -> "Replayed":
        if self.labelled != "none" and self.recipe == "none":
            raise ValueError(
                f"labelled: {self.labelled} needs a recipe that attacks its texts. For example: recipe: pwws"
            )
        return self

    def identity(self) -> dict[str, Any]:
        """Return only the settings that decide a number, given what is replayed."""
        if self.recipe == "none":
            return {"recipe": "none"}
        unused = set() if self.labelled != "none" else {"num_texts", "num_training"}
        return {name: value for name, value in super().identity().items() if name not in unused}


DENSEST, MOST_POINTS = 10, 500  # of a history whose `report_every` nobody wrote


def round_numbers(first: int) -> Iterator[int]:
    """Yield first x 1, 2, 5, 10, 20, ..., which most rungs are multiples of.

    >>> numbers = round_numbers(10)
    >>> [next(numbers) for _ in range(5)]
    [10, 20, 50, 100, 200]
    """
    for power in count():
        yield from (first * factor * 10**power for factor in (1, 2, 5))


class Trial(Spec):
    """One configuration of everything that decides a cell's numbers, but the seed."""

    removed: ClassVar = {
        "watched": (
            "is no longer possible: training measures dev pairs and replayed attacks, and nothing else",
            "Remove it (if it is inherited: `watched: null`). List its evaluations in `evaluations`, which score "
            "trained models; for scores on the way, compare rows of several budgets",
        )
    }
    method: AnyMethod = Field(default_factory=RobustSentEmbed)
    """what is trained on, and its settings; `preset: NAME` writes some"""
    encoder: Encoder = Encoder()
    """what is trained"""
    corpus: Corpus = Corpus()
    """training sentences; if the base has `views` and no corpus, their first column"""
    views: Rewrites | None = field(None, neutral=None)
    """file or dataset of every sentence's positive, and perhaps hard negative; null: a sentence is its own"""
    optimizer: AdamW = AdamW()
    """AdamW or another by class, and the learning rate's schedule"""
    budget: Budget = Budget()
    """how long it trains"""
    batch_size: int = field(64, ge=2)
    """sentences of the global batch, over all workers"""
    max_length: int = field(32, ge=4, le=512)
    """tokens of a sentence in training, special ones included; evaluation never truncates to it"""
    precision: Literal["float32", "tf32", "bf16", "fp16", "float64"] = "float32"
    """of weights and arithmetic; tf32 (GPUs), bf16, fp16: of matrix products alone; E + delta, norms stay float32"""
    compiled: bool = field(False, neutral=False)
    """whether torch.compile fuses the encoder's passes in training: minutes once, other last bits; meant for GPUs"""
    graphed: bool = field(False, neutral=False)
    """whether a step is recorded once and replayed, for GPUs: other dropout masks and last bits"""
    chunk_size: int = field(0, ge=0, neutral=0)
    """sentences in the encoder at a time, to fit into memory: each is computed once more for its gradient; 0: all"""
    selection: Selection = Selection()
    """which checkpoint is kept"""
    report_every: PositiveInt | None = None
    """optimiser steps between two points of the history; null: 10, or more, so that it has at most 500"""
    replayed: Replayed = field(Replayed(), neutral=Replayed())
    """adversarial pairs and texts whose scores stand beside dev's"""

    @model_validator(mode="before")
    @classmethod
    def _without_what_is_gone(cls, given: Any) -> Any:
        """Leave out settings of earlier versions that configurations on record have, empty."""
        if not isinstance(given, dict):
            return given
        return {key: value for key, value in given.items() if key not in cls.removed or value}

    @field_validator("method", mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        try:
            return with_preset(given)
        except InputError as problem:  # one of several problems of its file
            said = ": ".join(part for part in (problem.what, problem.rule) if part)
            raise ValueError(f"{said}. {problem.remedy}") from None

    @model_validator(mode="after")
    def _can_be_trained(self) -> "Trial":
        if (needed := self.method.needs_pooling) not in (None, self.encoder.pooling):
            raise ValueError(f"{self.method.name} needs another pooling. Set encoder.pooling: {needed}")
        if self.views and not self.method.takes_views:
            raise ValueError(f"views: {self.method.name} takes none. Set views: null, or use another method")
        if self.needs_negatives and (self.views is None or len(self.views.columns) == 2):
            raise ValueError("hard_negatives: required needs `views` of 3 columns. Set them, or optional")
        reasons = (
            self.method.unrecordable,
            self.chunk_size
            and "chunk_size computes each chunk twice with one state of dropout. Set chunk_size: 0",
            self.views and "each of its views is a text of its own length. Set views: null",
            self.precision == "fp16"
            and "the scaler of fp16 looks at every step's gradients. Set precision: bf16",
            self.optimizer.class_
            and f"{self.optimizer.class_} may read values as it steps. Set optimizer.class: null",
        )
        if self.graphed and (reason := str(next(filter(None, reasons), ""))):
            remedy = ", or graphed: false" if ". Set " in reason else ". Set graphed: false"
            raise ValueError(f"graphed: a step of {self.method.name} cannot be recorded: {reason}{remedy}")
        return self

    @model_validator(mode="after")
    def _write_defaults_out(self) -> "Trial":
        """Settle the corpus that views alone mean, and the cadence if the file says how many steps there are."""
        if self.views and "corpus" not in self.model_fields_set:
            self.__dict__["corpus"] = Corpus(source=self.views)
        if self.report_every is None and self.budget.unit == "steps":
            self.__dict__["report_every"] = self.cadence(self.budget.amount)
        return self

    def num_steps(self, steps_per_epoch: int) -> int:
        """Return the optimiser steps of the budget, at least one.

        Of passes they are those whose work comes nearest.
        """
        budget = self.budget
        if budget.unit == "passes":
            return max(1, round(budget.amount * FORWARD / self.cost.work))
        return budget.amount * (steps_per_epoch if budget.unit == "epochs" else 1)

    def cadence(self, num_steps: int) -> int:
        """Return the optimiser steps between two points of a history over `num_steps`."""
        return self.report_every or next(
            every for every in round_numbers(DENSEST) if num_steps <= every * MOST_POINTS
        )

    def identity(self) -> dict[str, Any]:
        """Return what decides its numbers; an open cadence is that of a short budget."""
        return super().identity() | {"report_every": self.report_every or DENSEST}

    def needs(self) -> tuple[Hashable, ...]:
        """Return all that preparing the materials reads: equal needs, equal materials."""
        method = self.method
        of_method = tuple(self.models.values()), method.num_sites, method.needs_synonyms, method.needs_mask
        of_data = self.corpus, self.views, self.needs_negatives, self.selection.sets, self.replayed
        by_class = self.optimizer.class_, canonical_json(self.optimizer.settings)
        return (*of_data, *by_class, self.encoder, self.batch_size, self.max_length, self.graphed, *of_method)

    @property
    def models(self) -> dict[str, Model]:
        """Pretrained models by the field that names them, with their revisions."""
        generator, reference = self.method.generator, self.replayed.reference
        return {
            "encoder.name": (self.encoder.name, self.encoder.revision),
            **({"method.rtd.generator": (generator, "main")} if generator else {}),
            **({"replayed.reference": (reference, "main")} if self.replayed.recipe != "none" else {}),
        }

    @property
    def needs_negatives(self) -> bool:
        return getattr(self.method, "hard_negatives", "") == "required"

    @property
    def cost(self) -> StepCost:
        """Passes of a step, those of hard negatives too.

        Of a table without names, they are counted only if the method requires them.
        """
        cost = self.method.cost
        more = int(self.needs_negatives or (self.views is not None and len(self.views.columns) == 3))
        of_ascent = cost.views_per_ascent + more * (cost.views_per_ascent > 1)  # L2P-CSR weakens them, too
        return replace(cost, num_views=cost.num_views + more, views_per_ascent=of_ascent)

    @property
    def step_work(self) -> float:
        """Floating-point operations of a step in P*T, including those chunks repeat."""
        return self.cost.work + self.cost.repeated(self.batch_size, self.chunk_size)
