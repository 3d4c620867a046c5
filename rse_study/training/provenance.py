"""Where numbers come from: versions, device and threads.

Bit-equality depends on them.
"""

import platform
from importlib import metadata
from typing import Any

import torch

from rse_study.evaluation.rank_correlation import DIGITS

SIMILARITY_DIGITS = "similarity_digits"
"""Key of the decimals by which a cell's cosines were ranked; a cell begun before decision 0016 lacks it."""


def provenance(device: torch.device, workers: int = 1, precision: str = "float32") -> dict[str, Any]:
    """Return versions, processor or GPU, precision, workers and threads.

    Parameters
    ----------
    device
        Where the numbers are computed.
    workers
        How many share a batch.
    precision
        Of the trial.
    """
    packages = ("rse-study", "torch", "transformers", "numpy", "safetensors", "nltk")
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in packages},
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine(),
        "device_type": device.type,
        "precision": precision,
        "workers": workers,
        "threads": torch.get_num_threads(),
    }


def last_bits_of(device: torch.device, workers: int = 1, precision: str = "float32") -> dict[str, Any]:
    """What decides a score's last bits: provenance, instructions, digits of ranking.

    Parameters
    ----------
    device, workers, precision
        As of `provenance`.
    """
    return {
        "provenance": provenance(device, workers, precision),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        SIMILARITY_DIGITS: DIGITS,
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
