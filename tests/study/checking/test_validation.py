from importlib.resources import files
from pathlib import Path

import pytest

from rse_study.errors import InputErrors
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.reading import read_spec
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.study.checking.edits import pairs
from tests.study.no_search import NO_SEARCH

SHIPPED = Path(str(files("search_spaces")))
JOINT = SHIPPED / "joint.yaml"
INERT = "it moves by at most {}% of the norm of its random start (the limit is 10%)"

BAD = pairs("""
search.pgd.num_step={int: [1, 3]} -> search.pgd.num_step: no such field of PGD. Did you mean 'num_steps'?
search.pg.num_steps={int: [1, 3]} -> search.pg.num_steps: the base has no field or symbol 'pg'. Did you mean 'pgd'?
search.lambda3={float: [0, 1]} -> search.lambda3: no such field or symbol of Trial. Did you mean
search.num_steps={int: [1, 3]} -> search.num_steps: names 2 fields
search.blend.rho={float: [0, 1]} -> method.blend.rho is written by 'rho' too
search.rho={float: [0, 1.2]} -> search.rho = 1.2: method.blend.rho = 1.2: must be <= 1
search.rho={float: [1, 0]} -> search.rho: low 1 must be < high 0
search.rho={log: [0, 1]} -> search.rho: low 0 must be > 0 on a log scale
search.num_trials=5 -> directly below `search:`; `num_trials` and other fields of the study stand beside `search:`
search.rho={float: [0, 1], log: [0.1, 1]} -> search.rho: an axis says exactly one of
search.rho={float: [0, x]} -> search.rho.float.1 = 'x': must be a number
search.rho={float: [0, 1], intoo: rho} -> search.rho.intoo: no such field of Float. Did you mean 'into'?
search.norm={choice: [l1, l3], into: [pgd.ball.norm]} -> method.blend.pgd.ball.norm = 'l3': must be 'l1', 'l2' or
search.norm={choice: [l1, l2], into: [pgd.ball.norm]} -> pgd.ball and fgsm.ball must agree
search.N={int: [0, 3], into: [pgd.num_steps, fgsm.num_steps]} -> search.N = 0: method: lambda1 > 0 needs
search.beta={log: [2.5, 9]} -> search.beta = 2.5, 9: num_steps * step_size of FGSM is at least twice the radius
search.beta={choice: [2.5, 3.5, 1e-3]} -> search.beta = 2.5, 3.5: num_steps * step_size
search={} -> search: must have at least 1 item(s)
base.method.name=rse -> base.method.name = 'rse': must be one of 'robust_sent_embed', 'l2p_csr'
base.encoder.poolin=cls -> base.encoder.poolin: no such field of Encoder. Did you mean 'pooling'?
base.encoder.pooling=prompt -> base.encoder: pooling: prompt and a template
base.corpus.source={kind: txt} -> base.corpus.source.kind = 'txt': must be one of
base.batch_size=1 -> base.batch_size = 1: must be >= 2
base=3 -> base = 3: must be a mapping
constraints=[{metric: dev, at_least: 50}] -> constraints: is no longer possible: a search chooses by its objectives
    alone. Remove it (if it is inherited: `constraints: null`). Make what it bounds one of `objectives`, or run
    the trials that are within the bound again as rows of a grid, with seeds of its own
warm_start={study: joint} -> warm_start: is no longer possible: a search begins with its base, and learns from its own
    trials. Remove it (if it is inherited: `warm_start: null`). To go on with a search, raise its num_trials; for
    another space, write the best settings that are known into `base`, which runs first
num_trials=abc -> num_trials = 'abc': must be an integer
name=Bad Name -> name = 'Bad Name': must match
objective.metric=test -> objective.metric: 'test' is a test split, which can never select
objective.metric=dve -> objective.metric: 'dve' is not produced by training. Did you mean 'dev'?
objective.direction=maximise -> objective.direction = 'maximise': must be 'maximize' or 'minimize' (which way is better)
objective.metric=robust/spearmn -> is not produced by training. Did you mean 'robust/spearman'?
objective.metric=robust/drift -> objective: a better 'robust/drift' is found by `direction: minimize`
objective={metric: robust/spearman, direction: minimize} -> objective: a better 'robust/spearman' is found by
    `direction: maximize`
base.replayed.recipe=pwsw -> base.replayed.recipe = 'pwsw': must be 'none',
base.watched={STS-B/geometry: 20} -> base.watched: is no longer possible: training measures dev pairs and replayed
    attacks, and nothing else. Remove it (if it is inherited: `watched: null`). List its evaluations in `evaluations`
search.watched={choice: [1, 2]} -> search.watched: is no longer possible: training measures dev pairs and replayed
objective.metric=STS-B/geometry/alignment -> 'STS-B/geometry/alignment' is an evaluation's, and those never
seeds=[0, 1] -> confirm.seeds.0 = 1: this seed was used in the search
resources.workers=3 -> batch_size = 32: must be a multiple of resources.workers = 3
serch={} -> serch: no such field of Study. Did you mean 'search'?
baselines=[start, ende] -> baselines.1 = 'ende': must be 'token_overlap', 'untrained', 'start', 'cls', 'mean',
""")


