"""What all recipes keep to, on a toy data folder; PWWS has a file of its own."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.constraints.sentence_similarity import SentenceSimilarity
from rse_study.evaluation.attacks.engine import attack
from rse_study.evaluation.attacks.goals import Maximise
from rse_study.evaluation.attacks.recipes import BAE, RECIPES, BERTAttack, TextBugger, TextFooler
from rse_study.evaluation.attacks.resources import AttackResources, NamedModel
from rse_study.evaluation.attacks.single_input import SingleInput, Target
from rse_study.streams import Streams
from tests.evaluation.attacks.bag_of_words import Score
from tests.evaluation.attacks.conftest import STOPWORDS, letters

# Similarities of a toy encoder: strict enough to refuse some candidates, loose enough to pass some.
TUNED = {
    "textfooler": TextFooler(min_similarity=0.93, window=5),
    "textbugger": TextBugger(min_similarity=0.995),
    "bae": BAE(min_similarity=0.97, window=5, num_candidates=12, min_probability=1e-3),
    "bert_attack": BERTAttack(min_similarity=0.97, num_candidates=12),
}
each = pytest.mark.parametrize("name", TUNED)


def run(recipe, victim, examples, **settings):
    settings = {"max_queries": 10**6, "seed": 0} | settings
    return sorted(attack(recipe, victim, examples, **settings), key=lambda row: row.index)


def shown(text):
    return repr(text[:12])


def test_five_attacks_by_name():
    assert list(RECIPES) == ["textfooler", "textbugger", "pwws", "bae", "bert_attack"]
    with pytest.raises(InputError, match="Did you mean 'textfooler'"):
        RECIPES.get("textfoolr")


@each
def test_batches_do_not_show(name, resources, victim, sentences):
    recipe, victim.bias = TUNED[name](resources), 6.0
    whole = run(recipe, victim, sentences)
    assert {row.outcome for row in whole} == {"succeeded", "failed", "skipped"}
    assert run(recipe, victim, sentences, batch_size=1, num_in_flight=1) == whole
    assert run(recipe, victim, sentences, batch_size=7, num_in_flight=3) == whole
    half = {row.index: row for row in whole[::2]}
    rest = run(recipe, victim, sentences, done=half)
    assert sorted([*half.values(), *rest], key=lambda row: row.index) == whole


@each
def test_budgets_hold(name, resources, victim, sentences):
    recipe = TUNED[name](resources)
    free = run(recipe, victim, sentences)
    for budget in (1, 9, 30):
        rows = run(recipe, victim, sentences, max_queries=budget)
        assert [row.num_queries for row in rows] == [min(budget, row.num_queries) for row in free]


def test_bugs_are_those_of_the_seed(resources, victim, sentences):
    recipe = TUNED["textbugger"](resources)
    rows = [[row.adversarial for row in run(recipe, victim, sentences, seed=seed)] for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2]


@each
def test_adversarial_texts_keep_to_the_rules(name, resources, victim, sentences):
    recipe = TUNED[name](resources)
    changed = [row for row in run(recipe, victim, sentences) if row.changed]
    assert changed
    for row in changed:
        original = AttackedText.of(row.original)
        problem = SingleInput(recipe, Target(row.index, row.original, 0), Streams(0), original, np.zeros(2))
        assert not {original.word(position) for position in row.changed} & STOPWORDS
        reached = rebuilt(original, row, problem)
        assert reached.text == row.adversarial
        for rule in recipe.candidate_rules:
            if isinstance(rule, SentenceSimilarity) and rule.window is None:
                first, second = letters([row.original[0], row.adversarial[0]])
                cosine = first @ second / math.sqrt(first @ first * (second @ second))
                assert cosine >= rule.threshold - 1e-12
        if name == "bert_attack":
            assert len(row.changed) <= math.ceil(0.4 * row.num_words)


def rebuilt(original, row, problem):
    """The adversarial text, if some order of single permitted changes leads to it."""
    frontier = [original]
    for _ in row.changed:
        frontier = [
            candidate.worded
            for worded in frontier
            for position in row.changed
            for candidate in problem.candidates(worded, position)
            if agrees(candidate.worded, row)
        ]
        frontier = list({worded.changes: worded for worded in frontier}.values())
    return frontier[0]


def agrees(worded, row):
    """Whether what has changed reads in the adversarial text as it does here, as far as that shows in full length."""
    parts = row.adversarial[0]
    return all(new in parts for _, new in worded.changes) and (
        len(worded.changes) < len(row.changed) or worded.text == row.adversarial
    )


@each
@pytest.mark.parametrize(
    "text",
    ["", "...", "good1", "👍", "مرحبا بالعالم", "a" * 5000, "\x00", "good1 " * 300],
    ids=shown,
)
def test_odd_texts(name, text, resources):
    examples = Labelled("toy", "test", [(text,)], np.array([0]), ("no", "yes"))
    (row,) = run(TUNED[name](resources), lambda texts: np.tile([0.9, 0.1], (len(texts), 1)), examples)
    assert (row.outcome, row.adversarial) == ("failed", (text,))
    assert row.num_queries >= 1


@pytest.mark.parametrize(("name", "sides"), [("textfooler", {1}), ("textbugger", {0, 1}), ("bae", {0, 1})])
def test_which_side_of_a_pair_may_change(name, sides, resources, sentences, weights):
    pairs = [
        (first, second) for (first,), (second,) in zip(sentences.texts, sentences.texts[5:], strict=False)
    ]
    targets = [Target(index, text, 0.0) for index, text in enumerate(pairs)]
    rows = run(TUNED[name](resources, Maximise()), Score(weights), targets)
    assert {side for row in rows for side in (0, 1) if row.original[side] != row.adversarial[side]} == sides
    only_first = TUNED[name].model_copy(update={"sides": "first"})(resources, Maximise())
    for row in run(only_first, Score(weights), targets):
        assert row.original[1] == row.adversarial[1]


def test_labels_say_what_is_replaced(resources, tmp_path):
    found = {name: RECIPES.get(name)(resources).label for name in ("textfooler", "textbugger", "pwws", "bae")}
    assert found == {
        "textfooler": "textfooler-like: synonyms from the lists of counter-fitting, similarity from letters, "
        "no part of speech",
        "textbugger": "textbugger-like: synonyms from the lists of counter-fitting, similarity from letters",
        "pwws": "pwws",
        "bae": "bae-like: words from guesses, similarity from letters, no part of speech",
    }
    vectors = tmp_path / "glove.txt"
    vectors.write_text("good1 1 0\nbad1 1 0.1\n")
    given = replace(
        resources, vectors=vectors, tagger=NamedModel("ends", lambda lists: [["X"] * len(x) for x in lists])
    )
    assert RECIPES.get("textfooler")(given).label.endswith(
        "synonyms from glove.txt, similarity from letters, tags from ends"
    )
    assert len(RECIPES.get("textfooler")(given).candidate_rules) == 3


@pytest.mark.parametrize(
    ("name", "without", "what"),
    [
        ("textfooler", "encoder", "no sentence encoder"),
        ("textbugger", "encoder", "no sentence encoder"),
        ("bae", "masked_lm", "no masked language model"),
        ("bert_attack", "masked_lm", "no masked language model"),
        ("bert_attack", "encoder", "no sentence encoder"),
    ],
)
def test_what_is_missing_is_asked_for(name, without, what, resources):
    with pytest.raises(InputError, match=f"recipe {name}: {what}: .* Name one"):
        RECIPES.get(name)(replace(resources, **{without: None}))


def test_what_is_not_needed_is_not_asked_for(resources, toy_data):
    assert RECIPES.get("textbugger")(replace(resources, masked_lm=None, tagger=None))
    assert RECIPES.get("pwws")(AttackResources(toy_data))


@each
def test_an_empty_data_folder_is_said(name, resources, tmp_path):
    with pytest.raises(MissingFile):
        RECIPES.get(name)(replace(resources, data_dir=tmp_path))


def test_settings_are_told_apart():
    assert TextFooler().fingerprint() != TextFooler(min_cosine=0.7).fingerprint()
    with pytest.raises(ValueError, match="num_candidate"):
        TextFooler(num_candidate=3)
