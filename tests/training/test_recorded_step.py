"""Steps that are recorded once and replayed have the bits of steps that are computed operation by operation."""

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from rse_study.data.batches import Batch
from rse_study.models.rtd import Generator
from rse_study.results.files.result_file import read_result
from rse_study.training import loop, recorded_step
from rse_study.training.loop import train
from rse_study.training.session import Session
from rse_study.training.session_setup import open_session
from tests.methods.problem import make_batch
from tests.simulated_gpu import HostWaits, SimulatedGPU, simulated_gpu
from tests.simulated_graph import SimulatedGraphs
from tests.slow import mostly_slow
from tests.training.recorded_steps import (
    ADVERSARY,
    INNER,
    MASKS,
    NUM_STEPS,
    SEED,
    differences,
    materials_of,
    opened,
    take,
)  # fmt: skip
from tests.training.world import SIMCSE, World, leave_at, small_trial


def with_norm(norm: str) -> dict[str, Any]:
    ball = {"ball": {"norm": norm}}
    return {"blend": {name: {**branch, **ball} for name, branch in INNER.items()}, "token_level": ball}


def rse(**settings: Any) -> dict[str, Any]:
    """RobustSentEmbed with two inner steps and RTD."""
    blend = INNER | settings.pop("blend", {})
    return {"blend": blend, **settings}


def consert(first: str, second: str, **settings: Any) -> dict[str, Any]:
    return {"name": "consert", "first": first, "second": second, "dropout": True, **settings}


VADV, DCL = {"name": "v_adv_cse", "weight": 0.1}, {"name": "dcl", "hidden": 8, "width": 4}
METHODS: dict[str, dict[str, Any]] = {
    "everything": rse(masks=MASKS, inner_dropout="fresh", z_adv_eta="with", perturbed_tokens="all"),
    "default": rse(),
    "no RTD, fresh": rse(lambda2=0, inner_dropout="fresh"),
    "SimCSE": SIMCSE,
    "SimCSE, RTD": {**SIMCSE, "lambda2": 0.005},
    "l1": with_norm("l1"),
    "l2, all tokens": {**with_norm("l2"), "perturbed_tokens": "all"},
    "V accumulates": rse(token_level={"write_back": "accumulate"}),
    "V stays, scaled after": rse(
        token_level={"write_back": "none", "scaling": "after"}, second_positive="outside"
    ),
    "V anew": rse(token_level={"redraw": "epoch"}),
    "masks, joint state": rse(
        masks=MASKS, blend={"trajectories": "joint_state"}, delta_gradient="without_eta"
    ),
    "separate": rse(blend={"trajectories": "separate"}),
    "one branch, negatives": rse(
        blend={"rho": 1}, z_adv_negatives="included", token_level={"scaling": "none"}
    ),
    "K over T": rse(
        blend={"pgd": {"num_steps": 3}, "fgsm": {"num_steps": 1}, "weighs": "fgsm", "rho": 0.3},
        second_positive="none",
    ),
    "flipped, eta in z_adv": rse(blend={"ascent": "flipped"}, z_adv_eta="with"),
    "noise": rse(blend={"ascent": "noise"}),
    "batch norm": rse(head="batch_norm"),
    "RTD samples": rse(rtd={"choice": "sample"}),
    "RTD sums, no V": rse(
        rtd={"reduction": "sum", "positions": "everywhere", "h": "before_head"},
        token_level={"presence": "absent"},
    ),
    "V-advCSE": VADV,
    "V-advCSE, similarities": {**VADV, "output": "similarities", "r": {"num_steps": 2, "gradient": "raw"}},
    "V-advCSE, noise": {**VADV, "divergence": "kl", "r": {"ascent": "noise"}},
    "V-advCSE without F": {**VADV, "weight": 0},
    "ConSERT": {"name": "consert"},
    "ConSERT, adversarial": consert("token_cutoff", "adversarial"),
    "ConSERT, cut": consert("feature_cutoff", "shuffle", head="batch_norm"),
    "DCL": DCL,
    "DCL, batch norm": {**DCL, "norm": "batch", "masked_lm": 0},
    "DCL, no norm": {**DCL, "norm": "none"},
    "ATCL": {"name": "atcl"},
    "CT": {"name": "ct", "num_negatives": 2},
    "SG-OPT": {"name": "sg_opt", "hidden": 8},
}
"""Every method with every switch once, several to a line: a step that differs says where."""
FAST = ["everything", "V-advCSE", "DCL"]


