"""Passes in chunks of rows, of which only one has its activations at a time.

Each chunk is computed without keeping what its gradient needs, and computed again when the gradient of its outputs
is known (Gao et al. 2021; Chen et al. 2016): a loss over the whole batch keeps its in-batch negatives.
"""

from collections.abc import Callable
from functools import partial
from itertools import repeat

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from rse_study.models.modes import in_mode

RowFunction = Callable[..., Tensor]


def by_chunks(module: nn.Module, work: RowFunction, chunk_size: int, *rows: Tensor | None) -> Tensor:
    """Return work(*rows), [b ...], computed chunk by chunk.

    Dropout has the same masks both times.

    Parameters
    ----------
    module
        Whose weights are used; the second time it is in the mode of the first.
    work
        What it returns of chunks is stacked; rows do not see each other in it.
    chunk_size
        Most rows of a chunk; 0: all at once.
    rows
        Tensors of one length; None stays None.
    """
    first = rows[0]
    assert first is not None
    if not 0 < chunk_size < len(first):
        return work(*rows)
    run = partial(_computed_twice, module, work) if torch.is_grad_enabled() else work
    parts = [repeat(None) if tensor is None else tensor.split(chunk_size) for tensor in rows]
    return torch.cat([run(*chunk) for chunk in zip(*parts, strict=False)])


def _computed_twice(module: nn.Module, work: RowFunction, *chunk: Tensor | None) -> Tensor:
    training = module.training  # the second time comes with `backward`, when a method's own modes are over

    def compute(*chunk: Tensor | None) -> Tensor:
        with in_mode(module, training=training):
            return work(*chunk)

    found: Tensor = checkpoint(compute, *chunk, use_reentrant=False)
    return found
