"""Which metric is which column: none of a main table is left out, and every metric is one that our code produces."""

from itertools import product

import numpy as np
import pytest
import torch

from analysis.figures.papers import PAIRS
from analysis.paper.columns import BLOCKS, MEAN, TOGETHER, columns_of, our_row
from analysis.paper.tables import measures, read_table, table_ids
from rse_study.data import GLUE, NLI_CLASSES
from rse_study.data.labelled import Labelled, StsPairs
from rse_study.data.labelled_sets import ANLI_ROUNDS
from rse_study.downstream import (
    EVALUATIONS_OF_WEIGHTS,
    FINE_TUNED,
    SYNONYMS,
    WEAKENED,
    Attacks,
    Settings,
    all_evaluations,
)
from rse_study.downstream.attacked_classifier import figures_of
from rse_study.downstream.fine_tuned_tasks import GlueFineTuned, NliFineTuned
from rse_study.downstream.weakened import WeakenedTokens
from rse_study.evaluation.classification import SQUAD_METRICS
from rse_study.evaluation.invariance import AlignmentUniformity, SentencePlane
from rse_study.evaluation.sts import Similarity
from rse_study.evaluation.transfer import Transfer
from rse_study.models.loading import load_encoder
from rse_study.models.text_classifier import Classifier, TextClassifier
from rse_study.results.comparing.comparisons import MINUS, is_of_history
from rse_study.results.files.attack_file import SummaryRow
from rse_study.results.records import PLANE
from tests.cases import cases
from tests.training.classifier.sorted_words import LEARNS, graded_pairs, singles

ENCODERS = set(BLOCKS.values())
ABLATIONS = [
    *(f"rse-table{n}" for n in (5, 6)),
    "l2p-table3",
    *(f"vadv-table{n}" for n in (4, 5, 6)),
    "dcl-figure3",
]
FIGURES = [
    "rse-figure2",
    *(f"rse-figure{n}" for n in (4, 5, 6)),
    *("l2p-figure2", "l2p-figure3", "dcl-figure2"),
]  # without numbers in the text
OF_DEV = "STS-B/dev/all"  # of the objective
MAIN = [
    *(f"rse-table{n}" for n in (1, 2, 3, 4)),
    "rse-figure3",
    *(f"l2p-table{n}" for n in (1, 2, 4)),
    *(f"vadv-table{n}" for n in (1, 2, 3)),
    *(f"dcl-table{n}" for n in (1, 2, 3)),
]
NOT_MEASURED = {("dcl-table3", "Normal"), ("dcl-table3", "Adversarial")}
NOISE = np.random.default_rng(0).normal(size=(256, 6))
ATTACKED = SummaryRow(
    set="mr", recipe="pwws", label="pwws", victim="v", victim_dev_accuracy=0.9, weak=False, num_inputs=4,
    num_skipped=1, num_succeeded=2, num_failed=1, original_accuracy=0.75, accuracy_under_attack=0.25,
    success_rate=0.5, mean_queries=30.0, share_of_words_changed=0.1, num_now=4, seconds_now=1.0, seed=0,
    fingerprint="f",
)  # fmt: skip
SETTINGS = Settings(Attacks(), LEARNS)


def places(table):
    """(column, group) of each number in a table that a study may lie beside; `*` is the block of any encoder."""
    frame = read_table(table)
    if ENCODERS & set(frame["group"]):
        frame = frame[frame["group"].isin(ENCODERS)].assign(group="*")
    return set(zip(frame["column"], frame["group"], strict=True))


@cases("table", MAIN)
def test_every_column_has_a_measure(table):
    lines = measures().query("table == @table")
    assert set(zip(lines["column"], lines["group"], strict=True)) == places(table)


@cases("table", ABLATIONS)
def test_every_column_of_an_ablation_has_a_measure_whatever_its_rows_are_grouped_by(table):
    lines = measures().query("table == @table")
    assert set(lines["column"]) == set(read_table(table)["column"])
    assert set(lines["group"]) == {""}
    for column in columns_of(table):
        whole = read_table(table).query("column == @column.name")
        assert dict(column.printed) == dict(zip(whole["row"], whole["value"], strict=True))


def test_an_average_that_is_printed_alone_is_over_the_sets_of_the_papers_main_table():
    known = measures().set_index(["table", "column", "group"])["metric"]
    main = {"rse": ("rse-table3", "*"), "vadv": ("vadv-table2", "")}
    joined = known[known.str.contains(TOGETHER, regex=False)]
    assert len(joined) == 5 + 2
    for (table, _, _), metric in joined.items():
        other, group = main[table.split("-")[0]]
        each = known[other][known[other].index.get_level_values("group") == group]
        assert metric.split(TOGETHER) == [one for one in each if one != MEAN]


