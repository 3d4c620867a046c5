"""A GPU that is none: what a real one would have to be waited for is an error, and so is what it would refuse.

Tensors stay on the CPU and have their values. Which of them lie "on the GPU" is remembered: the batch that was sent,
parameters, and what is computed from them. An operation that makes the host wait (`item`, `nonzero`, an index by a
mask) or that mixes a tensor of either side is an error there.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from rse_study import tensors

WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive"}
WAITS |= {"equal", "is_nonzero", "repeat_interleave.Tensor", "bincount"}
FACTORIES = {torch.zeros, torch.ones, torch.full, torch.empty, torch.arange, torch.eye, torch.tensor}
FACTORIES |= {torch.rand, torch.randn, torch.randint, torch.randperm, torch.linspace, torch.stack}
READS = {Tensor.cpu, Tensor.numpy, Tensor.tolist}
INDEXING = {"index", "index_put", "index_put_", "_unsafe_index", "_index_put_impl_"}


class HostWaits(AssertionError):
    """The host would have to wait for the GPU, or give it a tensor of its own."""


class SimulatedGPU(TorchDispatchMode):
    """Within it, operations on tensors of the GPU are watched.

    Parameters
    ----------
    resident
        Tensors that lie there from the start.
    """

    def __init__(self, resident: Iterable[Tensor]) -> None:
        super().__init__()
        self._there: Any = WeakIdKeyDictionary()
        self.makes_on_host = False
        for tensor in resident:
            self.put(tensor)

    def put(self, tensor: Tensor) -> Tensor:
        """The tensor lies on the GPU from now on."""
        self._there[tensor] = True
        return tensor

    def sent(self, values: Tensor, device: torch.device) -> Tensor:
        """What `rse_study.tensors.sent` does."""
        return values if self.lies_there(values) else self.put(values.clone())

    def wait(self, why: str) -> None:
        """Refuse that the host waits."""
        raise HostWaits(why)

    def lies_there(self, tensor: Tensor) -> bool:
        """Whether the tensor is of the GPU."""
        return tensor in self._there

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        there = [tensor for tensor in inputs if self.lies_there(tensor)]
        name = func.overloadpacket.__name__
        if there:
            self._check(name, func, inputs, args)
        results = func(*args, **kwargs)
        if there or (not inputs and not self.makes_on_host):
            for result in tree_leaves(results):
                if isinstance(result, Tensor):
                    self.put(result)
        return results

    def _check(self, name: str, func: Any, inputs: list[Tensor], args: Any) -> None:
        by_mask = name in INDEXING and any(
            isinstance(index, Tensor) and index.dtype == torch.bool for index in args[1]
        )
        if name in WAITS or str(func) in WAITS or by_mask:
            self.wait(f"{func} reads a tensor of the GPU")
        strangers = [tensor for tensor in inputs if tensor.dim() > 0 and not self.lies_there(tensor)]
        if strangers:
            raise HostWaits(f"{func} mixes a tensor of the CPU, of shape {tuple(strangers[0].shape)}")


class Factories(TorchFunctionMode):
    """A tensor made without a word about its device lies on the CPU."""

    def __init__(self, gpu: SimulatedGPU) -> None:
        super().__init__()
        self._gpu = gpu

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in READS and self._gpu.lies_there(args[0]):
            raise HostWaits(f"{func} reads a tensor of the GPU")
        outer = self._gpu.makes_on_host
        self._gpu.makes_on_host = outer or (func in FACTORIES and kwargs.get("device") is None)
        try:
            return func(*args, **kwargs)
        finally:
            self._gpu.makes_on_host = outer


@contextmanager
def simulated_gpu(patch: pytest.MonkeyPatch, resident: Iterable[Tensor]) -> Iterator[SimulatedGPU]:
    """Within it, these tensors and what is sent lie on a GPU that nobody may wait for."""
    gpu, sent = SimulatedGPU(resident), tensors.sent
    with patch.context() as patched:
        for module in [*sys.modules.values()]:
            if getattr(module, "sent", None) is sent:
                patched.setattr(module, "sent", gpu.sent)
        with gpu, Factories(gpu):
            yield gpu
