"""Axis letters of every tensor signature, said once; and how tensors get to a GPU.

b sentences of this worker, g sentences of the global batch, l tokens, d features, p positives, k sites, v vocabulary.
Masks are bool, True = real token.
"""

import torch
from torch import Tensor


def sent(values: Tensor, device: torch.device) -> Tensor:
    """Values made on the CPU, on a device.

    Nobody waits: what a GPU still computes goes on meanwhile.
    """
    return values.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else values.to(device)
