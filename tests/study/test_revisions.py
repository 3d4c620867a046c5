import json

import pytest

from rse_study.data.builtin import graded_pairs
from rse_study.errors import InputErrors
from rse_study.results.study_record import StudyRecord
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import apply_overrides, build
from rse_study.study.record import study_record
from rse_study.study.revisions import change_between
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.study.no_search import ONLY_SEARCH

GRID = {
    "axes": {"beta": [1e-3, 1e-2], "N": {"int": [1, 2], "into": ["pgd.num_steps", "fgsm.num_steps"]}},
    "rows": {"no perturbation": {"N": 0, "lambda1": 0}},
}


@pytest.fixture(scope="module")
def dev():
    return graded_pairs("dev")


@pytest.fixture
def search(content, dev):
    def record(*overrides):
        return recorded(content, dev, overrides)

    return record


@pytest.fixture
def grid(content, dev):
    kept = {name: value for name, value in content.items() if name not in ONLY_SEARCH}
    kept |= {"grid": GRID, "seeds": [0, 1]}

    def record(*overrides):
        return recorded(kept, dev, overrides)

    return record


def recorded(content, dev, overrides) -> StudyRecord:
    edited = json.loads(json.dumps(content))
    apply_overrides(edited, overrides)
    checked = check_study(build(Study, edited, where="x.yaml"), where="x.yaml")
    # As a ledger hands it back.
    return StudyRecord.model_validate_json(study_record(checked, dev).model_dump_json())


GRID_GROWS = [
    ("question=Another wording?", "question changed"),
    ("seeds=[0, 1, 2, 3]", "seeds added: 2"),
    ("seeds=[1, 2]", "seeds added: 1; seeds removed: 1"),
    ("grid.rows.small={lambda2: 0}", "rows added: 1"),
    ("grid.rows=null", "rows removed: 1"),
    ("grid.rows.no perturbation.lambda2=0", "rows changed: 1"),
    ("grid.axes.beta=[1e-3, 3e-2, 5e-2]", "values of beta added: 2; values of beta removed: 1"),
    ("grid.axes.N.int=[1, 4]", "values of N added: 2"),
    ("evaluations=[builtin/test, STS-B/test]", "evaluations added: 1"),
    ("evaluations=[]", "evaluations removed: 1"),
    ("baselines=[start]", "baselines removed: 2"),
    ("base.budget.amount=90", "base.budget.amount: 60 -> 90"),
    ("keep_models=none", 'keep_models: "final" -> "none"'),
    ("margin=0.3", "margin: null -> 0.3"),
    ("grid.baseline=no perturbation", 'grid.baseline: "" -> "no perturbation"'),
    ("paper={table: rse-table6}", 'paper: null -> {"table": "rse-table6", "scale": "paper"}'),
    ("resources={workers: 2}", ""),
    ("allowance={price_per_hour: 3}", ""),
]


DESIGN = (
    "grid={factorial: {rho: [0, 1], beta: [1e-3, 1e-2], phi: [0, 0.1], lambda2: [0, 0.01]}, resolution: 4}"
)
DESIGN_GROWS = [
    ("grid.resolution=full", 'grid.resolution: 4 -> "full"'),
    ("grid.factorial.rho=[0, 0.5]", "values of rho added: 1; values of rho removed: 1"),
]


SEARCH_GROWS = [
    ("num_trials=32", "num_trials: 16 -> 32"),
    ("confirm.num_best=3", "confirm.num_best: 1 -> 3"),
    ("confirm.seeds=[1, 2, 5]", "confirm.seeds added: 1"),
    ("confirm.resources=null", ""),
    ("resources={executor: train, workers: 4, max_concurrent: 2}", ""),
]


GROWS = [*(("grid", *one) for one in GRID_GROWS), *(("search", *one) for one in SEARCH_GROWS)]


@cases(("override", "said"), DESIGN_GROWS)
def test_a_design_may_get_other_levels_or_corners(grid, override, said):
    assert change_between(grid(DESIGN), grid(DESIGN, override)) == said