@pytest.mark.parametrize("name", mostly_slow(METHODS, FAST))
def test_replayed_steps_are_ordinary_ones_to_the_bit(world: World, name: str) -> None:
    materials = materials_of(world)
    num_steps = 10 if name == "V anew" else NUM_STEPS  # an epoch is 7
    every = [("bf16", 1, "cls"), ("float64", 1000, "first_last")]
    for precision, report_every, pooling in every[: None if name in FAST else 1]:
        settings: dict[str, Any] = {
            "method": METHODS[name],
            "precision": precision,
            "report_every": report_every,
            "encoder": {"name": "small", "pooling": pooling},
        }
        recorder = SimulatedGraphs()
        ordinary = take(opened(materials, **settings), num_steps)
        replayed = take(opened(materials, recorder, **settings), num_steps)
        assert not differences(ordinary, replayed), precision
        assert (recorder.num_rehearsed, recorder.num_recorded) == (2, 1 + (num_steps > NUM_STEPS)), precision
        assert recorder.num_replayed == num_steps - 3 - (num_steps > NUM_STEPS)


@pytest.mark.parametrize("name", mostly_slow(FAST, ["V-advCSE"]))
def test_a_reported_step_between_others_has_a_recording_of_its_own(world: World, name: str) -> None:
    settings: dict[str, Any] = {"method": METHODS[name], "report_every": 2}
    recorder, num_steps = SimulatedGraphs(), 10
    ordinary = take(opened(materials_of(world), **settings), num_steps)
    replayed = take(opened(materials_of(world), recorder, **settings), num_steps)
    assert not differences(ordinary, replayed)
    assert (recorder.num_rehearsed, recorder.num_recorded) == (4, 2)
    assert recorder.num_replayed == 4


def test_beyond_the_most_recordings_steps_are_ordinary_and_the_bits_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recorded_step.MOST_RECORDINGS == 32
    monkeypatch.setattr(recorded_step, "MOST_RECORDINGS", 1)
    recorder, num_steps = SimulatedGraphs(), 16
    ordinary = take(opened(materials_of(world), method=ADVERSARY), num_steps)
    limited = take(opened(materials_of(world), recorder, method=ADVERSARY), num_steps)
    assert not differences(ordinary, limited)
    assert recorder.num_recorded == 1
    # Of 192 tokens one is rehearsed, one recorded; of 256 all (steps 1, 8 and 11 are the first) are rehearsed.
    assert recorder.num_rehearsed >= 4
    assert recorder.num_replayed == num_steps - 1 - recorder.num_rehearsed > 4


