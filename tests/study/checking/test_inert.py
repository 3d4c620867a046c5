"""What arithmetic alone shows to be inert, before anything runs."""

from pathlib import Path

from rse_study.data.catalogue import catalogue
from rse_study.downstream import STAND_INS, Attacks, FineTuning, Settings, all_evaluations, sets_of
from rse_study.methods import VAdvCSE
from rse_study.perturbations.sentence_level import FGSM, PGD
from rse_study.study.checking.data_check import needs_of
from rse_study.study.checking.edges import checks_of, inert_parts
from rse_study.study.checking.validation import check_content, read_study
from rse_study.study.definition.reading import apply_overrides
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.methods.problem import settings

STEPS = {"K": 5, "T": 5, "beta": 1e-2, "radius": 0.1}


def trial(method, **settings):
    return Trial.model_construct(method=method, batch_size=64, **settings)


PARTS = [
    (
        "alpha of the papers",
        settings(alpha=1e-5, **STEPS),
        ['PGD\'s delta has no effect in "this row": it moves by at most 2.8%'],
    ),
    ("a hundred times that", settings(alpha=1e-3, **STEPS), []),
    ("no weight of PGD", settings(alpha=1e-5, rho=0.0, **STEPS), []),
    ("no steps", settings(alpha=1e-5, **STEPS | {"K": 0}), []),
    ("beta of 1e-6", settings(alpha=1e-3, **STEPS | {"beta": 1e-6}), ["FGSM's delta has no effect in"]),
    (
        "lambda of V-advCSE",
        VAdvCSE(),
        ['lambda F has no effect in "this row": it is at most 0.0011% of the loss'],
    ),
    ("ten thousand times that", VAdvCSE(weight=1e-2), []),
    ("a divergence without a bound", VAdvCSE(divergence="kl"), []),
    ("without the term", VAdvCSE(weight=0.0), []),
]


@cases(("name", "method", "expected"), PARTS)
def test_what_cannot_be_alive_is_named(name, method, expected):
    found = inert_parts({"this row": [trial(method)], "an other": [trial(settings(alpha=1e-2))]})
    assert len(found) == len(expected), found
    for warning, words in zip(found, expected, strict=True):
        assert warning.startswith(words)


def test_the_bound_holds_for_what_the_steps_do():
    """Every entry of a sign step moves by the whole of it, so that FGSM reaches what is foreseen."""
    assert FGSM(num_steps=5, step_size=1e-3).most_moved == PGD(num_steps=5, step_size=1e-3).most_moved
    assert PGD(ball={"norm": "l1"}).most_moved == float("inf")
    assert PGD(ball={"given_for": "l2"}).most_moved == float("inf")


def test_a_study_has_the_checks_of_all_its_methods_once():
    metrics = [check.metric for check in checks_of([trial(settings()), trial(VAdvCSE()), trial(settings())])]
    assert {"delta/moved", "r/moved", "inner/rise"} <= set(metrics)
    assert len(metrics) == len(set(metrics))


NORMS = "norm={choice: [l1, linf], into: [pgd.ball.norm, fgsm.ball.norm, token_level.ball.norm]}"
METHODS = (
    "method={variants: {ours: {}, virtual: {method: {name: v_adv_cse}}}}",
    "strength={log: [1e-9, %s], when: {method: virtual}, into: [method.weight]}",
)
RANGES = [
    (("alpha={log: [1e-6, 1e-3]}",), ["PGD's delta has no effect in the base: it moves by at most 2.8%"]),
    (
        ("alpha={log: [1e-7, 1e-6]}",),
        ["PGD's delta has no effect in every trial of the search: it moves by at most 0.28%"],
    ),
    # Where rho is 0 there is no PGD to be inert.
    (
        ("alpha={log: [1e-7, 1e-6]}", "rho={float: [0, 1]}"),
        ["PGD's delta has no effect in every trial of the search:"],
    ),
    (("beta={log: [1e-3, 3e-2]}", NORMS), ['PGD\'s delta has no effect in the base and "norm = linf":']),
    (
        (METHODS[0], METHODS[1] % "1e-6"),
        [
            'PGD\'s delta has no effect in the base and "method = ours":',
            'lambda F has no effect in "method = virtual":',
        ],
    ),
    ((METHODS[0], METHODS[1] % "1"), ['PGD\'s delta has no effect in the base and "method = ours":']),
]


@cases(("axes", "expected"), RANGES)
def test_a_search_is_told_what_is_inert_in_all_of_it_and_beside_a_choice(joint, axes, expected):
    content = joint()
    content["search"] = {}
    edits = [f"search.{axis}" for axis in axes]
    apply_overrides(content, [*edits, "early_stopping=null", "num_trials=2", "sampler.name=random"])
    said = [one for one in check_content(content, where="x.yaml").warnings if " no effect in " in one]
    assert len(said) == len(expected), said
    for warning, words in zip(said, expected, strict=True):
        assert warning.startswith(words)


SHIPPED = Path(__file__).parents[3] / "search_spaces"
OF_ATTACKS = {"wordnet", "counter-fitting", "homoglyph", "typo"}


def needs(name, *overrides):
    return needs_of(read_study(SHIPPED / f"{name}.yaml", overrides))


@cases(
    ("name", "sets"),
    [
        ("quickstart", set()),
        ("paper/rse_table6", {"wiki1m", "STS-B", "SICK-R", *(f"STS{year}" for year in range(12, 17))}),
        ("paper/dcl_figure3", {"wiki1m", "STS-B", "wordnet"}),
        ("paper/v_adv_table3", {"wiki1m", "STS-B", "anli", "mnli", "snli", "fever"}),
        ("paper/rse_table2", {"wiki1m", "STS-B", "SICK-R", *OF_ATTACKS}),
        ("paper/dcl_figure2", {"wiki1m", "STS-B", "wordnet"}),
        ("paper/l2p_figure3", {"wiki1m", "STS-B", "wordnet"}),
        ("paper/dcl_table2", {"wiki1m", "STS-B", "wordnet", "squad"}),
        ("paper/dcl_table3", {"wiki1m", "STS-B", "wordnet", "GLUE-CoLA", "snli", "attack-snli"}),
        ("mini_robust", {"wiki1m-head", "wikitext2", "STS-B", "wordnet"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_sets_of_a_study_are_those_it_reads(name, sets):
    assert set(needs(name).sets) == sets


def test_corpora_and_models_of_all_rows_and_edges_are_among_the_needs():
    found = needs(
        "quickstart",
        "base.encoder={name: org/encoder, revision: v1, pooling: cls}",
        "base.corpus.source=[~/mine.txt, wiki/wikitext2/sentences.txt]",
        "grid.rows.more={source: {dataset: org/texts}, encoder.name: ~/mine}",
        "evaluations=[attack-mr/bae]",
        "attacks.masked_lm=org/masked",
    )
    assert (found.texts, [source.dataset for source in found.datasets]) == (("~/mine.txt",), ["org/texts"])
    assert found.models == (("org/encoder", "v1"), ("~/mine", "v1"), ("org/masked", "main"))
    assert set(found.sets) == {"wikitext2", "MR", "attack-mr", "wordnet"}


def test_every_evaluation_names_sets_of_the_catalogue_and_stand_ins_are_sets():
    settings = Settings(Attacks(masked_lm="minilm-mlm"), FineTuning())
    for name in all_evaluations():
        assert set(sets_of(name, settings)) <= {*catalogue()}, name
        assert bool(sets_of(name, settings)) == (not name.startswith("builtin/")), name
    assert {*STAND_INS, *STAND_INS.values()} <= {*catalogue()}
