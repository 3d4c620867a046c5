"""Train and eval modes of modules."""

from collections.abc import Iterator
from contextlib import contextmanager

from rse_study.tensors import nn


@contextmanager
def in_mode(network: "nn.Module", *, training: bool) -> Iterator[None]:
    """Turn dropout on or off inside; every module gets its own mode back."""
    modes = {module: module.training for module in network.modules()}
    try:
        network.train(training)
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode
