"""Materials as a file: read back as they were, under the name and with the keys of running studies."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from rse_study.data.labelled import StsPairs
from rse_study.training.materials import Materials

PAIRS = StsPairs("little", "dev", ["a cat"], ["a dog"], np.array([2.5]), {"part": slice(0, 1)})
MATERIALS = Materials(
    corpus=Path("/somewhere/corpus"),
    base="/somewhere/base",
    dev=PAIRS,
    generator="bert-base-uncased",
    generator_revision="abc",
    synonyms="/somewhere/synonyms",
    replayed="/somewhere/pairs",
    replayed_texts="/somewhere/texts",
    fingerprints={"corpus": "c", "base": "b"},
)


def test_they_come_back_as_they_were_and_others_have_another_name(tmp_path):
    path = MATERIALS.save(tmp_path)
    assert MATERIALS.save(tmp_path) == path
    read = Materials.load(path)
    assert read.dev.fingerprint == PAIRS.fingerprint
    assert replace(read, dev=PAIRS) == MATERIALS
    others = replace(MATERIALS, base="other"), replace(MATERIALS, dev=replace(PAIRS, gold=np.array([3.0])))
    assert len({each.save(tmp_path) for each in (MATERIALS, *others)}) == 3


def test_their_content_is_hashed_once_however_many_cells_are_handed_it(tmp_path, monkeypatch):
    hashed, own = [], replace(MATERIALS)
    whole = Materials._content
    monkeypatch.setattr(Materials, "_content", lambda given: hashed.append(1) or whole(given))
    paths = {own.save(tmp_path) for _ in range(5)}
    assert len(paths) == 1
    assert len(hashed) == 2  # its name and its file
