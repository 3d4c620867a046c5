"""The device that a command computes on."""

import torch

from rse_study.errors import InputError


def require_device(device: str) -> None:
    """Raise InputError unless this machine has the device."""
    num_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    known = ["cpu", *(["cuda"] if num_gpus else []), *(f"cuda:{i}" for i in range(num_gpus))]
    if device not in known:
        rule, remedy = f"must be one of {', '.join(known)} here", "See `rse-study doctor`"
        raise InputError(f"device {device!r}", where="--device", rule=rule, remedy=remedy)
