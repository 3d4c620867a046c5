"""A machine with one GPU that is none: `torch.device("cuda")` names it, and tensors are sent there and back.

Whoever holds a card may wait for it, which is counted, but computes no matrix product on the CPU beside it. The card
has room for tensors of a largest size alone, and tells how many bytes were taken on it.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from tests.simulated_gpu import SimulatedGPU

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
NAME = "Simulated Card"
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm"}


class HostComputes(AssertionError):
    """The CPU multiplies matrices while the GPU that was reserved has nothing to do."""


class SimulatedCard(SimulatedGPU):
    """What lies on the card; its bytes, the products it computed, and how often the host waited."""

    def __init__(self, largest: float) -> None:
        super().__init__([])
        self.makes_on_host = True
        self.largest, self.num_products = largest, 0
        self.num_bytes = self.widest = 0
        self.waits: Counter[str] = Counter()

    def wait(self, why: str) -> None:
        """Count it: whoever holds a card may wait."""
        self.waits[why.split()[0]] += 1

    def bring(self, tensor: Tensor) -> Tensor:
        """Copy a tensor of the card to the CPU."""
        self.wait("copied")
        taken, copied = self.num_bytes, tensor.clone()
        self.num_bytes = taken  # the copy lies elsewhere
        self._there.pop(copied, None)
        return copied

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        if name == "copy_":  # the one operation that takes a tensor of either side
            return func(*args, **(kwargs or {}))
        if name in PRODUCTS and not any(map(self.lies_there, inputs)):
            raise HostComputes(f"{func} on the CPU, of shape {tuple(inputs[-1].shape)}")
        self.num_products += name in PRODUCTS
        results = super().__torch_dispatch__(func, types, args, kwargs)
        known = {tensor.data_ptr() for tensor in inputs}
        for result in tree_leaves(results):
            if isinstance(result, Tensor) and self.lies_there(result) and result.data_ptr() not in known:
                self._take(result.numel() * result.element_size())
        return results

    def _take(self, num_bytes: int) -> None:
        if num_bytes > self.largest:
            free = f"GPU 0 has a total capacity of {self.largest} bytes"
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {num_bytes} bytes. {free}")
        self.num_bytes += num_bytes
        self.widest = max(self.widest, num_bytes)


class _Sending(TorchFunctionMode):
    """What names the card is made there, or sent there."""

    def __init__(self, card: SimulatedCard) -> None:
        super().__init__()
        self._card = card

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, card = kwargs or {}, self._card
        if func is torch.device:
            return func(*args, **kwargs)
        lies_there = bool(args) and isinstance(args[0], Tensor) and card.lies_there(args[0])
        if func == Tensor.device.__get__:
            return CUDA if lies_there else func(*args)
        if func == Tensor.is_cuda.__get__:
            return lies_there
        if func == Tensor.pin_memory:
            return args[0]
        if func == Tensor.numpy and lies_there:
            raise TypeError("can't convert cuda device type tensor to numpy")
        if func == Tensor.cpu:
            return card.bring(args[0]) if lies_there else args[0]
        if func == Tensor.tolist and lies_there:
            return card.bring(args[0]).tolist()
        named = [leaf for leaf in tree_leaves((args[1:], kwargs)) if _is_device(leaf)]
        like = [leaf for leaf in args[1:2] if func == Tensor.to and isinstance(leaf, Tensor)]
        args, kwargs = tree_map(lambda leaf: CPU if _is_device(leaf) else leaf, (args, kwargs))
        wanted = torch.device(named[0]).type if named else None
        if like:
            wanted = "cuda" if card.lies_there(like[0]) else "cpu"
        if wanted == "cpu" and func == Tensor.to and lies_there:
            return func(card.bring(args[0]), *args[1:], **kwargs)
        # Within backward, where chunks are computed again, torch asks no mode which device is meant: it is this one.
        card.makes_on_host = getattr(func, "__name__", "") not in ("backward", "grad")
        result = func(*args, **kwargs)
        card.makes_on_host = True
        return tree_map(lambda one: self._sent(one, args), result) if wanted == "cuda" else result

    def _sent(self, result: Any, args: Any) -> Any:
        if not isinstance(result, Tensor) or self._card.lies_there(result):
            return result
        return self._card.put(result.clone() if args and result is args[0] else result)


def _is_device(leaf: object) -> bool:
    return isinstance(leaf, (str, torch.device)) and str(leaf).split(":")[0] in ("cpu", "cuda")


@contextmanager
def simulated_card(patch: pytest.MonkeyPatch, largest: float = float("inf")) -> Iterator[SimulatedCard]:
    """Within it, this machine has one card, for tensors of at most so many bytes each."""
    card, send, fork = SimulatedCard(largest), nn.Module.to, torch.random.fork_rng

    def sent(module: nn.Module, *args: Any, **kwargs: Any) -> nn.Module:
        is_sent = any(
            _is_device(one) and torch.device(one).type == "cuda" for one in tree_leaves((args, kwargs))
        )
        rest = tree_map(lambda leaf: CPU if _is_device(leaf) else leaf, (args, kwargs))
        send(module, *rest[0], **rest[1])
        for tensor in (*module.parameters(), *module.buffers()) if is_sent else ():
            card.put(tensor)
        return module

    with patch.context() as patched:
        patched.setattr(nn.Module, "to", sent)
        patched.setattr(torch.random, "fork_rng", lambda devices=(), **rest: fork(devices=[], **rest))
        # A build with CUDA would ask the driver, which lacks, whether AdamW's step is recorded as a graph.
        patched.setattr(torch.accelerator, "current_accelerator", lambda check_available=False: None)
        for name, value in {"is_available": True, "device_count": 1, "get_device_name": NAME}.items():
            patched.setattr(torch.cuda, name, lambda *args, value=value: value)
        # A load reads one short text on the CPU, before there is anything on the card.
        patched.setattr("rse_study.models.loading.check_vectors", lambda name, encoder, tokenizer: None)
        patched.setattr(torch.cuda, "manual_seed", lambda seed: None)
        patched.setattr(torch.cuda, "device", lambda device: nullcontext())
        with card, _Sending(card):
            yield card
