"""What must not be in a recorded step is put there: somebody has to notice."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch

from rse_study.data.batches import Batch, Draws, sent_all
from rse_study.streams import Streams
from rse_study.training.arithmetic import LossWatch
from tests.simulated_graph import CannotBeRecorded, SimulatedGraphs
from tests.training.recorded_steps import (
    ADVERSARY,
    MASKS,
    differences,
    materials_of,
    opened,
    take,
)  # fmt: skip
from tests.training.world import SIMCSE, World


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
