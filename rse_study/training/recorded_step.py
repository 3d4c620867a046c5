"""A step whose operations are recorded once for each shape of batch, and replayed."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from rse_study.data.batches import Draws
from rse_study.errors import InputError, first_line
from rse_study.methods.method import StepOutcome

MOST_RECORDINGS = 32


@dataclass(frozen=True)
class StepInputs:
    """All that a step is given, on its device: among it the draws made ahead."""

    tensors: tuple[Tensor, ...]
    """ids, mask, perturbable and rows of its batch; t, from 1; the learning rate"""
    draws: Draws
    is_reported: bool

    @property
    def everything(self) -> list[Tensor]:
        return [*self.tensors, *(each for made in self.draws.made.values() for each in made)]

    @property
    def key(self) -> Hashable:
        """Shapes and all else that steps of one recording have in common."""
        names = tuple(self.draws.made)
        return self.is_reported, names, tuple((each.shape, each.dtype) for each in self.everything)

    def copied(self) -> "StepInputs":
        """Copy what later steps of one recording are copied into."""
        made = {name: tuple(each.clone() for each in drawn) for name, drawn in self.draws.made.items()}
        draws = replace(self.draws, host=None, made=made)
        return replace(self, tensors=tuple(each.clone() for each in self.tensors), draws=draws)


class Recorder(Protocol):
    """Anything that records the operations of a step."""

    def rehearse(self, step: Callable[[], StepOutcome]) -> StepOutcome:
        """Take a step whose like is recorded later."""

    def record(self, step: Callable[[], StepOutcome]) -> tuple[StepOutcome, Callable[[], object]]:
        """Take a step; return its outcome, and what takes it again into the same tensors."""


class RecordedStep:
    """A step that is taken once, recorded the second time, and replayed from then on.

    `compute` is a function of tensors: it draws nothing, reads no value, and changes in place what outlives it. An
    outcome holds until the next step: recordings share their memory.
    """

    def __init__(self, recorder: Recorder | None) -> None:
        self._recorder = recorder
        self._rehearsed: set[Hashable] = set()
        self.recordings: dict[Hashable, tuple[StepInputs, StepOutcome, Callable[[], object]]] = {}

    def __call__(self, compute: Callable[[StepInputs], StepOutcome], given: StepInputs) -> StepOutcome:
        if self._recorder is None:
            return compute(given)
        key = given.key
        if known := self.recordings.get(key):
            kept, outcome, replay = known
            torch._foreach_copy_(kept.everything, given.everything, non_blocking=True)
            replay()
            return outcome
        if key not in self._rehearsed or len(self.recordings) == MOST_RECORDINGS:
            outcome = self._recorder.rehearse(lambda: compute(given))
            self._rehearsed.add(given.key)  # with what it has drawn
            return outcome
        kept = given.copied()
        outcome, replay = self._recorder.record(lambda: compute(kept))
        self.recordings[key] = kept, outcome, replay
        return outcome


class CudaGraphs:
    """CUDA graphs, which share their memory: no two of them run at a time."""

    def __init__(self) -> None:
        self._pool: Any = torch.cuda.graph_pool_handle()
        self._side = torch.cuda.Stream()

    def rehearse(self, step: Callable[[], StepOutcome]) -> StepOutcome:
        # As torch asks for it: what is made once, such as workspaces, is not made while it records.
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side):
            outcome = step()
        torch.cuda.current_stream().wait_stream(self._side)
        return outcome

    def record(self, step: Callable[[], StepOutcome]) -> tuple[StepOutcome, Callable[[], object]]:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, self._pool, self._side, capture_error_mode="thread_local"):
                outcome = step()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            # What broke the recording comes first: its end says only that it was broken.
            rule = f"all of it must run on the GPU alone ({first_line(error.__context__ or error)})"
            raise InputError(
                "a step could not be recorded", rule=rule, remedy="Set graphed: false"
            ) from error
        graph.replay()  # recording alone computes nothing
        return outcome, graph.replay