def test_no_column_is_measured_twice_no_other_table_at_all_and_what_is_not_says_why():
    lines = measures()
    assert list(lines.columns) == ["table", "column", "group", "metric", "note"]
    assert not lines.duplicated(["table", "column", "group"]).any()
    assert set(lines["table"]) == {*MAIN, *ABLATIONS, *FIGURES}
    assert not set(FIGURES) & set(table_ids())
    bare = measures().query("metric == ''")
    assert set(zip(bare["table"], bare["group"], strict=True)) == NOT_MEASURED
    assert bare["note"].str.len().gt(20).all()


def test_a_mean_is_over_all_other_columns_of_its_block_which_are_measured():
    lines = measures().query("metric != ''")
    means = lines[lines["metric"] == MEAN]
    assert set(means["column"]) == {"Avg.", "GLUE Avg"}
    for one in means.itertuples():
        others = lines.query("table == @one.table and group == @one.group and metric != 'mean'")
        named = {column for column, group in places(one.table) if group == one.group}
        assert {*others["column"], one.column} == named


def embed(texts):
    return np.stack([NOISE[sum(map(ord, text)) % 256] for text in texts])


@pytest.fixture(scope="module")
def produced(learner):
    """The names of all figures, by evaluation: what its own code calls them on toy data."""
    pairs = graded_pairs(40)
    whole = tuple(singles(40, seed) for seed in range(3))
    rows = [
        *Similarity(StsPairs("STS-B", "test", pairs.first, pairs.second, pairs.gold)).score(embed, "me"),
        *Transfer((Labelled("MR", "all", whole[0].texts, whole[0].labels, ("no", "yes")),), "fast").score(
            embed, "me"
        ),
        *AlignmentUniformity(StsPairs("STS-B", "dev", pairs.first, pairs.second, pairs.gold)).score(
            embed, "me"
        ),
    ]
    by_kind = {}
    for row in rows:
        by_kind.setdefault(row.evaluation, set()).add(row.aggregation)
    attacked = (
        *EVALUATIONS_OF_WEIGHTS.get("AttackedClassifier").names,
        *EVALUATIONS_OF_WEIGHTS.get("AttackedSimilarity").names,
    )
    found = {name: {*figures_of(ATTACKED), *of_glue(name)} for name in attacked}
    for name in all_evaluations():
        task, how = name.split("/")
        if how in ("test", "geometry"):
            found[name] = by_kind[f"STS-B/{how}"]
        elif how == "full":
            found[name] = by_kind["MR/fast"]
        elif how in (PLANE, WEAKENED):
            made = {
                PLANE: SentencePlane(StsPairs(task, "test", [], [], np.zeros(0))),
                WEAKENED: WeakenedTokens(StsPairs(task, "dev", [], [], np.zeros(0)), frozenset()),
            }
            found[name] = {measure.metric.rpartition("/")[2] for measure in made[how].measures}
        elif task == "SQuAD":
            found[name] = set(SQUAD_METRICS)
        elif how == FINE_TUNED and task == "SNLI":
            found[name] = names_of(nli("SNLI"), learner)
        elif how == FINE_TUNED and task == "ANLI":
            found[name] = names_of(anli(), learner)
        elif how in (FINE_TUNED, SYNONYMS) and task.startswith("GLUE-"):
            found[name] = names_of(glue(task), learner)
    return found


def of_glue(name):
    """What an attack on a task of GLUE has besides; tests/downstream/test_attacked_classifier.py runs one."""
    return {"matthews_under_attack"} if name.startswith("attack-cola/") else set()


def names_of(asked, folder):
    """Scored by a classifier that has learnt nothing: it is called as any other."""
    classes = getattr(asked.held_out[0], "classes", ())
    encoder, tokenizer = load_encoder(folder, "mean")
    network = Classifier(encoder, len(classes) or 1, 0.1, torch.Generator().manual_seed(0))
    return {name for name, _ in asked.scores(TextClassifier(network, tokenizer, classes, 16))}


def toy(name, split, classes):
    texts = singles(6 * len(classes)).texts
    return Labelled(name, split, texts, np.arange(len(texts)) % len(classes), classes)


def nli(task):
    return NliFineTuned(task, toy(task, "train", NLI_CLASSES), (toy(task, "test", NLI_CLASSES),), SETTINGS)


def anli():
    held_out = tuple(toy(task, split, NLI_CLASSES) for split in ("test", "dev") for task in ANLI_ROUNDS)
    return NliFineTuned("ANLI", toy("MNLI", "train", NLI_CLASSES), held_out, SETTINGS)


