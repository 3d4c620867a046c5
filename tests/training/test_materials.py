"""Materials as a file: read back as they were, under the name and with the keys of running studies."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from rse_study.data.pairs import StsPairs
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
    watched={"STS-B/geometry": "/somewhere/geometry"},
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


def test_the_file_is_that_of_earlier_code(tmp_path):
    """Commit 65c1545 wrote these materials so: a study that runs finds its own files."""
    path = MATERIALS.save(tmp_path)
    assert path.name == "209c7074b8e22025.json"
    assert json.loads(path.read_text(encoding="utf-8")).keys() == {one.name for one in fields(Materials)} - {
        "num_sentences"
    }
