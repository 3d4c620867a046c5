"""AdvSTS in a folder of outcomes: what makes it another attack and what does not, and samples that grow."""

import json
from dataclasses import replace
from shutil import copytree

import numpy as np
import pytest

from rse_study.assets.attack_resources import resources_for
from rse_study.downstream import Attacks
from rse_study.downstream.attacked_similarity import MAP, AttackedSimilarity
from rse_study.downstream.models import ModelFiles, ScoredModel, score_model
from rse_study.errors import InputError
from rse_study.evaluation.sts import ScoreMap, cosines_of, fit_score
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.results.files.attack_file import outcomes_path, read_attacks
from tests.training.classifier.sorted_words import graded_pairs, small_base


def alike(split, num, seed):
    """Gold 5 where both texts are of one group of words, else 0."""
    pairs = graded_pairs(num, seed)
    return replace(pairs, name="STS-B", split=split, gold=2 * np.abs(pairs.gold - 2.5))


PAIRS, FITTING = alike("test", 12, 0), alike("dev", 20, 1)
OF_NOW = {"num_now", "seconds_now"}
OF_OLD = [
    ({"goal": "deviation"}, "92aa0d497ad4c398"),
    ({"goal": "deviation", "num_inputs": 5, "tau": 0.5}, "b0ac5b21d1f717ec"),
    ({"goal": "drift", "tau": 2.0}, "c2248ff0c814405d"),
    ({"goal": "maximise"}, "de9969cf91e16514"),
]


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """Two encoders that differ in nothing but their weights."""
    folders = [tmp_path_factory.mktemp(f"similar_{seed}") for seed in range(2)]
    for seed, folder in enumerate(folders):
        small_base(folder, seed=seed)
    return [str(folder) for folder in folders]


@pytest.fixture
def weights(bases, tmp_path):
    return ModelFiles(bases[0], "mean", tmp_path / "made", tmp_path / "kept")


@pytest.fixture(scope="module")
def embed(bases):
    return Embedder(*load_encoder(bases[0], "mean"))


@pytest.fixture(scope="module")
def asked(data_dir):
    def made(**changes):
        settings, tools = Attacks(**{"goal": "maximise", **changes}), resources_for("pwws", data_dir, "")
        return AttackedSimilarity(PAIRS, FITTING, "pwws", settings, tools, "tools")

    return made


def lines_of(weights):
    return outcomes_path(weights.kept, "AdvSTS-B", "pwws").read_text().splitlines()


def nudged(embed, by):
    """The same encoder but for the last digits of its vectors."""

    def other(sentences):
        return embed(sentences) * (1 + by * np.sin(np.arange(16, dtype=np.float32)))

    return other


def test_other_last_digits_are_no_other_attack_and_the_map_stays(asked, weights, embed):
    first = asked(num_inputs=5).attacked(nudged(embed, 1e-3), weights)[0]
    before = lines_of(weights)
    kept_map = ScoreMap("affine", *np.array(json.loads(before[0])[MAP]))
    fitted = fit_score(embed, FITTING)
    apart = np.abs(kept_map.cosines - fitted.cosines).max()
    assert apart > 1e-5
    whole = asked().attacked(embed, weights)[0]
    assert (first.num_now, whole.num_now) == (5, 7)
    assert lines_of(weights)[:6] == before  # the head as it was, and nothing sought twice
    rows = [json.loads(line) for line in lines_of(weights)[6:]]
    cosines = cosines_of(embed, [tuple(row["original"]) for row in rows])
    scores = [row["original_scores"][0] for row in rows]
    np.testing.assert_allclose(scores, kept_map(cosines), atol=1e-9)
    inside = (kept_map(cosines) > 0) & (kept_map(cosines) < 5)  # where no end of the scale hides the map
    assert inside.any()
    assert (np.abs(fitted(cosines) - kept_map(cosines))[inside] > 1e-7).all()


def test_a_sample_grows_and_shrinks_without_a_second_search(asked, weights, embed):
    five = asked(num_inputs=5).attacked(embed, weights)[0]
    before = lines_of(weights)
    eight = asked(num_inputs=8).attacked(embed, weights)[0]
    assert (five.num_now, eight.num_now, eight.num_inputs) == (5, 3, 8)
    assert {*five.drawn} < {*eight.drawn}
    assert lines_of(weights)[:6] == before
    assert len(lines_of(weights)) == 9
    again = asked(num_inputs=5).attacked(embed, weights)[0]
    assert again.num_now == 0
    assert again.model_dump(exclude=OF_NOW) == five.model_dump(exclude=OF_NOW)
    found = read_attacks(weights.kept)
    counted = found.outcomes[found.outcomes["is_counted"]]
    assert tuple(counted["index"]) == five.drawn
    assert len(found.outcomes) == 8
    whole = asked().attacked(embed, weights)[0]
    assert (whole.num_now, whole.num_inputs, whole.drawn) == (4, 12, ())
    assert read_attacks(weights.kept).outcomes["is_counted"].all()


def test_other_pairs_are_other_figures_and_identities_of_old_hold(asked):
    """Rows in a ledger go by the fingerprint: it says how many pairs, and which."""
    prints = [asked(num_inputs=number).fingerprint for number in (0, 5, 8)]
    assert len({*prints, asked(num_inputs=5, seed=1).fingerprint}) == 4
    # As they were before settings that decide nothing were left out: ledgers and files of outcomes go by them.
    assert [asked(**settings).fingerprint[:16] for settings, _ in OF_OLD] == [old for _, old in OF_OLD]


