from functools import partial

import pytest

from rse_study.assets import attack_resources
from rse_study.errors import InputError, MissingFile
from tests import needs

pytestmark = pytest.mark.usefixtures("no_hub")


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
