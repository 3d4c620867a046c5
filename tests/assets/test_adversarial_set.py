"""Dev pairs under PWWS with WordNet: found once, by settings and content, and nothing changed but words of a side."""

import json
from pathlib import Path

import numpy as np
import pytest

from rse_study.assets import prepare
from rse_study.assets.replayed import Reference, adversarial_set
from rse_study.assets.store import META
from rse_study.data import builtin
from rse_study.data.labelled import StsPairs
from rse_study.errors import InputError
from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.replayed import ReplayedPairs, ReplayedTexts
from rse_study.evaluation.sts import cosines_of, fit_score, targets_of
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.training.trial import Encoder, Replayed
from tests.heard import Heard
from tests.training.world import World, small_trial

pytestmark = pytest.mark.xdist_group("adversarial_set")  # what the fixtures made is used by all
SENTENCES = builtin.corpus(0, 60)
FEW = 4
MEAN = Encoder(name="small", pooling="mean")


def pairs_alike_by_words() -> StsPairs:
    """A sentence, and its beginning with another's end; gold is the share that is its own: any encoder sees that."""
    rows = []
    for i, first in enumerate(SENTENCES):
        words, others = first.split(), SENTENCES[i - 7].split()
        kept = i % (len(words) + 1)
        rows.append((first, " ".join(words[:kept] + others[kept:]) or others[0], 5 * kept / len(words)))
    firsts, seconds, gold = zip(*rows, strict=True)
    return StsPairs("toy", "dev", list(firsts), list(seconds), np.array(gold))


DEV = pairs_alike_by_words()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), SENTENCES)


@pytest.fixture
def found(world, root, data_dir):
    """The folder for some settings, and the progress that was reported."""

    def found(dev=DEV, encoder=MEAN, at=root, data_dir=data_dir, **settings):
        progress: list[tuple[int, int]] = []
        wanted = Replayed.model_validate({"recipe": "pwws", "num_pairs": FEW, "max_queries": 500} | settings)
        of = Reference.of(wanted, world.materials().base, encoder)
        folder = adversarial_set(at, wanted, of, dev, data_dir, lambda *one: progress.append(one))
        return folder, progress

    return found


def test_only_words_of_one_side_change(found, world):
    folder, _ = found()
    pairs = ReplayedPairs.open(folder)
    wanted = targets_of(DEV, np.array([3, 24, 28, 41]))  # as it was drawn ever since: in identities of cells
    assert [*zip(pairs.clean.first, pairs.clean.second, pairs.clean.gold, strict=True)] == [
        (*target.text, target.gold) for target in wanted
    ]
    assert {(side.name, side.split) for side in (pairs.clean, pairs.attacked)} == {("toy", "dev")}
    assert pairs.attacked.first == pairs.clean.first
    assert (pairs.attacked.gold == pairs.clean.gold).all()
    assert pairs.attacked.second != pairs.clean.second
    for before, after in zip(pairs.clean.second, pairs.attacked.second, strict=True):
        assert len(AttackedText.of((before,))) == len(AttackedText.of((after,)))
    assert (pairs.recipe, pairs.reference) == ("pwws", "base")
    # Found against the base: on the scale fitted on all of dev, none is nearer its gold than before.
    embed = Embedder(*load_encoder(world.materials().base, "mean"))
    score = fit_score(embed, DEV)
    off = [
        np.abs(score(cosines_of(embed, list(zip(side.first, side.second, strict=True)))) - side.gold)
        for side in (pairs.clean, pairs.attacked)
    ]
    assert (off[1] >= off[0] - 1e-3).all() and off[1].mean() > off[0].mean()
    meta = json.loads((folder / META).read_text())
    assert meta["asset"] == "adversarial"
    assert meta["mean_drift"] > 0
    assert 1 < meta["mean_queries"] <= 500


