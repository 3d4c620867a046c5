"""A cell's identity: what decides its numbers, wherever the files lie."""

import dataclasses
from pathlib import Path

from rse_study.data import builtin
from rse_study.training.materials import Materials, identity_of
from rse_study.training.trial import Trial
from tests.training.world import small_trial

PRINTS = {"corpus": "c", "base": "b", "dev": "d", "generator": "g"}
DEV = builtin.graded_pairs("dev")
PLACES = {"corpus": Path("/here/corpus"), "base": "/here/base", "generator": "/here/g"}
HERE = Materials(**PLACES, dev=DEV, fingerprints=PRINTS)
THERE = dataclasses.replace(HERE, corpus=Path("/there/corpus"), base="name", generator="name")


def identity(materials=HERE, seed=3, **changes):
    return identity_of(small_trial(**changes), seed, materials)


def test_names_and_places_are_no_part_of_it():
    encoder = {"name": "/there/base", "pooling": "mean", "revision": "later"}
    assert identity(THERE, encoder=encoder, corpus={"source": "/there/sentences.txt"}) == identity()
    rtd = small_trial().method.model_dump(mode="json") | {"rtd": {"generator": "/there/g"}}
    assert identity(THERE, method=rtd) == identity()


def test_one_dev_set_is_the_same_as_a_list_of_it_and_several_are_not():
    one, listed, two = (identity(selection={"dev": dev}) for dev in ("STS-B", ["STS-B"], ["STS-B", "SICK-R"]))
    assert one == listed != two


def test_every_fingerprint_and_the_seed_are():
    for name in PRINTS:
        other = dataclasses.replace(HERE, fingerprints={**PRINTS, name: "other"})
        assert identity(other) != identity(), name
    # And everything else: test_golden_identities.py.
    assert identity(seed=4) != identity()


def test_a_cadence_that_follows_a_long_budget_is_part_of_it_and_one_of_a_short_budget_is_ten():
    def epochs(sentences, **written):
        materials = dataclasses.replace(HERE, num_sentences=sentences)
        return identity_of(Trial(budget={"amount": 4}, batch_size=64, **written), 3, materials)

    assert epochs(80_000) == epochs(80_000, report_every=10)  # 5,000 steps: 500 points
    assert epochs(80_064) == epochs(80_064, report_every=20) != epochs(80_064, report_every=10)
    assert epochs(1_000_000) == epochs(1_000_000, report_every=200)  # 62,500 steps
    assert Trial(budget={"unit": "steps", "amount": 5000}).report_every == 10
    assert Trial(budget={"unit": "steps", "amount": 62_500}).report_every == 200
    assert Trial(budget={"unit": "steps", "amount": 62_500}, report_every=10).report_every == 10
