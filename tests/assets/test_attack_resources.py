"""What a recipe uses: no more and no less is looked for, and hashed."""

import shutil
from pathlib import Path

import pytest

from rse_study.assets.attack_resources import fingerprints_of, resources_of
from rse_study.data.lexicons import ARCHIVE, FOLDER, KEYBOARD, LOOKALIKES, PPDB, STOP_WORDS
from rse_study.data.text_files import find_file, read_lines
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack_recipe import Resource
from rse_study.evaluation.attacks.recipes import RECIPES, REPLAYABLE
from rse_study.training.trial import Replayed
from tests import needs

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


def test_known_recipes_are_replayed_where_they_need_no_masked_lm_and_others_refused(tmp_path):
    assert Replayed.model_json_schema()["properties"]["recipe"]["enum"] == ["none", *REPLAYABLE]
    # It has no resources, and no fingerprint, of another one.
    for find in (fingerprints_of, resources_of):
        with pytest.raises(InputError, match=r"no such attack 'pws'.*Did you mean 'pwws'"):
            find("pws", tmp_path)


@pytest.mark.parametrize("recipe", list(RECIPES))
def test_a_recipe_needs_what_it_says_and_nothing_else(recipe, data_dir, tmp_path):
    """In a data folder that holds just that, however it is packed."""
    wanted = RECIPES.get(recipe).needs
    if Resource.SENTENCE_SIMILARITY in wanted:
        needs.minilm()
    laid = {need: lay(need, data_dir, tmp_path) for need in wanted if need in FILES}
    prints = fingerprints_of(recipe, tmp_path)
    assert list(prints) == [need for need in wanted if need != Resource.MASKED_LM]
    assert prints == fingerprints_of(recipe, data_dir)
    for name, path in laid.items():
        hidden = path.rename(path.with_name("hidden"))
        fresh = tmp_path.with_name(f"{tmp_path.name}-without-{name.replace(' ', '-')}")
        shutil.copytree(tmp_path, fresh)  # tables once read are remembered by their folder
        with pytest.raises(InputError):
            fingerprints_of(recipe, fresh)
        hidden.rename(path)
