"""Steps that are recorded once and replayed have the bits of steps that are computed operation by operation."""

import gc
import math
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from rse_study.data.batches import Batch
from rse_study.data.draws import Draws, sent_all
from rse_study.errors import NonFiniteLoss
from rse_study.models.rtd import Generator
from rse_study.results.files.result_file import read_result
from rse_study.streams import Streams
from rse_study.training import loop, recorded_step
from rse_study.training.loop import train
from rse_study.training.loss_watch import LossWatch
from rse_study.training.recorded_step import StepInputs
from rse_study.training.session import Session
from rse_study.training.session_setup import open_session
from tests.methods.problem import make_batch
from tests.simulated_gpu import HostWaits, SimulatedGPU, simulated_gpu
from tests.simulated_graph import CannotBeRecorded, SimulatedGraphs
from tests.slow import mostly_slow
from tests.training.recorded_steps import (
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

ADVERSARY = {"blend": {"rho": 1, "pgd": {"num_steps": 1}}, "lambda2": 0}
"""one inner step, no RTD: for what is so whatever is trained"""


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
    "no RTD": rse(lambda2=0),
    "SimCSE": SIMCSE,
    "SimCSE, RTD": {**SIMCSE, "lambda2": 0.005},
    "l1": with_norm("l1"),
    "l2": with_norm("l2"),
    "V accumulates": rse(token_level={"write_back": "accumulate"}),
    "V accumulates, all tokens": rse(token_level={"write_back": "accumulate"}, perturbed_tokens="all"),
    "V stays": rse(token_level={"write_back": "none"}),
    "no V": rse(token_level={"presence": "absent"}),
    "V anew": rse(token_level={"redraw": "epoch"}),
    "scaled after": rse(token_level={"scaling": "after"}),
    "not scaled": rse(token_level={"scaling": "none"}),
    "masks": rse(masks=MASKS),
    "fresh": rse(inner_dropout="fresh"),
    "eta in z_adv": rse(z_adv_eta="with"),
    "all tokens": rse(perturbed_tokens="all"),
    "joint state": rse(blend={"trajectories": "joint_state"}),
    "separate": rse(blend={"trajectories": "separate"}),
    "one branch": rse(blend={"rho": 1}),
    "K over T": rse(blend={"pgd": {"num_steps": 3}, "fgsm": {"num_steps": 1}, "weighs": "fgsm", "rho": 0.3}),
    "delta without eta": rse(delta_gradient="without_eta"),
    "flipped": rse(blend={"ascent": "flipped"}),
    "noise": rse(blend={"ascent": "noise"}),
    "outside": rse(second_positive="outside"),
    "no second positive": rse(second_positive="none"),
    "negatives": rse(z_adv_negatives="included"),
    "batch norm": rse(head="batch_norm"),
    "RTD samples": rse(rtd={"choice": "sample"}),
    "RTD everywhere": rse(rtd={"positions": "everywhere"}),
    "RTD before the head": rse(rtd={"h": "before_head"}),
    "RTD sums": rse(rtd={"reduction": "sum"}),
    "V-advCSE": VADV,
    "V-advCSE, similarities": {**VADV, "output": "similarities", "r": {"num_steps": 2, "gradient": "raw"}},
    "V-advCSE, noise": {**VADV, "divergence": "kl", "r": {"ascent": "noise"}},
    "V-advCSE without F": {**VADV, "weight": 0},
    "ConSERT": {"name": "consert"},
    "ConSERT, shuffled": consert("none", "shuffle"),
    "ConSERT, adversarial": consert("token_cutoff", "adversarial"),
    "ConSERT, cut": consert("feature_cutoff", "token_cutoff", head="batch_norm"),
    "DCL": DCL,
    "DCL without masked LM": {**DCL, "masked_lm": 0},
    "DCL, batch norm": {**DCL, "norm": "batch"},
    "DCL, no norm": {**DCL, "norm": "none"},
}
FAST = ["everything", "V-advCSE", "DCL"]


@pytest.mark.parametrize("name", mostly_slow(METHODS, FAST))
def test_replayed_steps_are_ordinary_ones_to_the_bit(world: World, name: str) -> None:
    materials = materials_of(world)
    num_steps = 10 if name == "V anew" else NUM_STEPS  # an epoch is 7
    every = [("bf16", 1, "cls"), ("float64", 1000, "first_last")]
    for precision, report_every, pooling in every[: 1 if name in FAST else None]:
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


