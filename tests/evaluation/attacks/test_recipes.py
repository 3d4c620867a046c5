"""What all recipes keep to, on a toy data folder; a new one is tested by its line in the registry."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.data.lexicons import PPDB, STOP_WORDS, SynonymList, english_stopwords, keyboard, lookalikes
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.attacks.attack import Move, Target
from rse_study.evaluation.attacks.attack_recipe import AttackResources, Resource
from rse_study.evaluation.attacks.engine import attack_all
from rse_study.evaluation.attacks.recipes import RECIPES, REPLAYABLE, TextFooler, recipes_with
from rse_study.evaluation.attacks.transformations import SentenceSimilarity
from tests.cases import cases
from tests.evaluation.attacks.bag_of_words import Score
from tests.evaluation.attacks.conftest import letters
from tests.evaluation.attacks.toy_data import STOPWORDS, lay

# Similarities of a toy encoder: strict enough to refuse some candidates, loose enough to pass some.
SETTINGS = {
    "textfooler": {"min_similarity": 0.93, "window": 5},
    "textbugger": {"min_similarity": 0.995},
    "bae": {"min_similarity": 0.97, "window": 5, "num_candidates": 12, "min_probability": 1e-3},
    "bert_attack": {"min_similarity": 0.97, "num_candidates": 12},
}
each = pytest.mark.parametrize("name", list(RECIPES))


def recipe_of(name, **settings):
    return RECIPES.get(name)(**SETTINGS.get(name, {}), **settings)


def run(attack, victim, examples, **settings):
    settings = {"max_queries": 10**6, "seed": 0} | settings
    return sorted(attack_all(attack, victim, examples, **settings), key=lambda row: row.index)


def test_the_papers_five_attacks_by_name():
    assert list(RECIPES)[:5] == ["textfooler", "textbugger", "pwws", "bae", "bert_attack"]
    assert {"bae", "bert_attack"} <= {*recipes_with(Resource.MASKED_LM)}
    assert {"pwws", "textbugger", "textfooler"} <= {*REPLAYABLE}
    assert {*REPLAYABLE}.isdisjoint(recipes_with(Resource.MASKED_LM))
    with pytest.raises(InputError, match="Did you mean 'textfooler'"):
        RECIPES.get("textfoolr")


def test_recipes_are_known_without_what_takes_seconds_to_import():
    """Study files are checked, and their schema is made, by their names."""
    heavy = ("torch", "scipy", "sklearn", "pandas", "transformers", "nltk")
    code = f"import sys, rse_study.downstream; print([one for one in {heavy} if one in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


@each
def test_a_recipe_takes_what_it_says_it_needs_and_nothing_else(name, victim, sentences, resources, tmp_path):
    needs = RECIPES.get(name).needs
    given = AttackResources(
        lay(needs, tmp_path),
        encoder=resources.encoder if Resource.SENTENCE_SIMILARITY in needs else None,
        masked_lm=resources.masked_lm if Resource.MASKED_LM in needs else None,
    )
    assert any(row.changed for row in run(recipe_of(name).build(given), victim, sentences))


@cases(("name", "need"), [(name, need) for name in RECIPES for need in RECIPES.get(name).needs])
def test_each_need_is_missed_where_it_is_absent(name, need, victim, sentences, resources, tmp_path):
    given = replace(resources, data_dir=lay({*Resource} - {need}, tmp_path))
    models = {
        Resource.SENTENCE_SIMILARITY: ("encoder", "no sentence encoder"),
        Resource.MASKED_LM: ("masked_lm", "no masked language model"),
    }
    if need in models:
        field, rule = models[need]
        with pytest.raises(InputError, match=f"recipe {name}: {rule}: .* Name one"):
            RECIPES.get(name)().build(replace(resources, **{field: None}))
        return
    with pytest.raises(MissingFile):
        run(RECIPES.get(name)().build(given), victim, sentences)


@each
def test_batches_do_not_show(name, resources, victim, sentences):
    attack, victim.bias = recipe_of(name).build(resources), 6.0
    whole = run(attack, victim, sentences)
    assert {row.outcome for row in whole} == {"succeeded", "failed", "skipped"}
    for batch_size, num_in_flight in ((1, 1), (1, 7), (7, 3), (64, 100)):
        victim.calls.clear()
        again = run(attack, victim, sentences, batch_size=batch_size, num_in_flight=num_in_flight)
        assert again == whole
        assert max(map(len, victim.calls)) <= batch_size
    half = {row.index: row for row in whole[::2]}
    rest = run(attack, victim, sentences, done=half)
    assert sorted([*half.values(), *rest], key=lambda row: row.index) == whole


@each
def test_budgets_hold(name, resources, victim, sentences):
    attack = recipe_of(name).build(resources)
    free = run(attack, victim, sentences)
    for budget in (1, 9, 30):
        rows = run(attack, victim, sentences, max_queries=budget)
        assert [row.num_queries for row in rows] == [min(budget, row.num_queries) for row in free]


def test_bugs_are_those_of_the_seed(resources, victim, sentences):
    attack = recipe_of("textbugger").build(resources)
    rows = [[row.adversarial for row in run(attack, victim, sentences, seed=seed)] for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2]


@each
def test_adversarial_texts_keep_to_the_constraints(name, resources, victim, sentences):
    attack = recipe_of(name).build(resources)
    changed = [row for row in run(attack, victim, sentences) if row.changed]
    assert changed
    for row in changed:
        original = AttackedText.of(row.original)
        assert not {original.word(position) for position in row.changed} & STOPWORDS
        for constraint in attack.constraints:
            if isinstance(constraint, SentenceSimilarity) and constraint.window is None:
                first, second = letters([row.original[0], row.adversarial[0]])
                cosine = first @ second / math.sqrt(first @ first * (second @ second))
                assert cosine >= constraint.threshold - 1e-12
        if name == "bert_attack":
            assert len(row.changed) <= math.ceil(0.4 * row.num_words)


LONG = ["a" * 100_000, "good1 " * 100]


@each
@cases("text", ["", " ", "!", "good1", "👍 👍", "مرحبا good1", "‮good1‬ שלום", "\x00", "\ud800 good1", *LONG])
def test_odd_texts(name, text, resources):
    examples = Labelled("toy", "test", [(text,)], np.array([0]), ("no", "yes"))
    attack = recipe_of(name).build(resources)
    (row,) = run(attack, lambda texts: np.tile([0.9, 0.1], (len(texts), 1)), examples)
    assert (row.outcome, row.adversarial) == ("failed", (text,))
    assert row.num_queries >= 1


@each
def test_which_side_of_a_pair_may_change(name, resources, sentences, weights):
    pairs = zip(sentences.texts[:12], sentences.texts[5:], strict=False)
    targets = [Target(index, (*one, *other), 0.0) for index, (one, other) in enumerate(pairs)]
    recipe = recipe_of(name)
    rows = run(recipe.build(resources, Move(distance="drift", tau=None)), Score(weights), targets)
    may_change = {"first": {0}, "second": {1}, "both": {0, 1}}[recipe.sides]
    changed = {side for row in rows for side in (0, 1) if row.original[side] != row.adversarial[side]}
    assert changed == may_change
    only_first = recipe_of(name, sides="first").build(resources, Move(distance="drift", tau=None))
    for row in run(only_first, Score(weights), targets):
        assert row.original[1] == row.adversarial[1]


def test_labels_say_what_is_replaced_and_unknown_settings_are_refused(resources):
    lists = "synonyms from the lists of counter-fitting, similarity from letters"
    for name, label in (
        ("textfooler", f"textfooler-like: {lists}, no part of speech"),
        ("textbugger", f"textbugger-like: {lists}"),
        ("pwws", "pwws"),
        ("bae", "bae-like: words from guesses, similarity from letters, no part of speech"),
    ):
        assert RECIPES.get(name)().build(resources).label == label
    with pytest.raises(ValueError, match="num_candidate"):
        TextFooler(num_candidate=3)


# Words read from files, and what is said of files that cannot be read.


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def test_synonyms_go_both_ways_in_the_order_of_the_file(tmp_path):
    write(tmp_path, PPDB, "car auto\nbus coach\ncoach bus\nvan car\nodd odd\n\n")
    lists = SynonymList.open(tmp_path)
    assert lists.nearest("car", 5) == ["auto", "van"]
    assert lists.nearest("car", 1) == ["auto"]
    assert lists.nearest("bus", 5) == ["coach"]
    assert lists.nearest("odd", 5) == lists.nearest("unheard", 5) == []


def test_the_real_lists_and_look_alikes(data_dir):
    lists = SynonymList.open(data_dir)
    assert "modeling" in lists.nearest("modelling", 50)
    assert len(lists.synonyms) > 10_000
    shapes, keys = lookalikes(data_dir), keyboard(data_dir)
    assert "о" in shapes["o"]  # Cyrillic
    assert set(keys["m"]) == {"h", "j", "k", "n"}
    assert set(keys["M"]) == {"H", "J", "K", "N"}
    for table in (shapes, keys):
        assert all(len(other) == 1 and other != key for key, others in table.items() for other in others)


def test_a_line_that_is_no_pair_and_an_archive_without_stop_words(tmp_path):
    write(tmp_path, PPDB, "car auto\ncar\n")
    with pytest.raises(InputError, match=r"synonyms.txt:2: is no pair of words"):
        SynonymList.open(tmp_path)
    write(tmp_path, str(STOP_WORDS), "no archive")
    with pytest.raises(InputError, match="stopwords/english"):
        english_stopwords(tmp_path)