@cases(("override", "said"), BAD)
def test_a_bad_setting_is_refused_where_it_stands(override, said):
    with pytest.raises(InputErrors) as caught:
        read_study(JOINT, [override])
    assert said in str(caught.value)
    assert all(problem.where == str(JOINT) for problem in caught.value.problems)


@cases("name", ["joint", "mini_joint", "mini_robust"])
def test_shipped_searches_are_valid_and_begin_with_the_papers_setting(name):
    checked = read_study(SHIPPED / f"{name}.yaml")
    (warning,) = checked.warnings
    assert warning.startswith(f"PGD's delta has no effect in the base: {INERT.format(2.8)}")
    assert checked.space.base_point is not None
    assert {axis.symbol for axis in checked.space.axes} == {
        "alpha", "beta", "N", "norm", "rho", "lambda1", "lambda2", "phi",
    }  # fmt: skip


def test_the_quickstart_has_an_adversary_that_moves_and_noise_that_differs_from_it_in_nothing_else():
    checked = read_study(SHIPPED / "quickstart.yaml")
    assert checked.warnings == ()
    rows = {row.label: row.trial for row in checked.rows}
    noise = rows["noise"].model_dump()
    assert noise["method"]["blend"].pop("ascent") == "noise"
    assert (
        rows["gradient"].model_dump()["method"]["blend"] | noise["method"]["blend"]
        == (rows["gradient"].model_dump()["method"]["blend"])
    )
    assert checked.study.contrasts == {"gradient minus noise": {"gradient": 1.0, "noise": -1.0}}
    assert checked.study.seeds == tuple(range(8))


