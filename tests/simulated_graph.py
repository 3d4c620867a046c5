"""A recorder of steps for machines without a GPU: a list of operations that is run again on the same tensors."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from rse_study.methods.method import StepOutcome

READS = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "unique", "_unique2")


class CannotBeRecorded(RuntimeError):
    """An operation whose outcome a recording would repeat, or that makes a GPU's host wait."""


class SimulatedGraph(TorchDispatchMode):
    """The operations of one step, as a CUDA graph would keep them."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self._refuse(func, args, kwargs)
        results = func(*args, **kwargs)
        self.operations.append((func, args, kwargs, results))
        return results

    def _refuse(self, func, args, kwargs) -> None:
        name = func.overloadpacket.__name__
        given = tree_leaves((args, kwargs))
        if name in READS or any(isinstance(each, torch.Generator) for each in given):
            raise CannotBeRecorded(name)
        if name in ("index", "index_put_", "index_put"):
            indices = [each for each in args[1] if each is not None]
            if any(each.dtype in (torch.bool, torch.uint8) for each in indices):
                raise CannotBeRecorded(f"{name} by a mask")

    def replay(self) -> None:
        """Run the operations again; their results are written where they were."""
        with torch.no_grad():
            for func, args, kwargs, recorded in self.operations:
                for old, new in zip(tree_leaves(recorded), tree_leaves(func(*args, **kwargs)), strict=True):
                    if isinstance(old, Tensor) and old is not new and old.data_ptr() != new.data_ptr():
                        old.copy_(new)  # an alias needs nothing


class SimulatedGraphs:
    """What records steps by simulated graphs."""

    def __init__(self) -> None:
        self.num_rehearsed = self.num_recorded = self.num_replayed = 0

    def rehearse(self, step: Callable[[], StepOutcome]) -> StepOutcome:
        """Take the step."""
        self.num_rehearsed += 1
        return step()

    def record(self, step: Callable[[], StepOutcome]) -> tuple[StepOutcome, Callable[[], object]]:
        """Take the step, and keep its operations."""
        self.num_recorded += 1
        with SimulatedGraph() as graph:
            outcome = step()

        def replay() -> None:
            self.num_replayed += 1
            graph.replay()

        return outcome, replay