def glue(task):
    known = GLUE.get(task.removeprefix("GLUE-"))
    pairs = graded_pairs(12)
    made = [
        toy(task, split, known.classes)
        if known.classes
        else StsPairs(task, split, pairs.first, pairs.second, pairs.gold)
        for split in known.splits
    ]
    return GlueFineTuned(task, made[0], tuple(made[1:]), SETTINGS)


def test_every_metric_is_produced(produced):
    for line in measures().query("metric not in ('', 'mean')").itertuples():
        for metric in line.metric.replace(TOGETHER, MINUS).split(MINUS):
            if metric == OF_DEV:
                continue
            if is_of_history(metric):
                assert metric in PAIRS, line
                continue
            evaluation, _, figure = metric.rpartition("/")
            assert evaluation in all_evaluations(), line
            assert figure in produced[evaluation], line


@cases(
    ("row", "block", "ours"),
    [
        ("SimCSE-BERT-base", "BERT-base", "SimCSE"),
        ("SimCSE-BERT-base (reproduced)", "BERT-base", "SimCSE"),
        ("SimCSE-RoBERTa-base", "BERT-base", "SimCSE-RoBERTa-base"),
        ("USCAL-RoBERTa-large", "RoBERTa-large", "USCAL"),
        ("+Prompt+Ours", "BERT-base", "+Prompt+Ours"),
        ("DCL", "BERT-base", "DCL"),
        ("BERT+DA", "BERT-base", "augmented fine-tuning"),
        ("BERT+Adv", "BERT-base", "adversarial fine-tuning"),
        ("BERT", "BERT-base", "before training"),
        ("BERT-base", "BERT-base", "before training"),
        ("BERT-base (first-last avg.)", "BERT-base", "first-last mean, no training"),
        ("RoBERTa-base-whitening", "RoBERTa-base", "whitened mean, no training"),
        ("BERT-base-flow", "BERT-base", "BERT-flow, no training"),
        ("+Flow", "BERT-large", "BERT-flow, no training"),
        ("CLS", "BERT-large", "[CLS], no training"),
        ("alpha = 1e-05, beta = 0.001", "BERT-base", "alpha = 1e-05, beta = 0.001"),
    ],
)
def test_rows_are_called_as_a_study_calls_them(row, block, ours):
    assert our_row(row, block) == ours


@cases(("table", "encoder"), list(product(MAIN, BLOCKS)))
def test_no_two_rows_of_a_block_become_one(table, encoder):
    frame = read_table(table)
    for group, block in frame.groupby("group"):
        names = [our_row(row, BLOCKS[encoder]) for row in block["row"].unique()]
        assert len(set(names)) == len(names), group


def first_of(table, encoder=""):
    return columns_of(table, encoder)[0]


def test_a_study_lies_beside_the_block_of_its_encoder():
    expected = {"USCAL": 68.70, "RobustEmbed": 68.92, "RobustSentEmbed": 69.30}
    expected |= {"GloVe": 55.14}  # of no encoder
    assert first_of("rse-table3", "roberta-large").printed == expected
    for encoder in ("bert-base-uncased", "tiny", ""):
        assert first_of("rse-table3", encoder).block == "BERT-base"
        assert first_of("rse-table3", encoder).printed["SimCSE"] == 68.66
        assert "RobustSentEmbed-RoBERTa-base" not in first_of("rse-table3", encoder).printed
    assert first_of("vadv-table1", "bert-base-uncased").printed["V-advCSE"] == 72.05
    assert first_of("vadv-table1", "roberta-base").printed == {}


def test_blocks_that_are_no_encoders_keep_their_numbers_apart_and_figures_have_none():
    found = {(column.block, column.name): column for column in columns_of("rse-table1")}
    assert len(found) == 5 * 8
    assert found["PWWS", "MR"].printed["RobustSentEmbed"] == 28.05
    assert found["BERTAttack", "Avg."].printed["SimCSE"] == 75.51
    assert {block for block, _ in {(c.block, c.name): c for c in columns_of("dcl-table1")}} == {
        "Normal",
        "Robust",
    }
    assert {column.name for column in columns_of("rse-figure2")} == {"queries", "accuracy reduction"}
    assert all(column.printed == {} for column in columns_of("rse-figure2"))
    assert columns_of("") == columns_of("rse-figure1") == ()
    headings = {column.heading for column in columns_of("rse-table1")}
    assert {"PWWS: MR", "BERTAttack: Avg."} < headings
    assert columns_of("rse-table3", "roberta-base")[0].heading == "STS12"


def test_a_row_with_its_authors_settings_has_the_papers_number_too():
    column = first_of("rse-table3")
    assert column.printed_for("SimCSE (as published)") == column.printed_for("SimCSE") == 68.66
    assert np.isnan(column.printed_for("no such row"))
    assert "SimCSE (as published)" not in column.printed
