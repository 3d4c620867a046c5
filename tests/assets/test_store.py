"""Assets are built once and whole; a model is every file that decides its numbers, and no other."""

import multiprocessing
import os
import shutil
import signal
import time

import pytest
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from rse_study.assets.store import asset_path, build, fingerprint_of_model, fingerprint_of_weights
from rse_study.assets.tokenised import make_synonyms, synonym_table, tokenised_corpus
from rse_study.data.batches import Synonyms
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.errors import InputError
from rse_study.models.loading import load_tokenizer

KEY = {"corpus": "c", "size": 3}


def write(draft, text="built"):
    draft.mkdir()
    (draft / "weights").write_text(text)
    (draft / "meta.json").write_text("{}")


def test_built_once_and_found_by_its_key(tmp_path):
    built = []

    def builder(draft):
        built.append(draft)
        write(draft)

    first = build(tmp_path, "tiny", KEY, builder)
    assert build(tmp_path, "tiny", dict(reversed(KEY.items())), builder) == first
    assert first == asset_path(tmp_path, "tiny", KEY)
    assert first.name.startswith("tiny-")
    assert build(tmp_path, "tiny", {**KEY, "size": 4}, builder) != first
    assert len(built) == 2


def test_a_failed_build_leaves_nothing_that_counts(tmp_path):
    def fail(draft):
        draft.mkdir()
        (draft / "weights").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        build(tmp_path, "tiny", KEY, fail)
    assert not asset_path(tmp_path, "tiny", KEY).exists()
    final = build(tmp_path, "tiny", KEY, write)
    assert (final / "weights").read_text() == "built"
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == [final.name]


def _slow(root, marker):
    def builder(draft):
        with marker.open("a") as stream:
            stream.write("built\n")
        time.sleep(0.3)
        write(draft)

    build(root, "tiny", KEY, builder)


def test_processes_wait_for_the_one_that_builds(tmp_path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_slow, args=(tmp_path, tmp_path / "log")) for _ in range(3)]
    [worker.start() for worker in workers]
    [worker.join(20) for worker in workers]
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert (tmp_path / "log").read_text() == "built\n"


def _killed(root):
    def builder(draft):
        draft.mkdir()
        (draft / "weights").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)

    build(root, "tiny", KEY, builder)


def test_a_killed_build_is_cleared_away(tmp_path):
    worker = multiprocessing.get_context("fork").Process(target=_killed, args=(tmp_path,))
    worker.start()
    worker.join(20)
    assert worker.exitcode == -signal.SIGKILL
    final = build(tmp_path, "tiny", KEY, write)
    assert (final / "weights").read_text() == "built"
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == [final.name]


OTHERS = ["vocab.txt", "merges.txt", "spiece.model", "tokenizer_config.json"]  # of other tokenizers


@pytest.fixture
def folder(small, tmp_path):
    shutil.copytree(small, tmp_path / "model")
    return tmp_path / "model"


def test_a_copy_is_the_same_model_wherever_it_lies_and_without_weights_none(folder, small):
    (folder / "meta.json").unlink()
    (folder / "README.md").write_text("words about it")
    assert fingerprint_of_model(str(folder)) == fingerprint_of_model(str(small), "any-revision")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no weights in this folder"):
        fingerprint_of_model(str(folder))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", *OTHERS])
def test_every_file_that_matters_counts(folder, name):
    before, path = fingerprint_of_model(str(folder)), folder / name
    content = path.read_bytes() if path.is_file() else b""
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if content else b"{}")
    assert fingerprint_of_model(str(folder)) != before
    path.write_bytes(content) if content else path.unlink()
    assert fingerprint_of_model(str(folder)) == before


@pytest.mark.parametrize("name", ["model.safetensors", "head.safetensors", "pytorch_model.bin"])
def test_weights_are_all_weights_files_and_nothing_else(folder, name):
    before = fingerprint_of_weights(folder)
    for other in ("config.json", "meta.json", "vocab.txt"):
        (folder / other).write_text("{}")
    assert fingerprint_of_weights(folder) == before
    (folder / name).write_bytes(b"others")
    assert fingerprint_of_weights(folder) != before


