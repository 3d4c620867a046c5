"""Where numbers come from: versions, device and threads, on which bit-equality depends."""

import platform
from importlib import metadata
from typing import Any

import torch


def provenance(device: torch.device) -> dict[str, Any]:
    """Python, packages, processor or GPU, and number of threads."""
    packages = ("rse-study", "torch", "transformers", "numpy", "safetensors")
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in packages},
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine(),
        "threads": torch.get_num_threads(),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
