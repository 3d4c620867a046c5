"""What a recipe uses: no more and no less is looked for, and hashed."""

import shutil
from pathlib import Path

import pytest

from rse_study.assets.attack_resources import fingerprints_of, resources_of, word_lists
from rse_study.data.text_files import find_file, read_lines
from rse_study.data.typos import KEYBOARD, LOOKALIKES
from rse_study.data.wordnet import ARCHIVE, FOLDER
from rse_study.errors import InputError
from rse_study.evaluation.attacks.engine import attack_all
from rse_study.evaluation.attacks.goals import Untargeted
from rse_study.evaluation.attacks.lexicons.ppdb import FILE as PPDB
from rse_study.evaluation.attacks.lexicons.stopwords import ARCHIVE as STOP_WORDS
from rse_study.evaluation.attacks.recipes import RECIPES, REPLAYABLE
from rse_study.evaluation.attacks.resources import Resource
from rse_study.evaluation.attacks.single_input import Target
from rse_study.training.trial import Replayed
from tests import needs
from tests.evaluation.attacks.bag_of_words import BagOfWords

FILES = {
    Resource.WORDNET: FOLDER / ARCHIVE,
    Resource.STOP_WORDS: STOP_WORDS,
    Resource.SYNONYM_LISTS: Path(PPDB),
    Resource.LOOK_ALIKES: Path(LOOKALIKES),
    Resource.KEYBOARD: Path(KEYBOARD),
}


def lay(name: Resource, data_dir: Path, folder: Path) -> Path:
    """The file of that resource in a folder of its own: a copy of an archive, of a text its plain content."""
    path = folder / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        shutil.copyfile(data_dir / FILES[name], path)
    else:
        path.write_text("\n".join(read_lines(find_file(FILES[name], data_dir))), encoding="utf-8")
    return path


@pytest.fixture(params=list(RECIPES))
def recipe(request):
    if Resource.SENTENCE_SIMILARITY in RECIPES.get(request.param).needs:
        needs.minilm()
    return request.param


@pytest.fixture
def laid(recipe, data_dir, tmp_path):
    """A data folder that holds what the recipe says it needs, and nothing else."""
    return {need: lay(need, data_dir, tmp_path) for need in RECIPES.get(recipe).needs if need in FILES}


def test_a_trial_may_replay_every_recipe_that_needs_no_masked_lm():
    assert Replayed.model_json_schema()["properties"]["recipe"]["enum"] == ["none", *REPLAYABLE]


def test_a_recipe_nobody_knows_is_refused(tmp_path):
    """It has no resources, and no fingerprint, of another one."""
    for find in (fingerprints_of, resources_of):
        with pytest.raises(InputError, match=r"no such attack 'pws'.*Did you mean 'pwws'"):
            find("pws", tmp_path)


def test_an_attack_needs_nothing_else(recipe, laid, tmp_path):
    """A whole attack on a sentence, with every lookup it makes."""
    if recipe not in REPLAYABLE:
        pytest.skip("it asks a masked language model")
    built = RECIPES.get(recipe)().build(resources_of(recipe, tmp_path), Untargeted())
    victim = BagOfWords({"great": 0.5, "good": 0.2, "film": 0.1, "so": 0.1})
    (outcome,) = attack_all(
        built, victim, [Target(0, ("this great film is so good",), 1)], max_queries=300, seed=0
    )
    assert outcome.num_queries > 1 and outcome.changed


def test_each_of_them_is_missed_where_it_is_not_here(recipe, laid, tmp_path):
    named = [need for need in RECIPES.get(recipe).needs if need != Resource.MASKED_LM]
    assert list(fingerprints_of(recipe, tmp_path)) == named
    for name, path in laid.items():
        hidden = path.rename(path.with_name("hidden"))
        fresh = tmp_path.with_name(f"{tmp_path.name}-without-{name.replace(' ', '-')}")
        shutil.copytree(tmp_path, fresh)  # tables once read are remembered by their folder
        with pytest.raises(InputError):
            fingerprints_of(recipe, fresh)
        hidden.rename(path)


def test_what_they_hold_counts_and_not_how_it_is_packed(recipe, laid, data_dir, tmp_path):
    assert fingerprints_of(recipe, tmp_path) == fingerprints_of(recipe, data_dir)


@pytest.mark.parametrize("recipe", ["pwws", "textfooler", "textbugger"])
def test_word_lists_apart_from_the_data_folder_are_the_same_resources(recipe, data_dir, tmp_path):
    folder = word_lists(tmp_path, recipe, data_dir)
    assert fingerprints_of(recipe, folder) == fingerprints_of(recipe, data_dir)
    assert word_lists(tmp_path, recipe, data_dir) == folder
    size = sum(path.stat().st_size for path in folder.rglob("*"))
    assert size < 50_000_000
