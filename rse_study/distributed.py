"""Gather and reduce over the workers of a run, by torch.distributed."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from rse_study.tensors import Collectives

BUCKET_BYTES = 25 * 2**20  # DistributedDataParallel's


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        parts = [torch.empty_like(rows) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, rows.contiguous())
        ctx.num_rows = len(rows)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Tensor:
        grad = grads[0].contiguous()
        dist.all_reduce(grad)
        start = dist.get_rank() * ctx.num_rows
        return grad[start : start + ctx.num_rows]


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Tensor:
        grad = grads[0].clone()
        dist.all_reduce(grad)
        return grad


class Group(Collectives):
    """Workers of torch.distributed's default process group (gloo on CPU, nccl on GPU)."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        # Of their own: sums of losses and gradients meet in backward, and not in one order on all workers.
        self._of_gradients = dist.new_group()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Group":
        return self  # copies of networks talk to the same workers

    def gather(self, rows: Tensor) -> Tensor:
        return _Gather.apply(rows)

    def gather_ragged(self, rows: Tensor) -> Tensor:
        rows = rows.detach()
        counts = [torch.zeros(1, dtype=torch.long, device=rows.device) for _ in range(self.size)]
        dist.all_gather(counts, torch.tensor([len(rows)], device=rows.device))
        longest = max(int(count) for count in counts)
        padded = rows.new_zeros((longest, *rows.shape[1:]))
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        dist.all_gather(parts, padded)
        return torch.cat([part[: int(count)] for part, count in zip(parts, counts, strict=True)])

    def sum(self, x: Tensor) -> Tensor:
        return _Sum.apply(x)

    def any(self, flag: bool) -> bool:
        # On the backend's device: nccl does not transfer CPU tensors.
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        raised = torch.tensor([float(flag)], device=device)
        dist.all_reduce(raised)
        return bool(raised > 0)

    def summing_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> Callable[[], None]:
        # On the CPU one message: nothing would overlap, and the order of a sum would follow the buckets.
        whole = sys.maxsize if dist.get_backend() == "gloo" else BUCKET_BYTES
        return GradientBuckets(parameters, self._of_gradients, whole).finish


class GradientBuckets:
    """Gradients summed in buckets, while the next backward still computes others.

    The idea of DistributedDataParallel's reducer (Li et al. 2020), without its wrapper: a step has several forward
    passes, gradients of inputs, and parameters that some workers do not use.
    """

    def __init__(
        self,
        parameters: Iterable[torch.nn.Parameter],
        group: dist.ProcessGroup | None = None,
        bucket_bytes: int = BUCKET_BYTES,
    ) -> None:
        """Take parameters in the order of forward: the last one's gradient comes first."""
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        self._group, self._buckets = group, _buckets(trained[::-1], bucket_bytes)
        self._bucket_of = {id(p): number for number, bucket in enumerate(self._buckets) for p in bucket}
        self._num_missing = [len(bucket) for bucket in self._buckets]
        self._sums: list[dist.Work] = []
        self._hooks = [p.register_post_accumulate_grad_hook(self._is_ready) for p in trained]

    @property
    def num_begun(self) -> int:
        return len(self._sums)

    def finish(self) -> None:
        """Begin the sums that are left, and wait for all (on a GPU only its stream does)."""
        for hook in self._hooks:
            hook.remove()
        while self.num_begun < len(self._buckets):
            self._begin()
        for one in self._sums:
            one.wait()

    def _is_ready(self, parameter: torch.nn.Parameter) -> None:
        self._num_missing[self._bucket_of[id(parameter)]] -= 1
        # In one order on all workers, whatever parameters each of them uses.
        while self.num_begun < len(self._buckets) and not self._num_missing[self.num_begun]:
            self._begin()

    def _begin(self) -> None:
        bucket = self._buckets[self.num_begun]
        # A parameter unused on this worker counts as zero: all workers must send the same message.
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in bucket]
        flat = torch.cat([grad.reshape(-1) for grad in grads])
        self._sums.append(dist.all_reduce(flat, group=self._group, async_op=True))
        # In place of the gradients, so that there is no second copy of all of them.
        for parameter, part in zip(bucket, flat.split([p.numel() for p in bucket]), strict=True):
            parameter.grad = part.view_as(parameter)


def _buckets(parameters: list[torch.nn.Parameter], bucket_bytes: int) -> list[list[torch.nn.Parameter]]:
    buckets: list[list[torch.nn.Parameter]] = []
    room = 0
    for parameter in parameters:
        size = parameter.numel() * parameter.element_size()
        if size > room:
            buckets.append([])
            room = bucket_bytes
        buckets[-1].insert(0, parameter)
        room -= size
    return buckets
