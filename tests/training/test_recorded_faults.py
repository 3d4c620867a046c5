"""What must not be in a recorded step is put there: somebody has to notice."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
import torch

from rse_study.data.batches import Batch
from rse_study.data.draws import Draws, sent_all
from rse_study.errors import NonFiniteLoss
from rse_study.streams import Streams
from rse_study.training.loss_watch import LossWatch
from rse_study.training.recorded_step import StepInputs
from rse_study.training.session import Session
from tests.simulated_graph import CannotBeRecorded, SimulatedGraphs
from tests.training.recorded_steps import (
    ADVERSARY,
    MASKS,
    NUM_STEPS,
    differences,
    materials_of,
    opened,
    take,
)  # fmt: skip
from tests.training.world import SIMCSE, World


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
