"""A recorder of steps for machines without a GPU: a list of operations that is run again on the same tensors.

What a CUDA graph would repeat although it should be new, or could not hold at all, is an error while it records: a
value that is read, a number that becomes a tensor, a draw on the CPU.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from rse_study.methods.method import StepOutcome
from tests.simulated_gpu import INDEXING, READS, WAITS

FROM_NUMBERS = {torch.tensor, torch.as_tensor, torch.from_numpy, torch.manual_seed}


class CannotBeRecorded(RuntimeError):
    """An operation whose outcome a recording would repeat, or that makes a GPU's host wait."""


class SimulatedGraph(TorchDispatchMode):
    """The operations of one step, as a CUDA graph would keep them."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        self._refuse(func, args, kwargs)
        results = func(*args, **kwargs)
        self.operations.append((func, args, kwargs, results))
        return results

    def _refuse(self, func: Any, args: Any, kwargs: Any) -> None:
        name = func.overloadpacket.__name__
        by_mask = name in INDEXING and any(
            index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1]
        )
        draws = any(isinstance(each, torch.Generator) for each in tree_leaves((args, kwargs)))
        if by_mask or draws or name in WAITS or str(func).removeprefix("aten.") in WAITS:
            raise CannotBeRecorded(f"{func}{' by a mask' * by_mask}{' of a generator' * draws}")

    def replay(self) -> None:
        """Run the operations again; their results are written where they were."""
        with torch.no_grad():
            for func, args, kwargs, recorded in self.operations:
                for old, new in zip(tree_leaves(recorded), tree_leaves(func(*args, **kwargs)), strict=True):
                    if isinstance(old, Tensor) and old is not new and old.data_ptr() != new.data_ptr():
                        old.copy_(new)  # an alias needs nothing


class _HostsOwn(TorchFunctionMode):
    """What never reaches an operation: `tolist`, and tensors of numbers that only this step has."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in READS or (func in FROM_NUMBERS and not isinstance(args[0], Tensor)):
            raise CannotBeRecorded(func.__name__)
        return func(*args, **(kwargs or {}))


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
        with _HostsOwn(), SimulatedGraph() as graph:
            outcome = step()

        def replay() -> None:
            self.num_replayed += 1
            graph.replay()

        return outcome, replay
