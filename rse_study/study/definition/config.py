"""The study: a question, a base trial, the grid or space around it."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    PrivateAttr,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

from rse_study.downstream.registry import all_evaluations, expand_evaluations
from rse_study.downstream.settings import Attacks, Settings, Tasks
from rse_study.errors import InputError
from rse_study.evaluation.registry import is_of_vectors
from rse_study.named_class import ClassPath
from rse_study.registry import did_you_mean
from rse_study.results.records import COSTS
from rse_study.results.settings import StudySettings, UntilDecided
from rse_study.search.stopping import EarlyStopping
from rse_study.spec import Spec, field
from rse_study.storage.location import check_location
from rse_study.study.definition.domains import AnyDomain, Domain, FactorDomain, FiniteDomain, Option
from rse_study.study.definition.reading import with_todays_keys
from rse_study.training.classifier.config import FineTuning
from rse_study.training.trial import Trial

METRICS = ("dev", "dev/kept", "loss", "robust/spearman", "robust/drift", "robust/accuracy")
LOWER_IS_BETTER = ("loss", "robust/drift", *COSTS)
SEARCH_ONLY = (
    "num_trials",
    "sampler",
    "search_seed",
    "tune_each",
    "early_stopping",
    "confirm",
    "ablation_path",
    "objectives",
    "constraints",
    "search_budget",
    "warm_start",
)
"""Fields of a study that belong to a search."""
FORMER_KEYS = {"budget": "allowance"}
"""Former keys of a study that files may still use, and their present names."""
LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
"""Pattern of a label's value, and of its key after a prefix such as ray.io/."""
DESIGN = ("factorial", "resolution")
Baseline = Literal[
    "token_overlap", "untrained", "start", "cls", "mean", "first_last", "whitening", "adversarial"
]
Seed = Annotated[int, Field(strict=True, ge=0)]


def _refuse_until(given: Any) -> Any:
    if isinstance(given, dict) and "until" in given:
        raise ValueError("must be a list: only the rows of a grid get seeds until they are decided")
    return given


Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), BeforeValidator(_refuse_until)]


def _kind_of_seeds(given: Any) -> str:
    return "until decided" if isinstance(given, dict | UntilDecided) else "listed"


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
                raise ValueError("has settings, which are those of a class: name it with `class`")
        elif "name" in self.model_fields_set:
            raise ValueError(
                "has a name and a class: keep one (`name: null` takes away that of a file extended)"
            )
        else:
            self._has_no_settings_of_names()
        return self

    def _has_no_settings_of_names(self) -> None:
        for name in ("num_startup", "population_size"):
            if getattr(self, name) != type(self).model_fields[name].default:
                remedy = f"write it below `settings` (of a file extended: `{name}: null`)"
                raise ValueError(f"has {name}, which is of samplers with a name, and a class: {remedy}")

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


def _may_select(metric: str) -> str:
    """Return a metric by which trials may be chosen; raise ValueError for others."""
    if "test" in metric:
        raise ValueError(f"{metric!r} is a test split, which can never select; use `dev`")
    if metric.rpartition("/")[0] in all_evaluations():
        raise ValueError(f"{metric!r} is an evaluation's, and those never select, watched or not; use `dev`")
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
    direction: Literal["maximize", "minimize"] = "maximize"

    @model_validator(mode="after")
    def _towards_the_better(self) -> "Objective":
        better = "minimize" if self.metric in LOWER_IS_BETTER else "maximize"
        if self.direction != better:
            raise ValueError(f"a better {self.metric!r} is found by `direction: {better}`")
        return self


class TrialConstraint(Spec):
    """What a trial must keep to, to be chosen: a bound on a metric at its last step.

    Trials that break it are results of the search all the same, and tell the sampler where not to look.
    """

    metric: SelectingMetric = field()
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _has_one_bound(self) -> "TrialConstraint":
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("needs one bound: `at_least` or `at_most`")
        return self