@cases(
    "override",
    ["grid.resolution=3;;grid.factorial.rho=null", "grid.factorial.kind={variants: {a: {}, b: {tau: 1}}}"],
)
def test_a_design_keeps_its_factors_and_what_their_variants_mean(grid, override):
    old = grid(DESIGN, "grid.factorial.kind={variants: {a: {}, b: {tau: 0.1}}}")
    with pytest.raises(InputErrors, match="must stay"):
        change_between(
            old, grid(DESIGN, "grid.factorial.kind={variants: {a: {}, b: {tau: 0.1}}}", *override.split(";;"))
        )


def test_a_grid_without_a_design_is_frozen_as_before_there_were_any(grid):
    assert set(grid().resolved["grid"]) == {"axes", "rows", "baseline"}


@cases(("kind", "override", "said"), GROWS)
def test_a_study_grows(grid, search, kind, override, said):
    record = {"grid": grid, "search": search}[kind]
    assert change_between(record(), record(override)) == said


def test_seeds_until_decided_replace_a_list_change_their_bounds_and_give_way_to_a_list(grid):
    baseline = "grid.baseline=no perturbation"
    listed, until = grid(baseline), grid(baseline, "seeds={until: decided}")
    assert listed.resolved["seeds"] == [0, 1]
    bounds = json.dumps({"until": "decided", "at_least": 3, "at_most": 16})
    assert change_between(listed, until) == f"seeds: [0, 1] -> {bounds}"
    assert change_between(until, listed) == f"seeds: {bounds} -> [0, 1]"
    more = grid(baseline, "seeds={until: decided, at_most: 20}")
    assert (until.num_cells, more.num_cells) == (5 * 16, 5 * 20)
    assert change_between(until, more) == "seeds.at_most: 16 -> 20"
    assert change_between(more, until) == "seeds.at_most: 20 -> 16"


def test_a_confirmations_seeds_are_bounded_and_listed_as_a_grids(search):
    listed, until = search(), search("confirm.seeds={until: decided}")
    more = search("confirm.seeds={until: decided, at_most: 20}", "confirm.num_best=2")
    bounds = json.dumps({"until": "decided", "at_least": 3, "at_most": 16})
    assert change_between(listed, until) == f"confirm.seeds: [1, 2] -> {bounds}"
    assert change_between(until, listed) == f"confirm.seeds: {bounds} -> [1, 2]"
    assert change_between(until, more) == "confirm.num_best: 1 -> 2; confirm.seeds.at_most: 16 -> 20"
    assert change_between(until, until) == ""
    assert (until.settings.confirm.seeds, until.num_cells) == (tuple(range(1, 17)), 16 + 2 * 16)


def test_confirmation_or_a_path_can_be_added_and_changed_and_a_path_not_removed(search):
    path = "ablation_path={seeds: [1, 3]}"
    assert change_between(search(), search(path)) == "ablation path added"
    expected = "ablation_path.seeds added: 1; ablation_path.seeds removed: 1"
    assert change_between(search(path), search(path, "ablation_path.seeds=[1, 4]")) == expected
    changed = change_between(search(path), search(path, "ablation_path.order=importance"))
    assert changed == 'ablation_path.order: "greedy" -> "importance"'
    assert change_between(search(path), search(path, "ablation_path.resources={threads: 2}")) == ""
    with pytest.raises(InputErrors, match="may be added, and not removed"):
        change_between(search(path), search())
    assert change_between(search("confirm=null"), search()) == "confirmation added"
    assert change_between(search("confirm.baseline=none"), search()) == "confirm.baseline added"


def test_several_changes_are_said_together_and_every_forbidden_path_is_named(grid, search):
    grown = grid("seeds=[0, 1, 2]", "grid.rows.small={lambda2: 0}", "grid.rows.large={lambda2: 0.1}")
    assert change_between(grid(), grown) == "rows added: 2; seeds added: 1"
    with pytest.raises(InputErrors) as caught:
        change_between(search(), search("base.method.lambda1=0.01", "search_seed=1", "num_trials=8"))
    expected = ["base.method.lambda1", "num_trials", "search_seed"]
    assert [problem.what.split(" = ")[0] for problem in caught.value.problems] == expected
    with pytest.raises(InputErrors, match='kind = "grid": was "search"'):
        change_between(search(), grid())