@pytest.mark.parametrize("name", mostly_slow(METHODS, FAST))
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
    "batch norm, float64": {"method": VADV, "precision": "float64"},
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


# What must not be in a recorded step is put there: somebody has to notice.


def test_a_learning_rate_that_is_a_number_is_that_of_the_recorded_step(world: World) -> None:
    def with_a_number(session: Session) -> Session:
        compute, optimizer = session.compute, session.optimizer
        step_of, now = optimizer.step, [0]

        def computed(given: StepInputs) -> Any:
            now[0] = given.draws.step
            return compute(given)

        def step(*rest: Any) -> Any:
            for group in optimizer.param_groups:
                group["lr"] = session.trial.optimizer.rate(now[0], session.num_steps)
            return step_of(*rest)

        session.compute, optimizer.step = computed, step  # type: ignore[method-assign, assignment]
        return session

    ordinary, number, recorded = _three(world, with_a_number)
    assert not differences(ordinary, number)
    changed = differences(ordinary, recorded)
    assert "encoder.backbone.embeddings.word_embeddings.weight" in changed
    assert not any(name.startswith(("step 0,", "step 1,", "step 2,", "step 3,")) for name in changed)


def test_a_time_that_is_a_number_is_that_of_the_recorded_step(world: World) -> None:
    def lost_at(recorder: SimulatedGraphs | None, *, is_number: bool) -> str:
        session = opened(materials_of(world), recorder, method=ADVERSARY)
        if is_number:
            note, compute, now = session.losses.note, session.compute, [0]

            def computed(given: StepInputs) -> Any:
                now[0] = given.draws.step + 1
                return compute(given)

            session.compute = computed  # type: ignore[method-assign]
            session.losses.note = lambda share, t: note(share, now[0])  # type: ignore[method-assign]
        take(session, 5)
        with torch.no_grad():
            next(session.networks.head.parameters()).fill_(math.inf)
        with pytest.raises(NonFiniteLoss) as lost:
            session.advance(5)
        return str(lost.value)

    assert lost_at(None, is_number=False).startswith("step 6: the loss is not finite")
    assert lost_at(SimulatedGraphs(), is_number=False) == lost_at(None, is_number=False)
    assert lost_at(None, is_number=True) == lost_at(None, is_number=False)
    assert lost_at(SimulatedGraphs(), is_number=True).startswith("step 3: the loss is not finite")


