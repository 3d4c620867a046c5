from pathlib import Path

import pytest

from rse_study.errors import InputErrors
from rse_study.study.checking import RULES, RULES_OF_TRIALS, broken_rules
from rse_study.study.checking.validation import check_content, check_study, read_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import apply_overrides, build
from rse_study.study.definition.resolution import resolve_space
from tests.cases import cases
from tests.study.checking.edits import pairs
from tests.study.no_search import NO_SEARCH

JOINT = Path(__file__).parents[3] / "search_spaces" / "joint.yaml"


@pytest.fixture
def said(joint):
    def check(*overrides, broken=()):
        content = joint()
        apply_overrides(content, overrides)
        study = build(Study, content, where="x.yaml")
        return [str(problem) for problem in broken_rules(RULES, study, where="x.yaml", broken=broken)]

    return check


CASES = pairs("""
search=null -> search: is required, or `grid`. Name an axis: `search: {rho: {float: [0, 1]}}`
grid={rows: {a: {}}} -> grid: a study is a grid or a search, never both. Remove one (if it is inherited: `search:
    null`)
seeds=[0, 7] -> seeds = [0, 7]: a search runs one seed. Confirm the best with several (confirm.seeds), or compare rows
    of a grid with seeds: {until: decided}
confirm.seeds=[3, 0] -> confirm.seeds.1 = 0: this seed was used in the search, so it cannot confirm. Use seeds the
    search does not run
confirm.baseline=none;;confirm.seeds={until: decided} -> confirm.seeds.until = 'decided': trials are decided beside
    the base, and confirm.baseline = 'none' leaves it out. Set `baseline: base`, or list the seeds
confirm.seeds={until: decided};;early_stopping=null;;objectives=[{metric: dev}, {metric: loss, direction: minimize}] ->
    confirm.seeds.until = 'decided': a trial is decided by one objective, and this study has several. List the seeds, or
    give one `objective`
ablation_path={seeds: [3]};;early_stopping=null;;objectives=[{metric: dev}, {metric: loss, direction: minimize}] ->
    ablation_path: leads to the best trial by one objective. Remove it, or `objectives`
confirm.num_best=20 -> confirm.num_best = 20: must be <= num_trials = 16. Confirm fewer, or run more
tune_each=norms;;early_stopping=null -> tune_each = 'norms': must be an axis of choices or variants that every trial
    has. Did you mean 'norm'?
tune_each=norm;;early_stopping=null;;num_trials=16 -> num_trials = 16: must be a multiple of the 3 values of norm.
    Use 18
tune_each=norm;;num_trials=18 -> early_stopping: would give one value of norm more than another. Remove it, or
    tune_each (if it is inherited: `early_stopping: null`)
tune_each=norm;;early_stopping=null;;num_trials=18;;sampler.name=quasi_random -> sampler.name = 'quasi_random': has a
    fixed list of points, in which values do not take turns. Use tpe or random
tune_each=norm;;early_stopping=null;;num_trials=3;;confirm.num_best=2 -> confirm.num_best = 2: must be <= num_trials =
    3 / 3 values of norm. Confirm fewer, or run more
contrasts={gain: {a: 1, b: -1}} -> contrasts: compare rows of a grid; a search's trials are confirmed beside its base.
    Remove them (if they are inherited: `contrasts: null`)
seeds={until: decided} -> seeds.until = 'decided': is for grids, whose rows are compared with a baseline; a search
    runs one seed. Give one, `seeds: [0]`, and the bounds to `confirm.seeds`
evaluations=[STS-B/tets] -> evaluations.0 = 'STS-B/tets': no such evaluation. Did you mean 'STS-B/test'?
evaluations=[STS-B/dev] -> evaluations.0 = 'STS-B/dev': a dev split selects, and is measured during training; an
    evaluation is a test split. Did you mean 'STS-B/test'?
baselines=[start, start] -> baselines.1 = 'start': is listed twice. Keep one of them
base.encoder={name: tiny, pooling: prompt, template: "[X] [MASK]"};;baselines=[flow] -> baselines: flow with a template:
    it is fitted on the corpus, each sentence of which stands in the template, and no scored text does. Remove flow from
    baselines, or use another pooling
resources.gpus=1 -> resources.executor = 'inline': inline runs a cell in one process on CPUs, and resources.gpus = 1.
    Use executor: train (or auto)
resources={executor: train, workers: 2, gpus: 0.5} -> resources.gpus = 0.5: workers that train together need a GPU
    each, and resources.workers = 2. Use gpus: 1, or one worker
objective.metric=robust/spearman -> objective.metric = 'robust/spearman': is measured on replayed adversarial pairs,
    and none are replayed. Set base.replayed.recipe, for example to pwws
objective={metric: robust/drift, direction: minimize} -> objective.metric = 'robust/drift': is measured on replayed
    adversarial pairs, and none are replayed. Set base.replayed.recipe, for example to pwws
objective.metric=robust/accuracy;;base.replayed.recipe=pwws -> objective.metric = 'robust/accuracy': is measured on
    replayed adversarial texts, and none are replayed. Set base.replayed, for example to {recipe: pwws, labelled:
    builtin}
objective.metric=dev/kept -> objective.metric = 'dev/kept': is the score of the best checkpoint, and a search optimizes
    the score at the last step. Use `dev`; the ledger has both
""")


