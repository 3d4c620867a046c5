"""Settings of a trial that do not go together are refused, each with its reason and a remedy."""

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from pydantic import ValidationError

from rse_study.data import builtin
from rse_study.data.labelled import StsPairs
from rse_study.errors import InputError
from rse_study.methods.method import ContrastiveMethod
from rse_study.study.definition.reading import build
from rse_study.training.materials import Materials, identity_of
from rse_study.training.session_setup import require_equal_shares
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.training.world import SIMCSE, small_trial

NEW_MASKS = "passes that share their dropout masks, and a recorded step draws new ones each time"
UNRECORDABLE: dict[str, tuple[dict[str, Any], str]] = {
    "chunks": (
        {"chunk_size": 8},
        "chunk_size computes each chunk twice with one state of dropout. Set chunk_size: 0",
    ),
    "fp16": (
        {"precision": "fp16"},
        "the scaler of fp16 looks at every step's gradients. Set precision: bf16",
    ),
    "fixed": (
        {"method": {"inner_dropout": "fixed"}},
        f"inner_dropout: fixed has {NEW_MASKS}",
    ),
    "shared first": (
        {"method": {"outer_dropout": "shared_first"}},
        f"outer_dropout: shared_first has {NEW_MASKS}",
    ),
    "last": (
        {"method": {"token_level": {"write_back": "last"}}},
        "write_back: last looks for the last occurrence of each token",
    ),
    "mean_padding": (
        {"method": {"rtd": {"reduction": "mean_padding"}}},
        "rtd.reduction: mean_padding lets transformers look for padding",
    ),
    "ratio": (
        {"method": {"name": "v_adv_cse", "ratio_every": 10}},
        "ratio_every measures at some steps only. Set ratio_every: 0",
    ),
    "L2P-CSR": (
        {"method": {"name": "l2p_csr"}},
        "its ascent and its last pass share their dropout masks, and a recorded step draws new ones "
        "each time",
    ),
}


@cases("name", UNRECORDABLE)
def test_what_cannot_be_recorded_is_refused_with_its_reason(name: str) -> None:
    settings, reason = UNRECORDABLE[name]
    assert Trial.model_validate(settings).graphed is False
    with pytest.raises(ValidationError) as refused:
        Trial.model_validate({"graphed": True, **settings})
    (problem,) = refused.value.errors()
    name = settings.get("method", {}).get("name", "robust_sent_embed")
    remedy = ", or graphed: false" if ". Set " in reason else ". Set graphed: false"
    said = f"graphed: a step of {name} cannot be recorded: {reason}{remedy}"
    assert problem["msg"].removeprefix("Value error, ") == said


RECORDABLE: dict[str, dict[str, Any]] = {
    "default": {},
    "fixed, without an inner loop": {"method": {**SIMCSE, "inner_dropout": "fixed"}},
    "shared first, without an adversarial view": {"method": {**SIMCSE, "outer_dropout": "shared_first"}},
    "last, without an inner loop": {"method": {**SIMCSE, "token_level": {"write_back": "last"}}},
    "last, without V": {"method": {"token_level": {"presence": "absent", "write_back": "last"}}},
    "mean_padding, without RTD": {"method": {"lambda2": 0, "rtd": {"reduction": "mean_padding"}}},
    "V-advCSE": {"method": {"name": "v_adv_cse"}},
    "ConSERT": {"method": {"name": "consert"}},
    "DCL": {"method": {"name": "dcl"}},
    "tf32": {"precision": "tf32"},
    "bf16, compiled": {"precision": "bf16", "compiled": True},
    "float64": {"precision": "float64"},
}


@cases("name", RECORDABLE)
def test_a_setting_that_does_not_act_is_not_refused(name: str) -> None:
    assert Trial.model_validate({"graphed": True, **RECORDABLE[name]}).graphed


class Quiet(ContrastiveMethod):
    """A method of one's own that says nothing about recordings."""

    semantics: ClassVar[int] = 1
    name: Literal["quiet"] = "quiet"


def test_a_method_of_ones_own_says_itself_whether_its_step_can_be_recorded() -> None:
    said = "it does not say whether its step is a function of tensors, with draws by Batch.drawn alone"
    assert Quiet().unrecordable == said


def test_graphed_false_changes_no_identity_and_true_does() -> None:
    plain, graphed = Trial().identity(), Trial(graphed=True).identity()
    assert Trial(graphed=False).identity() == plain
    assert "graphed" not in plain
    assert graphed == plain | {"graphed": True}


def test_a_recorded_step_has_one_worker() -> None:
    plain, graphed = Trial(batch_size=8), Trial(batch_size=8, graphed=True)
    require_equal_shares(plain, 2)
    require_equal_shares(graphed, 1)
    with pytest.raises(InputError) as refused:
        require_equal_shares(graphed, 2)
    assert str(refused.value) == (
        "trial: graphed: true with 2 workers: records the steps of one worker. Use one worker, or graphed: false"
    )


# How long a trial trains, in epochs, steps, or the same computation for every method.


@pytest.mark.parametrize(
    ("method", "num_steps"),
    [
        ({"preset": "simcse"}, 30),  # 12 P*T, six passes, a step
        ({"blend": {"pgd": {"num_steps": 16}, "fgsm": {"num_steps": 16}}}, 4),  # 92 P*T
        ({"blend": {"pgd": {"num_steps": 10_000}, "fgsm": {"num_steps": 10_000}}}, 1),
    ],
)
def test_a_budget_of_passes_gives_every_method_the_same_computation(method, num_steps):
    trial = build(Trial, {"method": method, "budget": {"unit": "passes", "amount": 180}}, where="trial")
    assert trial.num_steps(0) == num_steps


# What a trial's materials depend on, and what they do not.


def needs(**changes):
    return Trial.model_validate(changes).needs()


PREPARED = [
    *({"encoder": {"name": "tiny"}}, {"encoder": {"pooling": "mean"}}),
    {"corpus": {"source": {"kind": "builtin", "num_sentences": 100}}},
    {"selection": {"dev": "builtin"}},
    {"batch_size": 32},
    {"max_length": 64},
    {"method": {"lambda2": 0}},
    {"method": {"rtd": {"generator": "tiny"}}},
    {"method": {"masks": {"phi": 0.1}}},
    {"method": {"name": "dcl"}},
    {"replayed": {"recipe": "pwws"}},
]
READ_IN_TRAINING = [{"optimizer": {"lr": 1e-3}}, {"budget": {"amount": 1}}, {"precision": "float64"}]
READ_IN_TRAINING += [{"report_every": 7}, {"selection": {"every": 50, "keep": "last"}}]
READ_IN_TRAINING += [{"method": method} for method in ({"blend": {"rho": 0.25}}, {"lambda1": 0.5})]


def test_what_is_prepared_for_a_trial_is_part_of_them_and_what_only_training_reads_is_not():
    assert [changes for changes in PREPARED if needs(**changes) == needs()] == []
    assert [changes for changes in READ_IN_TRAINING if needs(**changes) != needs()] == []
    assert {hash(needs(**changes)) for changes in READ_IN_TRAINING} == {hash(needs())}


# Materials as a file: read back as they were, under the name and with the keys of running studies.


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


# A cell's identity: what decides its numbers, wherever the files lie.


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
