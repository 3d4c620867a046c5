"""Counts of operations, launches and peak memory, which do not depend on the load."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

STANDARD_ERROR = 2  # file descriptor
Shape = torch.Size


class Launches(TorchDispatchMode):
    """Number of dispatched operations, without views and empty tensors.

    A GPU's host pays for each, whatever it computes. A foreach or fused operation is one.
    """

    def __init__(self, phase: Callable[[], str] = str) -> None:
        super().__init__()
        self._phase = phase
        self.by_phase = Counter[str]()
        """by what `phase` returned at each"""

    @property
    def number(self) -> int:
        return self.by_phase.total()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if not (func.is_view or name == "_unsafe_view" or name.startswith(("empty", "new_empty"))):
            self.by_phase[self._phase()] += 1
        return func(*args, **(kwargs or {}))


def count_flops(work: Callable[[], object]) -> int:
    """Count floating-point operations of matrix products, backward passes included."""
    with FlopCounterMode(display=False, custom_mapping=_FORMULAS) as counter:
        work()
    return int(counter.get_total_flops())


def peak_bytes(work: Callable[[], object]) -> int:
    """Return the peak of bytes in tensors, beyond those allocated before."""
    with (
        _without_notes(),
        profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as profiler,
    ):
        work()
    results = profiler.profiler.kineto_results if profiler.profiler else None
    assert results is not None
    changes = sorted((event.start_ns(), event.nbytes()) for event in results.events() if _is_memory(event))
    held = peak = 0
    for _, change in changes:
        held += change
        peak = max(peak, held)
    return peak


def _forward(query: Shape, key: Shape, value: Shape, *others: object, **named: object) -> int:
    return int(sdpa_flop_count(query, key, value))


def _backward(
    outcome: Shape, query: Shape, key: Shape, value: Shape, *others: object, **named: object
) -> int:
    return int(sdpa_backward_flop_count(outcome, query, key, value))


# torch's counter knows the fused attention kernels of GPUs, but counts nothing for the CPU's (used without dropout).
_FORMULAS = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _forward,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _backward,
}


def _is_memory(event: object) -> bool:
    """Whether an event of the profiler allocates or frees memory."""
    return getattr(event, "name", str)() == "[memory]"


@contextmanager
def _without_notes() -> Iterator[None]:
    """Hide what the profiler's library writes to standard error below Python."""
    kept, nothing = os.dup(STANDARD_ERROR), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, STANDARD_ERROR)
    try:
        yield
    finally:
        os.dup2(kept, STANDARD_ERROR)
        os.close(kept)
        os.close(nothing)