class Grid(Spec):
    """Every combination of axes, or a two-level design, and rows with a name.

    An axis is a list of values, or `{choice: [...], into: [...]}`. A row may be empty: it is the base itself.
    """

    axes: dict[str, FiniteDomain] = Field(default_factory=dict)
    """values by axis name"""
    factorial: dict[str, FactorDomain] = field({}, neutral={})
    """instead of axes, two levels by factor name, `[0, 0.5]` or two `variants`: a design whose rows estimate every main
    effect and pair interaction together"""
    resolution: Literal[3, 4, 5, "full"] = field("full", neutral="full")
    """of the design: full has every corner; 5: the smallest fraction that tells main effects and pairs apart; 4: main
    effects, and sums of pairs; 3: main effects from each other, not from pairs"""
    rows: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """settings by path, laid over the base, by row name"""
    baseline: str = ""
    """the row that every other is compared with, seed by seed: a name of `rows`, or values of the axes, `norm = l1`"""

    @property
    def domains(self) -> Mapping[str, Domain]:
        """Its axes, or its factors."""
        return self.factorial or self.axes

    @property
    def at(self) -> str:
        """Where they stand in the file."""
        return "grid.factorial" if self.factorial else "grid.axes"

    @model_serializer(mode="wrap")
    def _as_before_designs(self, write: Callable[["Grid"], dict[str, Any]]) -> dict[str, Any]:
        """Omit an absent design, as in studies frozen before designs existed."""
        content = write(self)
        return {name: content[name] for name in content if self.factorial or name not in DESIGN}


class Resources(Spec):
    """What one cell uses.

    Bit-equality depends on `workers` and `threads`, so they are recorded, with the machine.
    """

    executor: Literal["auto", "train", "inline"] = "auto"
    """auto: train for GPUs or several workers, else inline"""
    workers: PositiveInt = 1
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
                raise ValueError(f"{text!r} is no label: letters and digits, and . _ - between them")
        return labels

    @property
    def runs_on(self) -> Literal["train", "inline"]:
        """The executor, with `auto` resolved."""
        if self.executor != "auto":
            return self.executor
        return "train" if self.gpus or self.workers > 1 else "inline"


class Confirm(Spec):
    """What decides a search: its best trials and its baseline, run again.

    Their seeds have selected nothing.
    """

    num_best: PositiveInt = 1
    baseline: Literal["base", "none"] = "base"
    seeds: Seeds = field()
    resources: Resources | None = None
    """of these cells; without it, the study's"""


class AblationPath(Spec):
    """What made the best trial of a search better than its base.

    Its axes are flipped one by one, from the base to it. Each point is trained anew (Fawcett & Hoos 2016; Biedenkapp
    et al. 2017).
    """

    order: Literal["greedy", "importance"] = "greedy"
    """greedy: of all axes left, the one that brings most, k(k+1)/2 points over k axes that differ; importance: the axes
    by their importance, k points"""
    seeds: Seeds = field()
    """none of the search's own; cells of seeds that `confirm` has, too, run once"""
    resources: Resources | None = None
    """of these cells; without it, the study's"""


class Allowance(Spec):
    """What the study may cost; 0 = no limit.

    `run` and `plan` refuse what will not stay below (exit code 4).
    """

    max_hours: NonNegativeFloat = 0.0
    """device hours"""
    max_cost: NonNegativeFloat = 0.0
    price_per_hour: NonNegativeFloat = 0.0
    """price of a device hour, in any currency"""
    hours_per_cell: tuple[PositiveFloat, PositiveFloat] | None = None
    """low and high for the base, told by others: prices what nothing alike here has measured"""


class WarmStart(Spec):
    """What a search knows before its first trial.

    At least one of both.
    """

    study: str = ""
    """name of a study of the same store: what its complete cells came to is told to the sampler, where they are points
    of this space and would be the same cells here; the best of them is run here first"""
    trials: tuple[dict[str, Option], ...] = ()
    """points that are run first, in this order: values by axis, the base's of the axes left out"""


class SearchBudget(Spec):
    """What ends a search, whichever comes first; 0 = no limit.

    No cell is begun that would not fit, if it takes as long as the longest complete one. `num_trials` are the most.
    Confirmation and path come after it and are not in it; `allowance` is what the whole study may cost.
    """

    hours: NonNegativeFloat = 0.0
    """in which cells of the search ran"""
    steps: NonNegativeInt = 0
    """optimiser steps of all its cells"""
    device_hours: NonNegativeFloat = 0.0
    """hours times GPUs, or else CPU threads"""
    cost: NonNegativeFloat = 0.0
    """device hours times their price"""
    price_per_hour: NonNegativeFloat = 0.0
    """of a device hour, in any currency"""


