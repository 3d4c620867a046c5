"""The study: a question, a base trial, the grid or space around it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveInt,
    PrivateAttr,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

from rse_study.downstream import Attacks, Settings, Tasks, expand_evaluations, is_of_vectors
from rse_study.errors import InputError
from rse_study.evaluation.own_files import AskedEvaluation, OwnFile, OwnLabelled, OwnPairs
from rse_study.results.records import Direction
from rse_study.results.settings import Paper, StudySettings, UntilDecided
from rse_study.search.budget import SearchBudget
from rse_study.search.stopping import EarlyStopping
from rse_study.spec import Spec, field
from rse_study.storage import check_location
from rse_study.study.definition import parts
from rse_study.study.definition.domains import AnyDomain, Domain, FactorDomain, FiniteDomain
from rse_study.study.definition.own_baselines import OwnBaseline, as_list
from rse_study.study.definition.reading import with_todays_keys
from rse_study.training.classifier import FineTuning
from rse_study.training.trial import Trial

SEARCH_ONLY = (
    "num_trials",
    "sampler",
    "search_seed",
    "tune_each",
    "early_stopping",
    "confirm",
    "ablation_path",
    "objectives",
    "search_budget",
)
"""Fields of a study that belong to a search."""
FORMER_KEYS = {"budget": "allowance"}
"""Former keys of a study that files may still use, and their present names."""
REMOVED = {
    "constraints": (
        "is no longer possible: a search chooses by its objectives alone",
        "Remove it (if it is inherited: `constraints: null`). Make what it bounds one of `objectives`, or run the "
        "trials that are within the bound again as rows of a grid, with seeds of its own",
    ),
    "warm_start": (
        "is no longer possible: a search begins with its base, and learns from its own trials",
        "Remove it (if it is inherited: `warm_start: null`). To go on with a search, raise its num_trials; for another "
        "space, write the best settings that are known into `base`, which runs first",
    ),
}
"""Fields of earlier versions that frozen studies have, empty: why one with content is refused, and what to do."""
DESIGN = ("factorial", "resolution")
TrainingFree = Literal["cls", "mean", "first_last", "whitening", "flow"]
Baseline = Literal["token_overlap", "untrained", "start", TrainingFree, "adversarial", "augmented"]


AskedBaseline = Annotated[
    Annotated[Baseline, Tag("name")] | Annotated[dict[str, OwnBaseline], Field(min_length=1), Tag("own")],
    Discriminator(lambda given: "own" if isinstance(given, dict) else "name"),
]
Written = tuple[AskedBaseline, ...] | dict[str, OwnBaseline | None]
AskedBaselines = Annotated[
    tuple[AskedBaseline, ...], BeforeValidator(as_list, json_schema_input_type=Written)
]


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


class Study(Spec):
    """A question about the method, asked as a grid or a search around a base trial."""

    removed: ClassVar = REMOVED
    name: str = field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)
    """of its folder in the store"""
    question: str = field(min_length=1)
    """what the report answers"""
    notes: str = field("", neutral="")
    """shown on the first screen of its report"""
    tags: tuple[str, ...] = field((), neutral=())
    """shown in its report and by `studies`"""
    base: Trial
    """around which rows and proposals vary"""
    grid: Grid | None = None
    """rows to compare, instead of `search`"""
    search: dict[str, AnyDomain] | None = field(None, min_length=1)
    """at least one axis"""
    contrasts: dict[str, dict[str, float | str]] | None = None
    """planned, of a grid's rows: by name, weights that sum to 0, `{gradient: 1, noise: -1}`, and perhaps `by: beta`, at
    each of whose values it is taken; all are judged as one family, and lead the report"""
    num_trials: PositiveInt = 16
    """of a search"""
    sampler: parts.Sampler = parts.Sampler()
    """what proposes a search's trials"""
    search_seed: NonNegativeInt = 0
    """of its proposals"""
    tune_each: str = ""
    """axis of a search whose values, methods perhaps, get the same number of trials, in turn; the best of each is
    confirmed"""
    early_stopping: EarlyStopping | None = None
    """rule by which a search ends its worse trials early"""
    seeds: parts.ListedOrDecided = (0,)
    """of a grid: all of them for every row, or {until: decided, at_least: 3, at_most: 16}: further ones for undecided
    rows only; of a search: a single one, for all trials"""
    objective: parts.Objective = parts.Objective()
    """what decides, and its direction"""
    objectives: tuple[parts.Objective, ...] = ()
    """of a search, two to four at once, instead of `objective`: what is sought is their Pareto front"""
    search_budget: SearchBudget | None = None
    """ends a search before its num_trials"""
    margin: float | None = field(None, ge=0, neutral=None)
    """the largest difference that does not matter, in the unit of the objective: rows whose interval lies within it are
    the same as the baseline; by default 0.5 points of a correlation or another score x 100, and 0 (none) of a loss"""
    evaluations: tuple[AskedEvaluation, ...] = ()
    """task/split, task/preset, task/recipe, mteb/TASK, `{pairs: FILE}` or `{labelled: FILE}`; in a search, of confirmed
    trials only"""
    attacks: Attacks = Attacks()
    """settings of evaluations under attack"""
    fine_tuning: FineTuning = FineTuning()
    """of the classifiers that evaluations ask for"""
    tasks: Tasks = Tasks()
    """of evaluations that end in /fine_tuned"""
    confirm: parts.Confirm | None = None
    """the best trials of a search, run again with seeds of their own"""
    ablation_path: parts.AblationPath | None = None
    """from the base to the best trial, one axis at a time"""
    paper: Paper | None = None
    """the table whose claims are checked"""
    keep_models: Literal["final", "best", "none"] = "final"
    """final: every cell's, so that a new evaluation trains nothing again; best: the best cell's of a grid, those of
    confirmed trials of a search; others go as soon as they have their scores. `plan` says what they take"""
    keep_items: bool = field(True, neutral=True)
    """whether every evaluation leaves the score of each pair or input with the cell, some 100 kB for seven STS sets"""
    resources: parts.Resources = parts.Resources()
    """of each cell"""
    allowance: parts.Allowance = parts.Allowance()
    """the most that it may cost"""
    storage: str = ""
    """folder that all nodes see, or URL (s3, gs), of what nodes of a cluster exchange; empty: the study's own folder"""
    baselines: AskedBaselines = ("token_overlap", "untrained", "start")
    """cls to whitening: the base's weights, untrained; flow: BERT-flow; {E5: {encoder: intfloat/e5-small}}: your own"""

    _written_evaluations: tuple[Any, ...] = PrivateAttr(())

    @model_validator(mode="before")
    @classmethod
    def _read_former_keys(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        kept = {
            key: value
            for key, value in given.items()
            if key not in REMOVED or value not in (None, [], (), {})
        }
        return _first_as_objective(with_todays_keys(kept, FORMER_KEYS))

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
    def _expand_patterns(cls, evaluations: tuple[AskedEvaluation, ...]) -> tuple[AskedEvaluation, ...]:
        return expand_evaluations(evaluations)

    @property
    def own_files(self) -> tuple[OwnPairs | OwnLabelled, ...]:
        """Its evaluations on files of the user's own."""
        return tuple(one for one in self.evaluations if isinstance(one, OwnFile))

    @property
    def own_baselines(self) -> dict[str, OwnBaseline]:
        """Its baselines of the user's own, by name."""
        return {name: own for one in self.baselines if not isinstance(one, str) for name, own in one.items()}

    @property
    def evaluation_names(self) -> tuple[str, ...]:
        """The names of its evaluations, under which their scores are filed."""
        return tuple(one.evaluation if isinstance(one, OwnFile) else one for one in self.evaluations)

    def located_evaluations(self) -> Iterator[tuple[str, str]]:
        """Yield each evaluation's place in the file (no index for patterns) and name."""
        indices, own = dict[str, list[int]](), iter(self.own_files)
        for index, written in enumerate(self._written_evaluations):
            name = written if isinstance(written, str) else next(own).evaluation
            indices.setdefault(name, []).append(index)
        for name in self.evaluation_names:
            left = indices.get(name)
            yield f"evaluations.{left.pop(0)}" if left else "evaluations", name

    @property
    def evaluations_of_vectors(self) -> tuple[str, ...]:
        """Evaluations that a cell's own process makes; others need its weights."""
        return tuple(filter(is_of_vectors, self.evaluation_names))

    @property
    def all_objectives(self) -> tuple[parts.Objective, ...]:
        """The one objective, or all of several."""
        return self.objectives or (self.objective,)

    @property
    def directions(self) -> list[Direction]:
        """The direction of each objective."""
        return [one.direction for one in self.all_objectives]

    @property
    def tuned(self) -> tuple[Any, ...]:
        """The values of the axis that `tune_each` names; empty without one."""
        axis = (self.search or {}).get(self.tune_each) if self.tune_each else None
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
    def gives_seeds_until_decided(self) -> bool:
        """Whether its rows, or confirmed trials, get seeds until they are decided."""
        return isinstance(self.confirm.seeds if self.confirm else self.seeds, UntilDecided)

    @property
    def search_settings(self) -> StudySettings:
        """Size, budget, confirmation and ablation path as readers of a ledger know them."""
        named = self.model_dump(include={"num_trials", "seeds", "search_budget", "confirm", "ablation_path"})
        if self.confirm is not None:
            named["confirm"]["num_best"] = self.num_confirmed
        return StudySettings.model_validate(named)

    @property
    def resources_by_stage(self) -> dict[str, parts.Resources]:
        """Resources of each stage that the study has, in order."""
        if self.grid is not None:
            return {"grid": self.resources}
        later = {"confirm": self.confirm, "path": self.ablation_path}
        own = {name: stage.resources or self.resources for name, stage in later.items() if stage is not None}
        return {"search": self.resources, **own}

    def located_resources(self) -> Iterator[tuple[str, parts.Resources]]:
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
        augments = self.fine_tuning.augmented > 0 or "augmented" in self.baselines
        return Settings(self.attacks, self.fine_tuning, self.tasks, augments)


def _first_as_objective(given: dict[str, Any]) -> dict[str, Any]:
    """Set the first of several objectives as the one that curves and tables show."""
    several = given.get("objectives")
    if not several or given.get("objective") is not None or not isinstance(several, list | tuple):
        return given
    return {**given, "objective": several[0]}
