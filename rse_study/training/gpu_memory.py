"""A GPU that is full: said once, and as what it is."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from rse_study.errors import InputError, first_line

FULL = "the GPU's memory is full"
OTHER_WORDS = ("CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED")
"""of errors that are no torch.OutOfMemoryError, for memory that torch does not manage"""


@contextmanager
def full_memory_named() -> Iterator[None]:
    """Raise InputError where CUDA runs out of memory: it would again the next time."""
    try:
        yield
    except RuntimeError as error:
        text = str(error)
        if not isinstance(error, torch.OutOfMemoryError) and not any(words in text for words in OTHER_WORDS):
            raise
        rule = "weights, optimizer state and activations of a batch must all fit at once"
        remedy = (
            "Compute fewer sentences at a time (chunk_size: 16 with graphed: false, of the base or of one row; a study"
            " that has begun needs another name for that), or give a cell more of a GPU (resources.gpus)"
        )
        raise InputError(f"{FULL} ({first_line(error)[:300]})", rule=rule, remedy=remedy) from None
