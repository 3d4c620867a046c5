"""A pass compiled once for all cells of a process that are alike."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

# Of a pass: a cell of RobustSentEmbed has 4, and torch looks through all of them at every call.
MOST_GRAPHS = 64


def compiled(run: Callable[..., Any]) -> Callable[..., Any]:
    """Have torch.compile fuse a function of tensors, for batches of any shape.

    What was compiled for one cell serves the next whose modules are alike, whatever their weights. Where cells are so
    unlike that there are too many graphs, all are forgotten; torch alone would compute the rest uncompiled, to other
    last bits.
    """
    from torch._dynamo.exc import FailOnRecompileLimitHit  # takes seconds, for a compiler that few ask for

    limits: Any = torch._dynamo.config
    # A step that is reported differentiates the terms of its loss one by one before the whole of it.
    torch._functorch.config.donated_buffer = False
    limits.recompile_limit, limits.fail_on_recompile_limit_hit = MOST_GRAPHS, True
    # Dropout draws the numbers it draws uncompiled: passes that share masks are compiled separately.
    options: dict[str, Any] = {"fallback_random": True}
    fused = torch.compile(run, dynamic=True, options=options)

    @wraps(run)
    def call(*arguments: Any) -> Any:
        try:
            return fused(*arguments)
        except FailOnRecompileLimitHit:
            torch.compiler.reset()
            return fused(*arguments)

    return call