@pytest.mark.parametrize("name", FAST)
def test_a_step_that_is_recorded_needs_nothing_of_the_host(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """All that it is given lies on the GPU already: a copy inside would be that of the recorded step for ever."""
    monkeypatch.setattr(SimulatedGPU, "sent", lambda gpu, *given: gpu.wait("something is sent inside"))
    for precision, pooling, report_every in (("bf16", "cls", 1), ("float32", "mean", 1000)):
        settings = {"method": METHODS[name], "precision": precision, "report_every": report_every}
        session = opened(materials_of(world), encoder={"name": "small", "pooling": pooling}, **settings)
        taken = take(session, 2)
        assert session._ahead is not None
        given = session._ahead.copied()
        resident = [*given.everything, *session.networks.parameters(), *session.networks.buffers()]
        resident += [value for _, value in taken.everything()]
        with simulated_gpu(monkeypatch, resident):
            session.compute(given)
            with pytest.raises(HostWaits):
                Batch.chosen(replace(make_batch(), host=make_batch()), lambda batch: batch.mask)


CELLS: dict[str, dict[str, Any]] = {
    "everything, bf16": {"method": rse(masks=MASKS, token_level={"redraw": "epoch"}), "precision": "bf16"},
    "DCL": {"method": DCL},
    "V anew": {"method": {**METHODS["V anew"], **ADVERSARY}},
}


@pytest.mark.parametrize("name", mostly_slow(CELLS, ["V anew"]))
def test_a_graphed_cell_that_is_resumed_ends_as_one_that_ran_through(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    budget = {"unit": "steps", "amount": 14}  # two epochs
    trial, materials = small_trial(graphed=True, budget=budget, **CELLS[name]), materials_of(world)
    recorders: list[SimulatedGraphs] = []

    def with_recorder(*given: Any) -> Session:
        session = open_session(*given)
        recorders.append(SimulatedGraphs())
        session.recorder = recorders[-1]
        return session

    folders = [tmp_path / name for name in ("whole", "broken", "whole recorded", "broken recorded")]
    for folder in folders:
        if folder.name.endswith("recorded"):
            monkeypatch.setattr(loop, "open_session", with_recorder)
        if folder.name.startswith("broken"):
            leave_at(6, train(trial, SEED, materials, folder, checkpoint_seconds=0.0))
            assert not (folder / "result.json").exists()
        points = [point.t for point in train(trial, SEED, materials, folder)]
        assert points[0] == (6 if folder.name.startswith("broken") else 0)
    expected, *others = map(read_result, folders)
    for other in others:
        assert other.history == expected.history
        assert other.final == expected.final
    models = {(folder / "model" / "model.safetensors").read_bytes() for folder in folders}
    assert len(models) == 1
    whole, *parts = recorders
    assert whole.num_replayed > 0
    assert len(parts) == 2


@pytest.mark.parametrize("is_recorded", [False, True])
def test_what_a_cell_held_is_free_once_it_has_ended(world: World, is_recorded: bool) -> None:
    """At once, not when Python next looks for cycles: the next cell needs the memory."""
    session = opened(materials_of(world), SimulatedGraphs() if is_recorded else None, method=ADVERSARY)
    take(session, 4)
    weight = weakref.ref(next(session.networks.parameters()))
    gc.disable()
    try:
        del session
        assert weight() is None
    finally:
        gc.enable()


# A graphed cell beside an ordinary one, where dropout does not tell them apart.

CLOSE: dict[str, dict[str, Any]] = {name: METHODS[name] for name in (
    "everything", "SimCSE, RTD", "l1", "V accumulates", "separate", "batch norm", "RTD samples", "V-advCSE",
    "ConSERT, adversarial", "DCL", "ATCL", "CT", "SG-OPT",
)}  # fmt: skip
# F and its gradient vanish at r = 0: at r ~ 1e-3 they have a thousand times the rounding, and more each step.
CLOSE["V-advCSE"] = {**VADV, "r": {"scale": 0.1}}
# L_reg sees parameters of no effect, such as biases of keys, which AdamW moves by the roundings of their gradients.
CLOSE["SG-OPT"] = {**METHODS["SG-OPT"], "temperature": 0.1, "weight": 0}
FAST_CLOSE = ["everything", "SimCSE, RTD"]


@pytest.mark.parametrize("name", mostly_slow(CLOSE, FAST_CLOSE))
def test_without_dropout_graphed_steps_are_as_close_to_ordinary_ones_as_rounding(
    world: World, name: str
) -> None:
    materials, method = materials_of(world, dropout=0.0), CLOSE[name]
    # Training spreads roundings, the faster the larger its steps: float32 has no room for those of 1e-3.
    every = [("float64", 20, 1e-3, 1e-12), ("float32", 20, 7e-6, 1e-5), ("bf16", 1, 7e-6, 1e-3)]
    for precision, num_steps, lr, within in every[: 1 if name in FAST_CLOSE else None]:
        settings = {"method": method, "precision": precision, "optimizer": {"lr": lr}}
        ordinary, graphed = (
            take(opened(materials, **settings, graphed=graphed), num_steps).losses
            for graphed in (False, True)
        )
        if precision == "float32" and name.startswith("V accumulates"):
            within *= 10  # V adds up the moves of all occurrences, and their roundings
        # A loss near 0 is the difference of numbers near 1.
        near_0 = within if precision == "float32" else 0
        assert graphed == pytest.approx(ordinary, rel=within, abs=near_0), precision


def test_of_sentences_of_one_length_graphed_steps_are_ordinary_ones_to_the_bit(world: World) -> None:
    """The dropout seed of a step is that of its outer pass, the only one with dropout by default."""
    materials = materials_of(world, max_length=7)  # of the shortest sentence
    for method in (ADVERSARY, SIMCSE, VADV, {"name": "consert"}):
        ordinary, graphed = (
            take(opened(materials, method=method, graphed=graphed)) for graphed in (False, True)
        )
        assert not differences(ordinary, graphed), method
    rtd = [take(opened(materials, method=rse(), graphed=graphed)) for graphed in (False, True)]
    assert "step 0, loss" in differences(*rtd)  # D has dropout, too


def test_a_generator_reads_in_the_precision_of_the_trial_ahead_of_a_step_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, fill = [], Generator.fill

    def watched(self: Generator, *given: Any, **named: Any) -> Any:
        seen.append(torch.backends.cuda.matmul.fp32_precision)
        return fill(self, *given, **named)

    monkeypatch.setattr(Generator, "fill", watched)
    for graphed in (False, True):
        take(opened(materials_of(world), method=METHODS["SimCSE, RTD"], precision="tf32", graphed=graphed), 3)
    assert {*seen} == {
        "tf32"
    }  # a resumed cell makes its first x'' within the step, one that ran through did not