GRID = "grid={axes: {rho: [0, 1]}, rows: {ours: {}, SimCSE: {lambda1: 0}}, baseline: %s}"
GRIDS = pairs("""
grid.baseline=SimCSE ->
paper={table: rse-table6} ->
paper={scale: mini};;objective={metric: loss, direction: minimize} ->
grid.baseline=SimCES -> grid.baseline = 'SimCES': must be a row of the grid, with which the others are compared. Did
    you mean 'SimCSE'?
grid.baseline=rho = 2 -> grid.baseline = 'rho = 2': must be a row of the grid, with which the others are compared. Did
    you mean 'rho = 1'?
grid.baseline=rho = 1 ->
grid.baseline=ours;;seeds={until: decided, at_least: 4, at_most: 5} ->
seeds={until: decided} -> seeds.until = 'decided': rows are decided beside a baseline, and grid.baseline names none.
    Name the row in grid.baseline, or list the seeds
grid.axes=null;;grid.factorial={rho: [0, 1], phi: [0, 0.1]};;grid.baseline=ours;;seeds={until: decided} ->
    seeds.until = 'decided': rows stop at different seeds, and an effect of grid.factorial needs every row of a seed.
    List the seeds: `seeds: [0, 1, 2]`
grid.baseline=rho=0.0 ->
grid.rows=null;;grid.baseline=ours -> grid.baseline = 'ours': must be a row of the grid, with which the others are
    compared. Known: rho = 0, rho = 1
grid.rows=null;;grid.axes=null;;grid.baseline=ours -> grid.baseline = 'ours': must be a row of the grid, with which the
    others are compared. Name a row in grid.rows, or remove it
paper={table: rse-table6};;objective={metric: loss, direction: minimize} -> paper.table = 'rse-table6': its claims are
    of scores, where more is better, and objective.metric = 'loss'. Use metric: dev, or remove the table
""")


@cases(("overrides", "text"), GRIDS)
def test_a_grid_is_compared_with_a_row_it_has_and_a_paper_that_measures_alike(said, overrides, text):
    found = said(*NO_SEARCH, GRID % "''", *overrides.split(";;"))
    assert found == ([f"x.yaml: {text}"] if text else [])


@pytest.mark.parametrize("paper", ["{table: rse-table6}", "{scale: mini}"])
def test_a_paper_without_a_grid_has_no_rows(said, paper):
    expected = ["x.yaml: paper: belongs to a grid, whose rows are those of the paper's table. Remove it"]
    assert said(f"paper={paper}") == expected


@cases(("overrides", "text"), CASES)
def test_what_breaks_a_rule_is_told_with_its_way_out(said, overrides, text):
    assert said(*overrides.split(";;")) == [f"x.yaml: {text}"]


@pytest.mark.parametrize(
    "others", [["base.graphed=true"], [*NO_SEARCH, "grid={rows: {ours: {}, recorded: {graphed: true}}}"]]
)
def test_a_row_whose_steps_are_recorded_has_one_worker(joint, others):
    content = joint()
    apply_overrides(content, [*others, "resources={executor: train, workers: 2}"])
    with pytest.raises(
        InputErrors, match=r"resources.workers = 2: graphed: true records the steps of one worker"
    ):
        check_content(content, where="x.yaml")


NORM = "norm: {choice: [l1, l2, linf], into: [pgd.ball.norm, fgsm.ball.norm, token_level.ball.norm]}"
FEW = (
    "num_trials = %d: gives %d to norm = %s, which has only %s, and none runs twice. Give it an axis of its own, or "
    "fewer trials"
)


