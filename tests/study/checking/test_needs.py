from pathlib import Path

from rse_study.data.catalogue import catalogue
from rse_study.downstream import STAND_INS, Attacks, FineTuning, Settings, all_evaluations, sets_of
from rse_study.study.checking.data_check import needs_of
from rse_study.study.checking.validation import read_study
from tests.cases import cases

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