class Paper(Spec):
    """The table or figure of a paper that a grid repeats.

    Its claims are checked on the grid's rows.
    """

    table: str = ""
    """for example rse-table6; empty: of no table of a paper"""
    scale: Literal["paper", "mini", "minilm"] = "paper"
    """mini: a tiny encoder, minilm: one that has seen sentence pairs; neither proves anything about the paper's, and
    `check` says `same direction here`, or `on MiniLM`"""


class Study(Spec):
    """A question about the method, asked as a grid or a search around a base trial."""

    name: str = field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)
    question: str = field(min_length=1)
    base: Trial
    grid: Grid | None = None
    search: dict[str, AnyDomain] | None = field(None, min_length=1)
    """at least one axis"""
    num_trials: PositiveInt = 16
    """of a search"""
    sampler: Sampler = Sampler()
    search_seed: NonNegativeInt = 0
    tune_each: str = ""
    """axis of a search whose values, methods perhaps, get the same number of trials, in turn; the best of each is
    confirmed"""
    early_stopping: EarlyStopping | None = None
    seeds: ListedOrDecided = (0,)
    """of a grid: all of them for every row, or {until: decided, at_least: 3, at_most: 16}: further ones for undecided
    rows only; of a search: the first for every trial, the next only for those that may still win"""
    objective: Objective = Objective()
    objectives: tuple[Objective, ...] = ()
    """of a search, two to four at once, instead of `objective`: what is sought is their Pareto front"""
    constraints: tuple[TrialConstraint, ...] = ()
    """of a search: only trials that keep to all of them are chosen"""
    warm_start: WarmStart | None = None
    search_budget: SearchBudget | None = None
    margin: float | None = field(None, ge=0, neutral=None)
    """the largest difference that does not matter, in the unit of the objective: rows whose interval lies within it are
    the same as the baseline; by default 0.5 points of a correlation or another score x 100, and 0 (none) of a loss"""
    evaluations: tuple[str, ...] = ()
    """task/split, task/preset or task/recipe; in a search, of confirmed trials only"""
    attacks: Attacks = Attacks()
    fine_tuning: FineTuning = FineTuning()
    """of the classifiers that evaluations ask for"""
    tasks: Tasks = Tasks()
    """of evaluations that end in /fine_tuned"""
    confirm: Confirm | None = None
    ablation_path: AblationPath | None = None
    paper: Paper | None = None
    keep_models: Literal["final", "best", "none"] = "final"
    """final: every cell's, so that a new evaluation trains nothing again; best: the best cell's of a grid, those of
    confirmed trials of a search; others go as soon as they have their scores. `plan` says what they take"""
    keep_items: bool = field(True, neutral=True)
    """whether every evaluation leaves the score of each pair or input with the cell, some 100 kB for seven STS sets"""
    resources: Resources = Resources()
    allowance: Allowance = Allowance()
    storage: str = ""
    """folder that all nodes see, or URL (s3, gs), of what nodes of a cluster exchange; empty: the study's own folder"""
    baselines: tuple[Baseline, ...] = ("token_overlap", "untrained", "start")
    """cls, mean, first_last, whitening: the base's weights pooled so, without training or template"""

    _written_evaluations: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="before")
    @classmethod
    def _read_former_keys(cls, given: Any) -> Any:
        return _first_as_objective(with_todays_keys(given, FORMER_KEYS)) if isinstance(given, dict) else given

    @model_validator(mode="wrap")
    @classmethod
    def _note_what_was_written(cls, given: Any, validate: Callable[[Any], "Study"]) -> "Study":
        study = validate(given)
        if isinstance(given, dict):
            study._written_evaluations = tuple(given.get("evaluations") or ())
        return study

    @field_validator("storage")
    @classmethod
    def _can_be_opened(cls, storage: str) -> str:
        try:
            check_location(storage)
        except InputError as problem:
            raise ValueError(f"{problem.what}: {problem.rule}. {problem.remedy}") from None
        return storage

    @field_validator("evaluations")
    @classmethod
    def _expand_patterns(cls, evaluations: tuple[str, ...]) -> tuple[str, ...]:
        return expand_evaluations(evaluations)

    def located_evaluations(self) -> Iterator[tuple[str, str]]:
        """Yield each evaluation's place in the file (no index for patterns) and name."""
        indices: dict[str, list[int]] = {}
        for index, written in enumerate(self._written_evaluations):
            indices.setdefault(written, []).append(index)
        for name in self.evaluations:
            left = indices.get(name)
            yield f"evaluations.{left.pop(0)}" if left else "evaluations", name

    @property
    def evaluations_of_vectors(self) -> tuple[str, ...]:
        """Evaluations that a cell's own process makes; others need its weights."""
        return tuple(filter(is_of_vectors, self.evaluations))

    @property
    def all_objectives(self) -> tuple[Objective, ...]:
        """The one objective, or all of several."""
        return self.objectives or (self.objective,)

    @property
    def tuned(self) -> tuple[Any, ...]:
        """The values of the axis that `tune_each` names; empty without one."""
        axis = (self.search or {}).get(self.tune_each)
        return () if axis is None else tuple(axis.values())

    @property
    def num_confirmed(self) -> int:
        """The most trials that are confirmed beside the base."""
        return 0 if self.confirm is None else self.confirm.num_best * max(1, len(self.tuned))

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """The listed seeds, or all that a row may be given until it is decided."""
        return tuple(range(self.seeds.at_most)) if isinstance(self.seeds, UntilDecided) else self.seeds

    @property
    def may_spare_cells(self) -> bool:
        """Whether a race of seeds, or rows that are decided, may end it with fewer cells."""
        is_raced = self.grid is None and len(self.all_seeds) > 1
        return is_raced or isinstance(self.seeds, UntilDecided)

    @property
    def search_settings(self) -> StudySettings:
        """Size, budget, confirmation and ablation path as readers of a ledger know them."""
        named = self.model_dump(include={"num_trials", "seeds", "search_budget", "confirm", "ablation_path"})
        if self.confirm is not None:
            named["confirm"]["num_best"] = self.num_confirmed
        return StudySettings.model_validate(named)

    @property
    def resources_by_stage(self) -> dict[str, Resources]:
        """Resources of each stage that the study has, in order."""
        if self.grid is not None:
            return {"grid": self.resources}
        later = {"confirm": self.confirm, "path": self.ablation_path}
        own = {name: stage.resources or self.resources for name, stage in later.items() if stage is not None}
        return {"search": self.resources, **own}

    def located_resources(self) -> Iterator[tuple[str, Resources]]:
        """Yield all resources that the study states, and where they stand in the file."""
        yield "resources", self.resources
        for name, stage in (("confirm", self.confirm), ("ablation_path", self.ablation_path)):
            if stage is not None and stage.resources is not None:
                yield f"{name}.resources", stage.resources

    def resolved(self) -> dict[str, Any]:
        """Return the question and everything that decides its answer.

        Where the study runs, what it may cost, and settings that are absent or of the other kind are left out.
        """
        where_it_runs: dict[str, Any] = {"resources": True, "allowance": True, "storage": True}
        of_stages = {"confirm": {"resources"}, "ablation_path": {"resources"}}
        content = self.model_dump(mode="json", exclude=where_it_runs | of_stages)
        others = SEARCH_ONLY if self.grid is not None else ()
        left_out = {*others, *([] if self.tune_each else ["tune_each"])}
        return {name: value for name, value in content.items() if value is not None and name not in left_out}

    @property
    def settings(self) -> Settings:
        """Settings of its evaluations."""
        return Settings(self.attacks, self.fine_tuning, self.tasks)


def _first_as_objective(given: dict[str, Any]) -> dict[str, Any]:
    """Set the first of several objectives as the one that curves and tables show."""
    several = given.get("objectives")
    if not several or given.get("objective") is not None or not isinstance(several, list | tuple):
        return given
    return {**given, "objective": several[0]}