@cases(
    ("search", "num_trials", "few"),
    [
        (f"{{{NORM}, rho: {{choice: [0, 0.5]}}}}", 6, []),
        (
            f"{{{NORM}, rho: {{choice: [0, 0.5], when: {{norm: l2}}}}}}",
            6,
            [(2, "l1", "1 point"), (2, "linf", "1 point")],
        ),
        (f"{{{NORM}, rho: {{float: [0, 1], when: {{norm: l2}}}}, phi: {{choice: [0, 0.1]}}}}", 6, []),
        (
            f"{{{NORM}, rho: {{float: [0, 1], when: {{norm: l2}}}}, phi: {{choice: [0, 0.1]}}}}",
            9,
            [(3, "l1", "2 points"), (3, "linf", "2 points")],
        ),
    ],
)
def test_a_value_gets_no_more_trials_than_its_part_of_the_space_has_points(joint, search, num_trials, few):
    content = joint()
    edits = [f"search={search}", f"num_trials={num_trials}", "tune_each=norm", "early_stopping=null"]
    apply_overrides(content, edits)
    study = build(Study, content, where="x.yaml")
    space, problems = resolve_space(study.base, study.search, where="x.yaml")
    assert not problems
    expected = [FEW % (num_trials, *one) for one in few]
    found = [str(one) for one in broken_rules(RULES_OF_TRIALS, study, space, (), where="x.yaml")]
    assert [line for line in found if "norm = " in line] == [f"x.yaml: {line}" for line in expected]


BY_MR = ["objective.metric=robust/accuracy", "base.replayed={recipe: pwws, labelled: MR}"]


@cases("name", ["MR/fast", "MR/full", "SST2/fast", "attack-mr/pwws", "attack-sst2/textfooler"])
def test_a_search_reports_nothing_of_the_texts_it_selects_by(said, name):
    assert said(*BY_MR, f"evaluations=[CR/fast, {name}]") == [
        f"x.yaml: evaluations.1 = {name!r}: the search selects by MR, attacked (base.replayed.labelled): it has seen "
        "these texts. Replay texts of another set (builtin), or evaluate on another one"
    ]


def test_an_evaluation_is_said_where_the_file_has_it(said):
    """An index is that of the file's list; what a pattern stands for has none."""
    found = said(*BY_MR, "evaluations=['*/geometry', MR/fast, STS-B/dev, MR/*, CR/fast, CR/fast]")
    assert [line.removeprefix("x.yaml: ").split(": ")[0] for line in found] == [
        "evaluations.2 = 'STS-B/dev'",
        "evaluations.5 = 'CR/fast'",
        "evaluations.1 = 'MR/fast'",
        "evaluations = 'MR/full'",
    ]


def test_what_it_does_not_select_by_or_could_not_be_read_breaks_no_rule(said):
    evaluations = "evaluations=[MR/fast, SST2/fast, attack-mr/pwws]"
    assert said(*BY_MR, "evaluations=[CR/fast, SUBJ/full, attack-imdb/pwws]") == []
    assert said(*BY_MR, evaluations, "objective.metric=dev") == []
    assert said(*BY_MR, evaluations, "base.replayed.labelled=builtin") == []
    assert said(*BY_MR, "evaluations=[builtin/test]", "base.replayed.labelled=builtin") == []
    # A grid selects nothing.
    assert said(*NO_SEARCH, GRID % "ours", *BY_MR, evaluations) == []
    assert said(*BY_MR, evaluations, broken={"objective"}) == []
    assert len(said("seeds=[0, 4]", "search_budget={steps: 59}", broken={"seeds"})) == 1


def test_all_rules_are_looked_at_even_where_fields_are_broken():
    broken = ["num_trials=abc", "search.beta=5"]
    others = [
        "seeds=[0, 0]",
        "search_budget={steps: 59}",
        "search.rho={float: [0, 7]}",
        "early_stopping.first=7",
    ]
    with pytest.raises(InputErrors) as caught:
        read_study(JOINT, [*broken, *others, "confirm.num_best=99"])
    named = " ".join(problem.what.split(" =")[0] for problem in caught.value.problems)
    assert named == "search.beta num_trials seeds.1 search_budget.steps search.rho early_stopping.first"


@pytest.mark.parametrize(
    ("overrides", "warning"),
    [
        (["sampler.num_startup=17"], "all trials are random draws: num_trials 16 < num_startup 17"),
        (["sampler={name: gp, num_startup: 17}"], "all trials are random draws: num_trials 16 < num_startup"),
        (
            ["sampler={name: nsga2, population_size: 16}", "early_stopping=null"],
            "all trials are random draws: num_trials 16 <= population_size 16",
        ),
        (["sampler={name: cma_es}"], "cma_es learns nothing from trials that early_stopping ends"),
        (
            ["sampler={name: gp}", "num_trials=201"],
            "beyond 200 trials a proposal of gp takes more than 0.5 s",
        ),
        (["confirm=null"], "evaluations are of confirmed trials, and nothing is confirmed"),
        (["search.rho={float: [0.6, 1]}"], "the base lies outside the space"),
    ],
)
def test_what_is_allowed_and_odd_is_a_warning(content, overrides, warning):
    apply_overrides(content, overrides)
    inert, found = check_study(build(Study, content, where="x.yaml"), where="x.yaml").warnings
    assert inert.startswith("PGD's delta has no effect in the base: ")
    assert found.startswith(warning)
