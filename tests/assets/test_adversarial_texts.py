"""Generated opinions under PWWS with WordNet: a probe on the reference is deceived once, others are asked again."""

import json

import numpy as np
import pytest

from rse_study.assets.replayed import Reference, adversarial_texts, read_for
from rse_study.assets.store import META
from rse_study.data import builtin
from rse_study.errors import InputError
from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.replayed import ReplayedTexts, probabilities_by, probe_of
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.training.trial import Encoder, Replayed
from tests.training.world import World

pytestmark = pytest.mark.xdist_group("adversarial_set")  # WordNet is read once
MEAN = Encoder(name="small", pooling="mean")
ASKED = {"recipe": "pwws", "labelled": "builtin", "num_texts": 12, "num_training": 150, "max_queries": 120}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), [text for (text,) in builtin.opinions().texts])


@pytest.fixture
def found(world, root, data_dir):
    """The folder for some settings, and the progress that was reported."""

    def found(encoder=MEAN, at=root, **settings):
        progress: list[tuple[int, int]] = []
        wanted = Replayed.model_validate(ASKED | settings)
        of = Reference.of(wanted, world.materials().base, encoder)
        folder = adversarial_texts(at, wanted, of, data_dir, lambda *done: progress.append(done))
        return folder, progress

    return found


def test_the_probe_on_the_reference_is_deceived_by_changed_words(found, world, data_dir):
    folder, _ = found()
    texts, few = ReplayedTexts.open(folder), read_for(Replayed.model_validate(ASKED), data_dir)
    assert texts.training.fingerprint == few.training.fingerprint
    assert texts.clean.fingerprint == few.inputs.fingerprint
    assert (texts.attacked.labels == texts.clean.labels).all()
    for before, after in zip(texts.clean.texts, texts.attacked.texts, strict=True):
        assert len(AttackedText.of(before)) == len(AttackedText.of(after))
    assert (texts.recipe, texts.reference) == ("pwws", "base")
    embed = Embedder(*load_encoder(world.materials().base, "mean"))
    ask = probabilities_by(probe_of(embed, texts.training), embed)
    clean, now = (ask(side.texts) for side in (texts.clean, texts.attacked))
    gold = np.arange(len(texts.clean)), texts.clean.labels
    is_right = clean.argmax(axis=1) == texts.clean.labels
    # What the victim has wrong is left alone; of the rest, each is as near to deceiving it as the attack could get.
    untouched = [one == other for one, other in zip(texts.clean.texts, texts.attacked.texts, strict=True)]
    assert all(same for same, right in zip(untouched, is_right, strict=True) if not right)
    assert (now[gold] <= clean[gold] + 1e-6).all()
    meta = json.loads((folder / META).read_text())
    now, clean = (row.value for row in texts.score(embed, ""))
    assert meta["asset"] == "adversarial-texts"
    assert meta["num_changed"] == untouched.count(False)
    assert (meta["clean_accuracy"], meta["accuracy_under_attack"]) == pytest.approx((clean, now))
    assert clean > now


def test_the_second_call_attacks_nothing_and_the_same_seed_finds_the_same(found, tmp_path):
    folder, _ = found()
    assert found() == (folder, [])
    other, progress = found(at=tmp_path)
    assert progress[-1] == (12, 12) and folder.name == other.name
    assert ReplayedTexts.open(folder).fingerprint == ReplayedTexts.open(other).fingerprint


def test_what_decides_the_texts_names_the_folder(found, world):
    other = world.materials(dropout=0.0).base  # a folder of its own: its configuration differs
    few = {"num_texts": 10, "max_queries": 200}
    changes = [{}, {"reference": other}, {"seed": 1}, {"num_texts": 11}, {"num_training": 151}]
    changes += [{"max_queries": 201}, {"encoder": Encoder(name="small", pooling="cls")}]
    folders = [found(**(few | change))[0] for change in changes]
    assert len(set(folders)) == len(folders)
    # What decides nothing but the pairs is no part of it.
    assert found(**few, num_pairs=3, sides="both") == (folders[0], [])


def test_texts_too_few_or_none_of_which_could_be_changed_are_refused(found, tmp_path):
    with pytest.raises(InputError, match=r"opinions train: pwws changed none of 12 inputs: 1 queries"):
        found(at=tmp_path, max_queries=1)
    assert not list(tmp_path.glob("adversarial-*"))
    with pytest.raises(InputError, match="too few texts: 300 to attack leave 500 others, and 501 are"):
        found(at=tmp_path, num_texts=300, num_training=501)
