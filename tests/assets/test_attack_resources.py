"""What a recipe uses: no more and no less is looked for and hashed; its masked LM is pinned."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from rse_study.assets import attack_resources
from rse_study.assets.attack_resources import fingerprints_of, resources_of
from rse_study.data.lexicons import ARCHIVE, FOLDER, KEYBOARD, LOOKALIKES, PPDB, STOP_WORDS
from rse_study.data.text_files import find_file, read_lines
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.attacks.attack_recipe import Resource
from rse_study.evaluation.attacks.recipes import RECIPES, REPLAYABLE
from rse_study.training.trial import Replayed
from tests import needs

pytestmark = pytest.mark.usefixtures("no_hub")
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


def test_a_masked_lm_that_is_nowhere_is_bad_input(data_dir, monkeypatch):
    """Not an error of the machine; and the hub is asked once, however many evaluations want it."""
    needs.minilm()
    asked = []
    check = attack_resources.check_model
    counted = lambda name: asked.append(name) or check(name)  # noqa: E731
    monkeypatch.setattr(attack_resources, "check_model", counted)
    for recipe in ("bae", "bert_attack"):
        with pytest.raises(InputError) as refused:
            attack_resources.fingerprint_resources(recipe, data_dir, "nobody/has-such-a-masked-lm")
        assert refused.value.where == "masked language model 'nobody/has-such-a-masked-lm'"
        assert "cannot be checked offline" in refused.value.what
        assert "minilm-mlm" in refused.value.remedy
    assert asked.count("nobody/has-such-a-masked-lm") == 1


def test_a_recipe_counts_by_the_words_it_is_given(data_dir, tmp_path):
    needs.minilm()
    (tmp_path / "lexicon").symlink_to(data_dir / "lexicon")
    with pytest.raises(MissingFile, match="wiki"):  # before anything trains
        attack_resources.fingerprint_resources("bae", tmp_path, "minilm-mlm")
    (tmp_path / "wiki").symlink_to(data_dir / "wiki")
    prints = partial(attack_resources.fingerprint_resources, data_dir=tmp_path, masked_lm="minilm-mlm")
    before = {name: prints(name) for name in ("bae", "textfooler")}
    (tmp_path / "lexicon").unlink()
    lists = tmp_path / "lexicon" / "counter_fitting"
    lists.mkdir(parents=True)
    (lists / "ppdb_synonyms.txt").write_text("good great\n")
    (tmp_path / "lexicon" / "wordnet").symlink_to(data_dir / "lexicon" / "wordnet")
    assert prints("bae") == before["bae"]  # its words are a masked LM's
    assert prints("textfooler") != before["textfooler"]


def test_a_masked_lm_is_the_one_that_was_found_wherever_and_whenever_it_runs(tmp_path, monkeypatch):
    """A folder by its whole path; of a hub name the commit of when it was asked for."""
    (tmp_path / "mlm").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(attack_resources, "fingerprint_of_model", lambda name: f"{name}@{'c' * 40}")
    assert attack_resources.find_masked_lm("mlm") == (str(tmp_path / "mlm"), "main")
    assert attack_resources.find_masked_lm("somebody/mlm") == ("somebody/mlm", "c" * 40)
    assert attack_resources.find_masked_lm("minilm-mlm") == ("minilm-mlm", "main")