SEARCH_STAYS = [
    ("base.method.lambda1=0.01", "base.method.lambda1 = 0.01: was 0.0078125 when the study was frozen"),
    ("base.budget.amount=90", "base.budget.amount = 90: was 60"),
    ("search.rho={float: [0, 0.5]}", "search.rho.float = [0.0, 0.5]: was [0.0, 1.0]"),
    ("search.rho=null", "search.rho.float = absent: was [0.0, 1.0]"),
    ("search.tau={log: [0.01, 0.1]}", "search.tau.log = [0.01, 0.1]: was absent"),
    ("num_trials=8", "num_trials = 8: was 16 when the study was frozen, and may grow, and not shrink"),
    ("sampler.name=random", 'sampler.name = "random": was "tpe"'),
    ("search_seed=1", "search_seed = 1: was 0"),
    ("seeds=[7]", "seeds = [7]: was [0]"),
    ("early_stopping=null", "early_stopping.first = absent: was 15"),
    ("early_stopping.factor=3", "early_stopping.factor = 3: was 2"),
    ("confirm=null", "confirm = absent: was"),
    ("confirm.seeds=[1, 3]", "confirm.seeds = [1, 3]: was [1, 2]"),
    ("confirm.baseline=none", 'confirm.baseline = "none": was "base"'),
    ("objective={metric: loss, direction: minimize}", 'objective.metric = "loss": was "dev"'),
]


GRID_STAYS = [
    ("base.method.lambda1=0.01", "base.method.lambda1 = 0.01"),
    ("base.budget.amount=30", "base.budget.amount = 30: was 60 when the study was frozen, and may grow"),
    ("base.budget={unit: epochs, amount: 60}", 'base.budget.unit = "epochs": was "steps"'),
    ("grid.axes.N.into=[pgd.num_steps]", "grid.axes.N.into = "),
    ("grid.axes.N={choice: [1, 2], into: [pgd.num_steps, fgsm.num_steps]}", "grid.axes.N.choice = [1, 2]"),
    ("grid.axes.tau=[0.05, 0.1]", "grid.axes.tau.choice = [0.05, 0.1]: was absent"),
]


STAYS = [*(("grid", *one) for one in GRID_STAYS), *(("search", *one) for one in SEARCH_STAYS)]


@cases(("kind", "override", "said"), STAYS)
def test_what_a_study_rests_on_stays(grid, search, kind, override, said):
    record = {"grid": grid, "search": search}[kind]
    with pytest.raises(InputErrors) as caught:
        change_between(record(), record(override))
    assert said in str(caught.value)
    assert all(problem.remedy.startswith("Give the study another name") for problem in caught.value.problems)


def test_a_study_or_trial_frozen_before_a_field_existed_had_its_default_or_neutral_value(search, monkeypatch):
    old = search("confirm=null", "early_stopping=null", "evaluations=[]")
    for name in ("evaluations", "keep_models"):
        del old.resolved[name]
    assert change_between(old, search("early_stopping=null")) == "evaluations added: 1; confirmation added"
    monkeypatch.setattr(Trial.model_fields["report_every"], "json_schema_extra", {"neutral": 10})
    old = search()
    del old.resolved["base"]["report_every"]
    assert change_between(old, search()) == ""
    with pytest.raises(InputErrors, match=r"base.report_every = 5: was 10"):
        change_between(old, search("base.report_every=5"))
    del old.resolved["base"]["replayed"]
    assert change_between(old, search()) == ""
    with pytest.raises(InputErrors, match=r'base.replayed.recipe = "pwws": was "none"'):
        change_between(old, search("base.replayed.recipe=pwws"))
    # `sampler.population_size` came with the genetic samplers.
    del old.resolved["sampler"]["population_size"]
    assert change_between(old, search()) == ""
    with pytest.raises(InputErrors, match="population_size = 20: was 10"):
        change_between(old, search("sampler.population_size=20"))


def test_what_is_without_a_neutral_value_stays(search):
    old = search()
    del old.resolved["base"]["report_every"]
    with pytest.raises(InputErrors, match=r"base.report_every = 10: was absent .* or remove it"):
        change_between(old, search())


