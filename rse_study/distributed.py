"""Gather and reduce over the workers of a run, by torch.distributed."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from rse_study.collectives import Collectives


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

    def all_reduce_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        trained = [p for p in parameters if p.requires_grad]
        # A parameter unused on this worker counts as zero: all workers must send the same message.
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in trained]
        flat = torch.cat([grad.reshape(-1) for grad in grads])
        dist.all_reduce(flat)
        parts = flat.split([p.numel() for p in trained])
        for parameter, part in zip(trained, parts, strict=True):
            parameter.grad = part.view_as(parameter)