@pytest.mark.parametrize("sides", ["first", "both"])
def test_sides_are_those_asked_for(found, sides):
    pairs = ReplayedPairs.open(found(sides=sides)[0])
    assert pairs.attacked.first != pairs.clean.first
    assert (pairs.attacked.second == pairs.clean.second) == (sides == "first")


def test_the_second_call_attacks_nothing_and_the_same_seed_finds_the_same(found, tmp_path):
    folder, _ = found()
    assert found() == (folder, [])
    other, progress = found(at=tmp_path)
    assert progress == [(done, FEW) for done in range(1, FEW + 1)]
    assert folder.name == other.name and folder != other
    assert ReplayedPairs.open(folder).fingerprint == ReplayedPairs.open(other).fingerprint


def test_a_set_in_which_nothing_was_changed_is_refused(found, tmp_path):
    with pytest.raises(InputError, match=r"toy dev: pwws changed none of 4 inputs: 1 queries.*max_queries"):
        found(at=tmp_path, max_queries=1)
    assert not list(tmp_path.glob("adversarial-*"))  # and is no asset
    assert found(at=tmp_path)[1]


def test_what_decides_the_texts_names_the_folder(found, world):
    """Every one of these is attacked anew, as its few queries tell."""
    shorter = StsPairs("toy", "dev", DEV.first[:50], DEV.second[:50], DEV.gold[:50])
    regraded = StsPairs("toy", "dev", DEV.first, DEV.second, DEV.gold[::-1].copy())
    other = world.materials(dropout=0.0).base  # a folder of its own: its configuration differs
    few = {"max_queries": 400, "num_pairs": 1}
    changes = [{"reference": other}, {"seed": 1}, {"num_pairs": 2}, {"sides": "first"}, {"dev": shorter}]
    changes += [{"dev": regraded}, {"encoder": Encoder(name="small", pooling="cls")}]
    folders = [found(**(few | change)) for change in ({}, *changes)]
    assert all(progress for _, progress in folders)
    assert len({folder for folder, _ in folders}) == 8
    assert ReplayedPairs.open(folders[1][0]).reference == other


def test_a_trials_materials_hold_the_set_and_its_fingerprint(world, data_dir, tmp_path):
    """`prepare` makes it for whom it is asked, and for nobody else."""
    base, heard = world.materials().base, Heard()
    encoder, corpus = {"name": base, "pooling": "mean"}, {"source": {"kind": "builtin", "num_sentences": 60}}
    settings = {"encoder": encoder, "corpus": corpus, "method": {"lambda2": 0}}
    asked = small_trial(**settings, replayed={"recipe": "pwws", "num_pairs": 2, "max_queries": 60})
    with_set = prepare(asked, tmp_path, data_dir, heard)
    pairs = ReplayedPairs.open(Path(with_set.replayed))
    assert with_set.fingerprints["replayed"] == pairs.fingerprint
    assert heard.activities[-1] == ("adversarial set: pairs attacked by pwws", 2, 2)
    texts = {"labelled": "builtin", "num_texts": 3, "num_training": 60}
    asked = small_trial(**settings, replayed={**asked.replayed.model_dump(), **texts})
    with_texts = prepare(asked, tmp_path, data_dir, heard)
    assert with_texts.replayed == with_set.replayed  # texts besides are no other pairs
    kept = ReplayedTexts.open(Path(with_texts.replayed_texts))
    assert with_texts.fingerprints == with_set.fingerprints | {"replayed_texts": kept.fingerprint}
    num_changed = sum(map(tuple.__ne__, kept.clean.texts, kept.attacked.texts))
    assert heard.messages[-1].startswith(
        f"adversarial texts: {num_changed} of 3 changed by pwws, the reference's acc"
    )
    assert with_set.replayed_texts == ""
    without = prepare(small_trial(**settings), tmp_path, tmp_path)  # no data are needed
    assert without.replayed == "" and "replayed" not in without.fingerprints