@pytest.mark.parametrize("names", [("model-00001-of-00002", "model-00002-of-00002"), ("pytorch_model",) * 2])
def test_weights_in_several_files_and_older_ones_count(folder, names):
    end = ".safetensors" if names[0] != names[1] else ".bin"
    (folder / "model.safetensors").rename(folder / f"{names[0]}{end}")
    found = set()
    for content in (b"one", b"two"):
        (folder / f"{names[1]}{end}").write_bytes(content)
        found.add(fingerprint_of_model(str(folder)))
    assert len(found) == 2


def test_keyed_by_sentences_tokenizer_length_and_template(small, tmp_path):
    tokenizer = load_tokenizer(str(small))
    texts = ["the friend sings", "the friend sleeps"]
    first = tokenised_corpus(tmp_path, texts, tokenizer, 16)
    tokenizer(texts, padding=True, truncation=True, max_length=4)  # which is no part of the key
    assert tokenised_corpus(tmp_path, texts, tokenizer, 16) == first
    keys = [(texts[::-1], tokenizer, 16), (texts, tokenizer, 8), (texts, tokenizer, 16, "[X] means [MASK]")]
    others = {tokenised_corpus(tmp_path, *key) for key in keys}
    assert len(others - {first}) == 3
    corpus = TokenisedCorpus.open(first)
    assert len(corpus) == 2
    assert corpus.row(0).tolist() == tokenizer(texts[0]).input_ids


WORDS = ("[UNK]", "[PAD]", "car", "auto", "automobile", "big", "large", "##s", "house", ",")


@pytest.fixture(scope="module")
def tokenizer():
    vocabulary = {word: token for token, word in enumerate((*WORDS, "a"))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]")


def named(table, tokenizer, word):
    vocabulary = tokenizer.get_vocab()
    names = {token: name for name, token in vocabulary.items()}
    return {names[int(token)] for token in table.of(vocabulary[word])}


def test_words_have_the_synonyms_that_are_one_token(tokenizer, data_dir):
    table = make_synonyms(tokenizer, data_dir)
    assert named(table, tokenizer, "car") == {"auto", "automobile"}
    assert named(table, tokenizer, "large") == {"big"}
    assert named(table, tokenizer, ",") == set()
    starts = {word for word, token in tokenizer.get_vocab().items() if table.starts[token]}
    assert starts == {*WORDS, "a"} - {"##s"}


def test_byte_level_bpe_marks_what_begins_a_word(data_dir):
    words = ["<unk>", "<pad>", "Ġcar", "car", "Ġauto", "Ġbig", "Ġlarge", "s", ".", "Ġa", "a"]
    made = Tokenizer(models.WordLevel({word: token for token, word in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r" ?[a-z]+|\."), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    marked = PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", pad_token="<pad>")
    table = make_synonyms(marked, data_dir)
    assert named(table, marked, "\u0120car") == {"\u0120auto"}
    assert named(table, marked, "\u0120large") == {"\u0120big"}
    ids = torch.tensor(marked(" a car.")["input_ids"])
    every = torch.ones(len(ids), dtype=torch.bool)
    assert table.replaceable(ids, every).tolist() == [False, True, False]
    assert table.num_words(ids, every) == 2


def test_the_asset_is_made_once_and_never_of_a_vocabulary_without_a_pair(tokenizer, data_dir, tmp_path):
    folder = synonym_table(tmp_path, tokenizer, data_dir)
    stamp = (folder / "meta.json").stat().st_mtime_ns
    assert synonym_table(tmp_path, tokenizer, data_dir) == folder
    assert (folder / "meta.json").stat().st_mtime_ns == stamp
    assert len(Synonyms.open(folder).choices) > 0
    made = Tokenizer(models.WordPiece({"[UNK]": 0, "zxqy": 1}, unk_token="[UNK]"))
    other = PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]")
    with pytest.raises(InputError, match=r"no token has a synonym.*another encoder"):
        synonym_table(tmp_path, other, data_dir)