def test_what_is_measured_again_is_told_by_name_and_that_fingerprints_are_noted(grid):
    old = grid().model_copy(update={"fingerprints": {"STS-B/test": "a", "MR/fast": "c"}})
    new = old.model_copy(update={"fingerprints": {"STS-B/test": "b", "MR/fast": "c", "CR/fast": "d"}})
    assert change_between(old, new) == "measured again: STS-B/test"
    old = grid()
    new = old.model_copy(update={"fingerprints": {"STS-B/test": "a"}})
    assert change_between(old, new) == "fingerprints of its evaluations noted"


VARIANTS = "search={kind: {variants: {paper: {}, small: {rho: 0.1}}}, beta: {log: [1e-3, 1e-2], when: {kind: paper}}}"


@cases(
    "changed",
    [
        VARIANTS.replace("paper", "base"),
        VARIANTS.replace("0.1", "0.2"),
        VARIANTS.replace("when: {kind: paper}", "when: {kind: [paper, small]}").replace(
            "rho: 0.1", "lr: 1e-4"
        ),
        VARIANTS.replace(", when: {kind: paper}", ""),
    ],
)
def test_variants_and_conditions_stay(search, changed):
    before = search(VARIANTS)
    assert change_between(before, search(VARIANTS)) == ""
    with pytest.raises(InputErrors, match="must stay"):
        change_between(before, search(changed))


IN_ORDER = ("rho: {float: [0, 1]}", "beta: {log: [1e-3, 1e-2]}")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (VARIANTS, VARIANTS.replace("paper: {}, small: {rho: 0.1}", "small: {rho: 0.1}, paper: {}")),
        tuple(f"search={{{', '.join(axes)}}}" for axes in (IN_ORDER, IN_ORDER[::-1])),
    ],
    ids=["variants", "axes"],
)
def test_a_search_keeps_the_order_that_its_draws_depend_on(search, before, now):
    assert change_between(search(before), search(before)) == ""
    with pytest.raises(InputErrors, match="keeps the order"):
        change_between(search(before), search(now))


def test_a_cadence_that_follows_the_budget_grows_with_it_and_one_that_was_written_stays(grid):
    assert change_between(grid(), grid("base.budget.amount=20000")) == "base.budget.amount: 60 -> 20000"
    with pytest.raises(InputErrors, match=r"base\.report_every = 25: was 10 when the study was frozen"):
        change_between(grid(), grid("base.budget.amount=20000", "base.report_every=25"))


def test_the_seeds_of_a_search_that_raced_them_cannot_be_restored(search):
    new = search()
    raced = new.model_copy(update={"resolved": new.resolved | {"seeds": [0, 6]}})
    with pytest.raises(InputErrors) as caught:
        change_between(raced, new)
    assert caught.value.problems[0].remedy == "Give the study another name"
    one = new.model_copy(update={"resolved": new.resolved | {"seeds": [6]}})
    with pytest.raises(InputErrors, match=r"or restore \[6\]"):
        change_between(one, new)


def with_setting(record, path, value):
    """What was frozen with a value at a dotted path of its settings."""
    changed = record.model_copy(deep=True)
    *above, last = path.split(".")
    place = changed.resolved
    for name in above:
        place = place[name]
    place[last] = value
    return changed


def refusal_of(old, new):
    with pytest.raises(InputErrors) as caught:
        change_between(old, new)
    (problem,) = caught.value.problems
    assert problem.remedy == "Give the study another name"
    return problem.what


GONE = [
    ("constraints", [{"metric": "dev", "at_least": 50.0, "at_most": None}], [], "constraints"),
    ("warm_start", {"study": "", "trials": [{"rho": 0.25}]}, None, "warm_start"),
    ("early_stopping.let_run", 0.25, 0.0, "early_stopping.let_run"),
    ("base.watched", {"STS-B/geometry": 20}, {}, "base.watched.STS-B/geometry"),
]


@cases(("path", "given", "empty", "said"), GONE)
def test_a_study_with_a_setting_that_is_gone_is_not_continued_and_one_without_is(
    search, path, given, empty, said
):
    assert refusal_of(with_setting(search(), path, given), search()) == f"{said} = absent"
    assert change_between(with_setting(search(), path, empty), search()) == ""


def test_a_search_that_let_trials_run_is_not_continued_without_its_rule(search):
    old, new = with_setting(search(), "early_stopping.let_run", 0.25), search("early_stopping=null")
    assert refusal_of(old, new) == "early_stopping.let_run = absent"
