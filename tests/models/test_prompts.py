"""Prompts: a text before every sentence, the same in our vectors, exports and stored models."""

import json

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules

from rse_study.assets.trial_checks import check_described, check_encoder
from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.export import WholeModel, export, save_encoder
from rse_study.models.loading import load_encoder, load_tokenizer, untrained
from rse_study.training.trial import Encoder, Trial

from .conftest import SENTENCES, SIZES

PROMPT = "the old bird: "


@pytest.mark.parametrize("pooling", ["cls", "mean", "first_last"])
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_prompt_gives_the_vectors_of_texts_that_begin_with_it(folders, family, pooling):
    prompted = Embedder(*load_encoder(folders[family], pooling, prompt=PROMPT))
    bare = Embedder(*load_encoder(folders[family], pooling))
    np.testing.assert_array_equal(prompted(SENTENCES), bare([PROMPT + text for text in SENTENCES]))
    assert np.abs(prompted(SENTENCES) - bare(SENTENCES)).max() > 0.01


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_an_export_encodes_with_the_prompt_by_every_way_of_sentence_transformers(
    folders, tmp_path, family, pooling
):
    encoder, tokenizer = load_encoder(folders[family], pooling, prompt=PROMPT)
    ours = Embedder(encoder, tokenizer)(SENTENCES)
    export(tmp_path / "model", encoder, tokenizer)
    record = json.loads((tmp_path / "model/config_sentence_transformers.json").read_text())
    assert record["prompts"][record["default_prompt_name"]] == PROMPT
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu", local_files_only=True)
    for encode in (theirs.encode, theirs.encode_query, theirs.encode_document):
        np.testing.assert_allclose(encode(SENTENCES), ours, atol=1e-5)
    np.testing.assert_allclose(Embedder(*load_encoder(tmp_path / "model"))(SENTENCES), ours, atol=1e-5)


def test_a_models_own_folder_records_its_prompt_byte_for_byte(folders, tmp_path):
    for number, prompt in enumerate(["  query:\t", "Instruct: find it\nQuery: ", "問い：", ""]):
        encoder, tokenizer = load_encoder(folders["bert"], "mean", prompt=prompt)
        save_encoder(tmp_path / str(number), encoder, tokenizer)
        assert load_encoder(tmp_path / str(number))[0].prompt == prompt
    assert json.loads((tmp_path / "3/sentence_pooling.json").read_text()) == {
        "pooling": "mean",
        "template": "",
    }


def whole(folder, base, **settings):
    pool = modules.Pooling(SIZES["hidden_size"], "mean")
    made = SentenceTransformer(modules=[modules.Transformer(str(base)), pool], device="cpu", **settings)
    made.save(str(folder), create_model_card=False)
    return folder


E5 = {"prompts": {"query": "the cat ", "passage": "a dog "}}


def test_what_a_stored_model_says_applies_unless_a_trial_says_another(folders, tmp_path):
    folder = whole(tmp_path / "model", folders["bert"], **E5, default_prompt_name="passage")
    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    np.testing.assert_allclose(
        Embedder(*load_encoder(folder))(SENTENCES), theirs.encode(SENTENCES), atol=1e-5
    )
    np.testing.assert_allclose(WholeModel(folder)(SENTENCES), theirs.encode(SENTENCES), atol=1e-5)
    other = theirs.encode(SENTENCES, prompt_name="query")
    ours = Embedder(*load_encoder(folder, prompt="the cat "))(SENTENCES)
    np.testing.assert_allclose(ours, other, atol=1e-5)
    assert untrained(folder)[0].prompt == "a dog "
    assert (
        load_encoder(whole(tmp_path / "plain", folders["bert"], **E5))[0].prompt == ""
    )  # none is the default


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"default_prompt_name": "lost"}, r"cannot be loaded \(KeyError: 'lost'\)"),
        ({"prompts": {"passage": ["a dog"]}}, r"cannot be loaded \(TypeError"),
        ({"prompts": None}, r"cannot be loaded \(TypeError"),
    ],
)
def test_a_damaged_record_of_prompts_is_refused(folders, tmp_path, changes, said):
    folder = whole(tmp_path / "model", folders["bert"], **E5, default_prompt_name="passage")
    file = folder / "config_sentence_transformers.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(InputError, match=said) as caught:
        load_encoder(folder)
    assert str(file) in caught.value.where
    with pytest.raises(InputError, match=said):
        check_described(Trial(encoder={"name": str(folder), "pooling": "mean"}), str(folder))


def test_a_prompt_counts_against_the_maximum_length(folders):
    trial = Trial(encoder={"pooling": "mean", "prompt": "the old bird sat on the mat "}, max_length=9)
    tokenizer = load_tokenizer(str(folders["bert"]))
    with pytest.raises(
        InputError, match=r"leaves no room for a sentence in max_length = 9.* raise max_length"
    ):
        check_encoder(trial, str(folders["bert"]), tokenizer)
    check_encoder(trial.model_copy(update={"max_length": 10}), str(folders["bert"]), tokenizer)
    embed = Embedder(*load_encoder(folders["bert"], "mean", prompt="the " * 30))
    cut = "bird " * 8  # [CLS], 30 of the prompt, 8 and [SEP]: 40 positions
    np.testing.assert_array_equal(*embed([cut, cut + "dog"]))


def test_the_name_of_a_special_token_in_a_prompt_is_text(folders):
    encoder, tokenizer = load_encoder(folders["bert"], "mean", prompt="[SEP] ")
    bare = Embedder(*load_encoder(folders["bert"], "mean"))
    np.testing.assert_array_equal(Embedder(encoder, tokenizer)(["a dog"]), bare(["[SEP] a dog"]))


REFUSED = {
    "is one text for both sides of a pair": {"prompt": {"query": "query: ", "passage": "passage: "}},
    "valid string": {"prompt": ["query: "]},
}


@pytest.mark.parametrize("said", REFUSED)
def test_other_forms_of_a_prompt_are_refused(said):
    with pytest.raises(ValueError, match=said):
        Encoder(**REFUSED[said])


def test_an_empty_prompt_moves_no_identity_and_another_does():
    assert Encoder(prompt="").fingerprint() == Encoder().fingerprint()
    assert "prompt" not in Encoder(prompt="").reading()
    assert len({Encoder(prompt=one).fingerprint() for one in ("", "query: ", "query:")}) == 3


def test_a_prompt_stands_inside_a_template_and_is_not_cut(folders):
    template = 'the cat "[X]" sat on [MASK]'
    bare = Embedder(*load_encoder(folders["bert"], "prompt"), template)
    prompted = Embedder(*load_encoder(folders["bert"], "prompt", prompt=PROMPT), template)
    np.testing.assert_array_equal(prompted(SENTENCES), bare([PROMPT + text for text in SENTENCES]))
    tokenizer, encoder = load_tokenizer(str(folders["bert"])), {"pooling": "prompt", "template": template}
    trial = Trial(encoder={**encoder, "prompt": "old bird "}, max_length=12)
    check_encoder(trial, str(folders["bert"]), tokenizer)
    with pytest.raises(InputError, match=r"leaves no room for a sentence in max_length = 11"):
        check_encoder(trial.model_copy(update={"max_length": 11}), str(folders["bert"]), tokenizer)
