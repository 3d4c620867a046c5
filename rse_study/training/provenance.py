"""Where numbers come from: versions, machine and threads.

Bit-equality depends on them: `rse_study.results.bit_equality`.
"""

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

from rse_study.evaluation.rank_correlation import DIGITS
from rse_study.results.bit_equality import SIMILARITY_DIGITS

PACKAGES = (
    "rse-study", "torch", "transformers", "numpy", "scipy", "scikit-learn", "safetensors", "nltk",
)  # fmt: skip
SETTINGS = (
    "LD_PRELOAD", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE",
    "NPY_DISABLE_CPU_FEATURES", "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE",
)  # fmt: skip
"""Variables of the environment by which libraries choose among their kernels."""
BUILD = {
    "BLAS of torch": r"BLAS_INFO=(\w+)",
    "MKL of torch": r"Math Kernel Library Version (\S+)",
    "oneDNN of torch": r"MKL-DNN (v\S+)",
}
CPU_INFO = re.compile(r"^(vendor_id|cpu family|model|model name|CPU implementer|CPU part)\s*: *(.+)$", re.M)


def provenance(device: torch.device, workers: int = 1, precision: str = "float32") -> dict[str, Any]:
    """Return versions, processor, its kernels, device, precision, workers, threads.

    Parameters
    ----------
    device
        Where the numbers are computed. The name of a GPU is None where there is none here.
    workers
        How many share a batch.
    precision
        Of the trial.
    """
    is_gpu = device.type == "cuda"
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "libraries": _libraries() | (_gpu_libraries() if is_gpu else {}),
        "settings": _settings() or "none",
        "processor": _processor(),
        "kernels": torch.backends.cpu.get_cpu_capability(),
        "device": _gpu(device) if is_gpu else platform.machine(),
        "device_type": device.type,
        "precision": precision,
        "workers": workers,
        "threads": torch.get_num_threads(),
        SIMILARITY_DIGITS: DIGITS,
    }


@cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


@cache
def _libraries() -> dict[str, str]:
    build = torch.__config__.show()
    matches = {name: re.search(pattern, build) for name, pattern in BUILD.items()}
    blas = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    return {name: match[1] for name, match in matches.items() if match} | {
        "BLAS of numpy": f"{blas.get('name')} {blas.get('version')}"
    }


def _gpu_libraries() -> dict[str, str]:
    return {"CUDA": str(torch.version.cuda), "cuDNN": str(torch.backends.cudnn.version())}


def _settings() -> str:
    """Those that are set; of a library's path its name alone."""
    return " ".join(
        f"{name}={re.sub(r'[^ :]*/', '', os.environ[name])}" for name in SETTINGS if os.environ.get(name)
    )


@cache
def _processor() -> str:
    """Vendor, family and model where the system says them, else the architecture."""
    with suppress(OSError):
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
        said = dict(CPU_INFO.findall(first))
        name, numbers = said.pop("model name", ""), "/".join(said.values())
        if name or numbers:
            return f"{name} ({numbers})".strip()
    return platform.processor() or platform.machine()


def _gpu(device: torch.device) -> str | None:
    return torch.cuda.get_device_name(device) if torch.cuda.is_available() else None