@cases("path", sorted((SHIPPED / "trials").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_trials_are_valid(path):
    trial = read_spec(Trial, path)
    assert trial.method.has_adversary == ("simcse" not in path.stem)


@cases(
    ("overrides", "way", "moves"),
    [
        # PGD: 16 * 0.1, and the start at 0.1 / sqrt(64)
        (["search.alpha={log: [1e-6, 0.1]}"], "1.6125", {"PGD": 2.8}),
        # 16 * 0.062 = 0.992 alone would stay inside
        (["search.beta={log: [1e-3, 0.062]}"], "1.0045", {"PGD": 2.8}),
        # Beside a start 90 times as long, the steps of FGSM are small, too.
        (
            ["base.method.blend.pgd.sigma=9", "base.method.blend.fgsm.sigma=9"],
            "1.605",
            {"PGD": 9.9, "FGSM": 3.1},
        ),
    ],
)
def test_every_way_to_the_bound_is_a_warning(overrides, way, moves):
    """A space can reach the bound and its base hardly leave the start: both are said."""
    warning, *inert = read_study(JOINT, overrides).warnings
    assert warning.endswith(f"goes up to {way}, the radius is 1")
    assert len(inert) == len(moves)
    for said, (name, percent) in zip(inert, moves.items(), strict=True):
        assert said.startswith(f"{name}'s delta has no effect in the base")
        assert INERT.format(percent) in said


def test_what_axes_break_together_is_refused_once_at_all_of_them():
    axes = [
        "search.N={choice: [0, 16], into: [pgd.num_steps]}",
        "search.T={choice: [16, 0], into: [fgsm.num_steps]}",
    ]
    with pytest.raises(InputErrors, match=r"search.N = 0, T = 0: method: lambda1 > 0 needs") as caught:
        read_study(JOINT, [*axes, "search.rho={float: [0.1, 0.9]}"])
    assert len(caught.value.problems) == 1
    few = [f"search.{name}=null" for name in ("alpha", "beta", "norm", "rho", "lambda2", "phi")]
    with pytest.raises(
        InputErrors, match=r"N = 0, lambda1 = 0.0009\d*, T = 0: method: lambda1 > 0 needs"
    ) as caught:
        read_study(JOINT, [*few, *axes, "base.method.lambda1=0"])
    assert len(caught.value.problems) == 1


ROWS = "grid={axes: {rho: [0, 1]}, rows: {ours: {}, other: {%s}}}"
WRITTEN = {  # values of an axis, the last of them not the base's
    "replayed.recipe": ("pwws", "textbugger"),
    "replayed.num_pairs": (200, 7),
    "replayed.seed": (0, 1),
    "replayed.sides": ("second", "both"),
    "replayed.labelled": ("none", "builtin"),
    "encoder.pooling": ("mean", "cls"),
}


def problems_of(overrides):
    with pytest.raises(InputErrors) as caught:
        read_study(JOINT, ["base.replayed.recipe=pwws", *overrides])
    return [str(problem).removeprefix(f"{JOINT}: ") for problem in caught.value.problems]


@cases("path", WRITTEN)
def test_no_axis_or_row_changes_what_all_trials_are_judged_by(path):
    """Two scores under two attacks are no comparison; nor are two sets found against two encoders."""
    judge, (here, other) = path.split(".")[0], WRITTEN[path]
    (said,) = problems_of([f"search.{path}={{choice: [{here}, {other}]}}"])
    assert said.startswith(f"search.{path}: writes base.{judge}, ")
    assert said.endswith("all trials of a study are judged alike. Make it a study of its own")
    (said,) = problems_of([*NO_SEARCH, ROWS % f"{path}: {other}"])
    assert said.startswith(f"grid.rows.other: writes base.{judge}, ")


@cases("removed", ["base.watched=null", "base.watched={}"])
def test_a_setting_that_is_gone_may_be_inherited_empty(removed):
    assert read_study(JOINT, [removed]).study == read_study(JOINT).study


def test_rows_that_say_what_the_base_says_are_judged_alike_and_encoders_may_differ():
    read_study(
        JOINT, ["base.replayed.recipe=pwws", *NO_SEARCH, ROWS % "replayed.recipe: pwws, batch_size: 16"]
    )
    pooled = "search.encoder.pooling={choice: [mean, cls]}"
    assert read_study(JOINT, [pooled]).space.axes
    elsewhere = ["base.replayed={recipe: pwws, reference: ./elsewhere}"]
    named = "search.encoder.name={choice: [tiny, ./mine]}"
    assert read_study(JOINT, [*elsewhere, named]).space.axes
    with pytest.raises(InputErrors, match=r"encoder\.pooling: writes base\.encoder\.pooling, against which"):
        read_study(JOINT, [*elsewhere, pooled])


def test_baselines_of_one_encoder_do_not_judge_rows_that_start_from_another():
    study = Path(__file__).parents[3] / "benchmarks" / "unaligned_minilm.yaml"
    assert read_study(study).warnings == ()
    (warning,) = read_study(study, ["baselines=[token_overlap, start]"]).warnings
    assert warning.startswith(
        "baselines = start: measured on minilm, with which rows that start from unaligned/0, unaligned/1, "
    )