SAME = {
    "tau where none is to be reached": ({}, {"tau": 0.5}),
    "all, or as many": ({}, {"num_inputs": 12}),
    "all, or more": ({"goal": "drift"}, {"goal": "drift", "num_inputs": 99}),
}


def test_what_decides_nothing_asks_for_no_second_attack(asked, weights, embed):
    for case, pair in SAME.items():
        one, other = (asked(max_queries=5, **settings) for settings in pair)
        assert one.fingerprint == other.fingerprint, case
        own = replace(weights, kept=weights.kept / case)
        first, again = (evaluation.attacked(embed, own)[0] for evaluation in (one, other))
        assert (first.num_now, again.num_now) == (12, 0), case
        assert again.model_dump(exclude=OF_NOW) == first.model_dump(exclude=OF_NOW), case


CHANGES = {
    "encoder": lambda weights, bases: (replace(weights, base=bases[1]), {}),
    "pooling": lambda weights, bases: (replace(weights, pooling="first_last"), {}),
    "template": lambda weights, bases: (replace(weights, template="[X] means [MASK]"), {}),
    "goal": lambda weights, bases: (weights, {"goal": "drift"}),
    "tau": lambda weights, bases: (weights, {"goal": "drift", "tau": 0.5}),
    "max_queries": lambda weights, bases: (weights, {"max_queries": 7}),
    "seed": lambda weights, bases: (weights, {"seed": 1}),
    "scores": lambda weights, bases: (weights, {"scores": "isotonic"}),
}


@pytest.fixture(scope="module")
def kept_of(asked, embed, bases, tmp_path_factory):
    """goal -> a folder of the outcomes of three pairs."""
    folders = {goal: tmp_path_factory.mktemp(goal) for goal in ("maximise", "drift")}
    for goal, folder in folders.items():
        asked(num_inputs=3, goal=goal).attacked(embed, ModelFiles(bases[0], "mean", folder, folder))
    return folders


@pytest.mark.parametrize("key", CHANGES)
def test_another_attack_is_refused_or_replaced(asked, weights, embed, bases, kept_of, key):
    copytree(kept_of["drift" if key == "tau" else "maximise"], weights.kept)
    before = lines_of(weights)
    other, settings = CHANGES[key](weights, bases)
    with pytest.raises(InputError, match=rf"another attack \({key} differ\)"):
        asked(num_inputs=3, **settings).attacked(embed, other)
    assert lines_of(weights) == before
    pooling = other.pooling
    subject = ScoredModel("me", Embedder(*load_encoder(other.base, pooling), other.template), other)
    rows = score_model(subject, [asked(num_inputs=3, **settings)])
    assert {row.num_examples for row in rows} == {3}
    (differing,) = [
        name for name, value in json.loads(before[0]).items()
        if name not in (MAP, "attack") and json.loads(lines_of(weights)[0])[name] != value
    ]  # fmt: skip
    assert differing == key


def by_group(embed):
    """Vectors of one group of words are near each other: cosines fall where gold is turned round."""
    hues = {"red", "blue", "green", "brown"}

    def other(sentences):
        sides = [1.0 if hues & {*sentence.split()} else -1.0 for sentence in sentences]
        return 1e-2 * embed(sentences) + np.array(sides)[:, None]

    return other


COLLAPSED = {
    "constant": lambda embed: lambda sentences: np.full((len(sentences), 16), 0.1, np.float32),
    "not finite": lambda embed: lambda sentences: np.full((len(sentences), 16), np.nan, np.float32),
    "misleading": by_group,
}


@pytest.mark.parametrize("scores", ["affine", "isotonic"])
@pytest.mark.parametrize("how", COLLAPSED)
def test_what_no_attack_can_move_is_not_robust_but_weak(asked, weights, embed, how, scores):
    fitting = replace(FITTING, gold=5 - FITTING.gold) if how == "misleading" else FITTING
    for goal in ("deviation", "drift", "maximise"):
        evaluation = asked(goal=goal, scores=scores, num_inputs=4, max_queries=9, tau=4.0)
        own = replace(weights, kept=weights.kept / goal)
        subject = ScoredModel("me", COLLAPSED[how](embed), own)
        rows = score_model(subject, [replace(evaluation, fitting=fitting)])
        values = {row.aggregation: row.value for row in rows}
        assert values["drift"] == 0 == values.get("success_rate", 0), goal
        assert [row.aggregation for row in rows if not row.degenerate] == [], goal
        assert read_attacks(own.kept).summary["weak"].tolist() == [True], goal


def test_the_row_tells_its_attack_and_goal_and_no_success_where_there_is_none(asked, weights, embed):
    rows = [
        asked(num_inputs=4, max_queries=20, goal=goal, tau=0.5).attacked(embed, weights, replaces=True)[0]
        for goal in ("deviation", "drift", "maximise")
    ]
    assert rows[2].attack == json.loads(lines_of(weights)[0])["attack"]
    assert len({row.attack for row in rows}) == 3
    assert [(row.goal, row.tau) for row in rows] == [("deviation", 0.5), ("drift", 0.5), ("maximise", None)]
    of_success = [(row.original_accuracy, row.accuracy_under_attack, row.success_rate) for row in rows]
    assert of_success[1][0] == 1.0  # drift skips nothing
    assert of_success[2] == (None, None, None)
    assert rows[2].mean_drift is not None
