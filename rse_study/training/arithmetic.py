"""The arithmetic of training, and what its bits depend on: versions and machine."""

import math
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from rse_study.errors import NonFiniteLoss
from rse_study.evaluation.sts import DIGITS
from rse_study.models.backbone import HalfWeights
from rse_study.results.bit_equality import SIMILARITY_DIGITS
from rse_study.tensors import Collectives

HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}
SCALER = "scaler/"
"""beginning of the names by which a checkpoint holds the scale of fp16"""


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Compute with so many threads, on whose number the bits of results depend."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Arithmetic:
    """The arithmetic of one run: float32, tf32, bf16, fp16 or float64.

    Half precisions are autocast: weights, E + delta and every LayerNorm stay float32, matrix products do not. tf32
    rounds the factors of float32 products, on GPUs that have it. fp16 has no room for small gradients: its loss is
    scaled, and a step whose gradients overflow is left out and makes the scale smaller.
    """

    def __init__(self, precision: str, device: torch.device) -> None:
        self._half, self._device = HALVES.get(precision), device
        self._is_tf32 = precision == "tf32"
        self._stand_in: Callable[[], AbstractContextManager[None]] = nullcontext
        self.dtype = torch.float64 if precision == "float64" else torch.float32
        self._scaler = torch.amp.GradScaler(device.type, enabled=precision == "fp16")

    @contextmanager
    def autocast(self) -> Iterator[None]:
        is_half = self._half is not None
        with torch.autocast(self._device.type, self._half, enabled=is_half), self._stand_in():
            yield

    @contextmanager
    def products(self, network: nn.Module | None = None, *, joins: bool = False) -> Iterator[None]:
        """Let the passes of one step use TF32, or weights that are cast once."""
        products = torch.backends.cuda.matmul
        before = products.fp32_precision
        if self._is_tf32:
            products.fp32_precision = "tf32"
        if self._half is not None and network is not None:
            self._stand_in = HalfWeights(network, self._half, joins=joins).standing_in
        try:
            yield
        finally:
            products.fp32_precision, self._stand_in = before, nullcontext

    def descend(
        self,
        loss: Tensor,
        optimizer: Optimizer,
        parameters: Iterable[nn.Parameter],
        max_norm: float,
        reduce: Callable[[], None] = lambda: None,
    ) -> None:
        """Take a step down the loss, its gradient summed by `reduce` and clipped."""
        optimizer.zero_grad()
        self._scaler.scale(loss).backward()
        reduce()
        self._scaler.unscale_(optimizer)
        clip_grad_norm_(parameters, max_norm)
        self._scaler.step(optimizer)
        self._scaler.update()

    def state(self) -> dict[str, Tensor]:
        """Return the scale and the steps since it changed, for a checkpoint."""
        return {SCALER + name: torch.tensor(value) for name, value in self._scaler.state_dict().items()}

    def restore(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Take the scale out of a checkpoint's tensors; return the others."""
        own = {
            name.removeprefix(SCALER): value.item()
            for name, value in tensors.items()
            if name.startswith(SCALER)
        }
        if own:
            self._scaler.load_state_dict(own)
        return {name: value for name, value in tensors.items() if not name.startswith(SCALER)}


class LossWatch:
    """The first step with a non-finite loss, kept on the device: no step waits for it."""

    def __init__(self, collectives: Collectives, device: torch.device) -> None:
        self._collectives = collectives
        self.is_deferred = device.type == "cuda"
        self._lost_at = torch.zeros((), dtype=torch.long, device=device)
        self._share = torch.zeros((), device=device)

    def note(self, share: Float[Tensor, ""], t: Int[Tensor, ""] | int) -> None:
        """Record this worker's loss of step `t`, from 1, in place."""
        share = share.detach()
        lost = self._collectives.sum((~share.isfinite()).to(self._share.dtype))
        is_first = (lost > 0) & (self._lost_at == 0)
        self._lost_at.copy_(torch.where(is_first, t, self._lost_at))
        self._share.copy_(torch.where(is_first, share, self._share))

    def look(self) -> None:
        """Require all losses so far finite, where that waits for nothing."""
        if not self.is_deferred:
            self.require_finite()

    @property
    def is_lost(self) -> bool:
        """Whether the loss was not finite at some step so far; waits for the device."""
        return bool(self._lost_at)

    def require_finite(self) -> None:
        """Raise NonFiniteLoss on every worker alike if some loss so far was not finite."""
        t, share = int(self._lost_at), float(self._share)
        if t:
            whose = "on another worker" if math.isfinite(share) else f"this worker's share is {share}"
            raise NonFiniteLoss(f"the loss is not finite ({whose})", t)


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
