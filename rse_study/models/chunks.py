"""Passes in chunks of rows; only one chunk's activations are in memory at a time.

Each chunk runs again once its outputs' gradient is known (Gao et al. 2021; Chen et al. 2016): negatives stay in-batch.
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
    """Compute work(*rows) in chunks of at most `chunk_size` rows (0: all), kept apart.

    A chunk's second run has the mode and the dropout masks of its first.
    """
    first = rows[0]
    assert first is not None
    if not 0 < chunk_size < len(first):
        return work(*rows)
    run = partial(_computed_twice, module, work) if torch.is_grad_enabled() else work
    parts = [repeat(None) if tensor is None else tensor.split(chunk_size) for tensor in rows]
    return torch.cat([run(*chunk) for chunk in zip(*parts, strict=False)])


def _computed_twice(module: nn.Module, work: RowFunction, *chunk: Tensor | None) -> Tensor:
    training = module.training  # the second run happens in `backward`, after a method has left its modes

    def compute(*chunk: Tensor | None) -> Tensor:
        with in_mode(module, training=training):
            return work(*chunk)

    found: Tensor = checkpoint(compute, *chunk, use_reentrant=False)
    return found