@pytest.mark.parametrize("bound", ["_lost_at", "_share"])
def test_a_loss_watch_that_is_bound_anew_forgets_in_a_recording(
    world: World, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    def watched(recorder: SimulatedGraphs | None) -> Any:
        session = opened(materials_of(world), recorder, method=ADVERSARY)
        session.losses.is_deferred = True  # as on a GPU: nobody asks it in between
        before = take(session, 5)
        with torch.no_grad():
            next(session.networks.head.parameters()).fill_(math.inf)
        before.outcomes += take(session, 2, 5).outcomes
        return before

    ordinary, recorded = watched(None), watched(SimulatedGraphs())
    assert int(ordinary.session.losses._lost_at) == 6
    assert not differences(ordinary, recorded)
    note = LossWatch.note

    def anew(self: LossWatch, share: Any, t: Any) -> None:
        setattr(self, bound, getattr(self, bound) + 0)
        note(self, share, t)

    monkeypatch.setattr(LossWatch, "note", anew)
    assert not differences(ordinary, watched(None))
    assert ("lost at" if bound == "_lost_at" else "lost share") in differences(
        ordinary, watched(SimulatedGraphs())
    )


def test_dropout_that_each_pass_seeds_is_that_of_the_recorded_step(world: World) -> None:
    def seeding(session: Session) -> Session:
        session.run = replace(session.run, seeds_passes=True)
        return session

    ordinary, seeded, recorded = _three(world, seeding, inner_dropout="fresh")
    assert "step 0, loss" in differences(
        ordinary, seeded
    )  # the inner pass has the masks of no seed of its own
    changed = differences(seeded, recorded)
    assert not any(name.startswith(("step 0,", "step 1,", "step 2,")) for name in changed)
    assert {"step 3, loss", "step 4, loss", "step 5, loss", "step 6, loss"} <= {*changed}


@pytest.mark.parametrize("is_recorded", [False, True])
def test_dropout_follows_from_seed_and_step_and_without_a_seed_from_what_came_before(
    world: World, monkeypatch: pytest.MonkeyPatch, is_recorded: bool
) -> None:
    def after(earlier: int) -> Any:
        torch.manual_seed(earlier)
        return take(opened(materials_of(world), SimulatedGraphs() if is_recorded else None, method=SIMCSE))

    assert not differences(after(1), after(2))
    monkeypatch.setattr(Streams, "dropout", lambda self, *given: nullcontext())
    assert "step 0, loss" in differences(after(1), after(2))


def test_a_draw_inside_a_recorded_step_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Batch.drawn

    def inside(self: Batch, name: str, step: int, make: Any) -> Any:
        if name != "delta0":
            return drawn(self, name, step, make)
        return sent_all(make(self.on_host, step), self.ids.device)

    monkeypatch.setattr(Batch, "drawn", inside)
    take(opened(materials_of(world), SimulatedGraphs(), method=ADVERSARY), 2)  # none of them is recorded
    with pytest.raises(CannotBeRecorded):
        take(opened(materials_of(world), SimulatedGraphs(), method=ADVERSARY), 3)


def test_a_draw_of_which_no_earlier_step_knew_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_all = Draws.make_all

    def forgetful(self: Draws) -> None:
        make_all(self)
        self.made.pop("masks", None)

    settings = {"method": {**ADVERSARY, "masks": MASKS}}
    session = opened(materials_of(world), SimulatedGraphs(), **settings)
    take(session, 2)
    session._ahead = session.prepare(2)
    key = session._ahead.key
    session._ahead.draws.made.pop("masks")
    session.recorded_step._rehearsed.add(session._ahead.key)
    assert session._ahead.key != key
    with pytest.raises(AssertionError, match="masks is drawn inside a recorded step"):
        session.advance(2)
    monkeypatch.setattr(Draws, "make_all", forgetful)  # always: then no step has the names of an earlier one
    recorder = SimulatedGraphs()
    take(opened(materials_of(world), recorder, **settings))
    assert recorder.num_recorded == 0


def test_tokens_that_are_not_rounded_up_leave_nothing_to_replay(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Batch, "_rounded", lambda self, chosen: chosen)
    recorder = SimulatedGraphs()
    take(opened(materials_of(world), recorder, method=ADVERSARY))
    assert (recorder.num_rehearsed, recorder.num_replayed) == (NUM_STEPS, 0)
    monkeypatch.setattr(StepInputs, "key", property(lambda self: tuple(self.draws.made)))
    with pytest.raises(RuntimeError, match="size"):
        take(opened(materials_of(world), SimulatedGraphs(), method=ADVERSARY))


def test_a_value_that_a_step_reads_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    note = LossWatch.note
    reads: list[Callable[[Any], object]] = [bool, lambda x: x.tolist(), lambda x: x.detach().numpy()]
    reads += [lambda x: x[x > 0], lambda x: (x > 0).nonzero(), lambda x: torch.tensor(3.0) + x]
    for read in reads:

        def reading(self: LossWatch, share: Any, t: Any, read: Any = read) -> None:
            read(share)
            note(self, share, t)

        monkeypatch.setattr(LossWatch, "note", reading)
        with pytest.raises(CannotBeRecorded):
            take(opened(materials_of(world), SimulatedGraphs(), method=SIMCSE), 3)


def _three(world: World, sabotage: Callable[[Session], Session], **method: Any) -> tuple[Any, Any, Any]:
    """Ordinary steps, the same with something that cannot be recorded, and these recorded nonetheless."""
    recorder, method = SimulatedGraphs(), {**ADVERSARY, **method}
    sessions = [opened(materials_of(world), each, method=method) for each in (None, None, recorder)]
    ordinary, *others = (
        take(session if number == 0 else sabotage(session)) for number, session in enumerate(sessions)
    )
    assert recorder.num_replayed == 4
    return ordinary, *others


# A graphed cell beside an ordinary one, where dropout does not tell them apart.

CLOSE: dict[str, dict[str, Any]] = {name: METHODS[name] for name in (
    "everything", "default", "SimCSE", "SimCSE, RTD", "l1", "V accumulates", "separate", "noise", "batch norm",
    "RTD samples", "V-advCSE", "ConSERT", "ConSERT, adversarial", "DCL",
)}  # fmt: skip
# F and its gradient vanish at r = 0: at r ~ 1e-3 they have a thousand times the rounding, and more each step.
CLOSE["V-advCSE"] = {**VADV, "r": {"scale": 0.1}}
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
