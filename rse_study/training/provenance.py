"""Versions, machine and threads, on which the bits of numbers depend."""

import os
import platform
import re
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rse_study.evaluation.sts import DIGITS
from rse_study.results.bit_equality import SIMILARITY_DIGITS

PACKAGES = (
    "rse-study", "torch", "transformers", "numpy", "scipy", "scikit-learn", "safetensors", "nltk",
)  # fmt: skip
SETTINGS = (
    "LD_PRELOAD", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE",
    "NPY_DISABLE_CPU_FEATURES", "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE",
)  # fmt: skip
"""environment variables by which libraries choose among their kernels"""
BUILD = re.compile(r"Math Kernel Library Version \S+|MKL-DNN v\S+|BLAS_INFO=\w+")
CPU_INFO = re.compile(r"^(?:vendor_id|cpu family|model|model name|CPU implementer|CPU part)\s*: *(.+)$", re.M)


def provenance(device: torch.device, workers: int = 1, precision: str = "float32") -> dict[str, Any]:
    """Return versions, machine, kernels, device, precision, workers, threads."""
    has_card = device.type == "cuda" and torch.cuda.is_available()
    card = torch.cuda.get_device_name(device) if has_card else None
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "libraries": _libraries(device.type),
        "settings": _settings() or "none",
        "processor": _processor(),
        "memory_gib": round(memory_gib(), 1),
        "system": _system(),
        "kernels": torch.backends.cpu.get_cpu_capability(),
        "device": card if device.type == "cuda" else platform.machine(),
        "device_type": device.type,
        "precision": precision,
        "workers": workers,
        "threads": torch.get_num_threads(),
        SIMILARITY_DIGITS: DIGITS,
    }


def memory_gib() -> float:
    """Return the machine's memory in GiB, which containers share; 0 if unknown."""
    pages = [os.sysconf(name) for name in ("SC_PAGE_SIZE", "SC_PHYS_PAGES") if name in os.sysconf_names]
    return pages[0] * pages[1] / 2**30 if len(pages) == 2 else 0.0


@cache
def _system() -> str:
    kernel = f"{platform.system()} {platform.release()}"
    with suppress(OSError):
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, {kernel}"
    return kernel


@cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


@cache
def _libraries(device_type: str) -> dict[str, str]:
    blas = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    gpu = {"CUDA": str(torch.version.cuda), "cuDNN": str(torch.backends.cudnn.version())}
    return {
        "BLAS of torch": ", ".join(BUILD.findall(torch.__config__.show())),
        "BLAS of numpy": f"{blas.get('name')} {blas.get('version')}",
    } | (gpu if device_type == "cuda" else {})


def _settings() -> str:
    """Return the variables that are set; paths of libraries shrink to file names."""
    known = {name: re.sub(r"[^ :]*/", "", os.environ.get(name, "")) for name in SETTINGS}
    return " ".join(f"{name}={value}" for name, value in known.items() if value)


@cache
def _processor() -> str:
    with suppress(OSError):
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
        if said := CPU_INFO.findall(first):
            return " ".join(said)
    return platform.processor() or platform.machine()
