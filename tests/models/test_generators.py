"""Replacements of a masked LM are its own probabilities, and later cells read what one has drawn."""

import os

import numpy as np
import pytest
import torch

from rse_study.data import builtin
from rse_study.evaluation.attacks.transformations import Blank
from rse_study.models import generators
from rse_study.models.generators import BLOCK, GeneratorOutputs, WordPredictor, load_generator
from tests.training.world import World


@pytest.fixture(scope="module")
def generator(tmp_path_factory):
    sentences = builtin.corpus(0, 120)
    return load_generator(World(tmp_path_factory.mktemp("world"), sentences).materials(dropout=0.0).base)


@pytest.fixture(scope="module")
def sentence():
    return builtin.corpus(0, 120)[0].rstrip(".").split()


def directly(generator, words, position, *, is_masked):
    """Every token's probability, by one plain pass of the whole model."""
    tokenizer = generator.tokenizer
    shown = list(words)
    if is_masked:
        shown[position] = tokenizer.mask_token
    ids = torch.tensor([tokenizer(" ".join(shown)).input_ids])
    assert ids.shape[1] == len(words) + 2  # a token a word, between two special ones
    return generator.model(ids).logits[0, position + 1].double().softmax(-1)


@pytest.mark.parametrize("is_masked", [True, False])
def test_probabilities_are_the_models(generator, sentence, is_masked):
    (found,) = WordPredictor(generator, num_words=10)([Blank(sentence, 2, is_masked)])
    expected = directly(generator, sentence, 2, is_masked=is_masked)
    vocabulary = generator.tokenizer.get_vocab()
    assert len(found) == 10
    for word, probability in found:
        assert probability == pytest.approx(float(expected[vocabulary[word]]), abs=1e-7)
    values = [probability for _, probability in found]
    assert values == sorted(values, reverse=True)
    best = max((p, w) for w, p in ((w, float(expected[t])) for w, t in vocabulary.items() if w.isalpha()))
    assert found[0][0] == best[1]


def test_a_place_does_not_feel_its_neighbours_in_the_batch(generator, sentence):
    model = WordPredictor(generator, num_words=5)
    blanks = [Blank(sentence, 1, True), Blank(sentence[:3], 0, True), Blank(sentence * 2, 4, False)]
    together, alone = model(blanks), [model([blank])[0] for blank in blanks]
    for one, other in zip(together, alone, strict=True):
        assert [word for word, _ in one] == [word for word, _ in other]
        assert [p for _, p in one] == pytest.approx([p for _, p in other], abs=1e-6)


def test_a_long_text_is_cut_around_the_place_and_a_word_of_no_known_piece_hidden(generator, sentence):
    model = WordPredictor(generator, num_words=5)
    long = sentence * 60
    for position in (0, len(long) // 2, len(long) - 1):
        ids, at = model._row(Blank(long, position, True))
        assert len(ids) <= generator.model.config.max_position_embeddings
        assert ids[at] == generator.tokenizer.mask_token_id
        assert ids.count(generator.tokenizer.mask_token_id) == 1
        assert len(model([Blank(long, position, True)])[0]) == 5
    (ids, at) = model._row(Blank([*sentence[:2], "[MASK]", *sentence[2:]], 0, True))
    assert (ids.count(generator.tokenizer.mask_token_id), at) == (1, 1)
    words = [*sentence[:2], "", *sentence[2:]]
    ids, at = WordPredictor(generator)._row(Blank(words, 2, False))
    assert ids[at] == generator.tokenizer.mask_token_id


IDS = torch.arange(12).view(3, 4)


def edited_at(step):
    """Replaces `step` modulo 4 tokens."""
    edited = IDS.clone()
    edited.view(-1)[: step % 4] = 100 + step
    return edited


def ask(outputs, steps):
    """What it gives at each step, and the steps it had computed."""
    computed, found = [], []
    for step in steps:
        found.append(outputs.edited(IDS, step, lambda step=step: computed.append(step) or edited_at(step)))
    return found, computed


def hold_steps(found, steps):
    assert all(torch.equal(one, edited_at(step)) for one, step in zip(found, steps, strict=True))


STEPS = range(BLOCK - 3, 2 * BLOCK + 2)


def test_the_second_one_computes_nothing(tmp_path):
    first, second = GeneratorOutputs(tmp_path / "key"), GeneratorOutputs(tmp_path / "key")
    found, computed = ask(first, STEPS)
    hold_steps(found, STEPS)
    assert computed == list(STEPS)
    first.flush()
    again, none = ask(second, STEPS)
    hold_steps(again, STEPS)
    assert none == []
    assert [path.name for path in sorted((tmp_path / "key").iterdir())] == ["000000", "000001", "000002"]


def test_two_at_a_time_keep_what_either_wrote(tmp_path):
    one, other = GeneratorOutputs(tmp_path), GeneratorOutputs(tmp_path)
    ask(one, range(30)), ask(other, range(10))
    one.flush(), other.flush()  # the shorter one last
    assert ask(GeneratorOutputs(tmp_path), range(30))[1] == []


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "a folder"])
def test_a_damaged_file_is_computed_again_and_written_anew(tmp_path, damage):
    outputs = GeneratorOutputs(tmp_path)
    ask(outputs, range(8))
    outputs.flush()
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    if damage == "a folder":
        path.unlink()
        path.mkdir()
    else:
        flipped = content[:40] + bytes([content[40] ^ 1]) + content[41:]
        path.write_bytes({"cut": content[:-4], "flipped": flipped, "empty": b""}[damage])
    again = GeneratorOutputs(tmp_path)
    found, computed = ask(again, range(8))
    hold_steps(found, range(8))
    assert computed == list(range(8))
    again.flush()
    if damage != "a folder":
        assert path.read_bytes() == content


def test_the_folders_used_longest_ago_make_room(tmp_path):
    for age, name in enumerate(["new", "older", "oldest", "mine"]):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "000000").write_bytes(np.zeros(100, np.uint8).tobytes())
        os.utime(folder, (1000 - age, 1000 - age))
    generators.make_room(tmp_path, tmp_path / "mine", 400)
    assert len(list(tmp_path.iterdir())) == 4
    generators.make_room(tmp_path, tmp_path / "mine", 299)
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "new"}
    generators.make_room(tmp_path, tmp_path / "another", 0)
    assert {path.name for path in tmp_path.iterdir()} == {"another"}
