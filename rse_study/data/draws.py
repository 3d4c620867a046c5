"""Tensors that a step draws on the CPU: where it needs them, or ahead of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rse_study.tensors import Tensor, sent

if TYPE_CHECKING:
    import torch

    from rse_study.data.batches import Batch

Make = Callable[["Batch", int], tuple[Tensor, ...]]
"""Draws for a batch on the CPU and a step; nothing else that it reads may change between two steps."""


@dataclass
class Draws:
    """The draws of one step by name; how each is made is known from the steps before."""

    host: "Batch | None"
    """the step's batch on the CPU; None: all is made, since a recorded step would repeat what it draws"""
    step: int
    device: "torch.device"
    makers: dict[str, Make]
    """of all steps"""
    made: dict[str, tuple[Tensor, ...]] = field(default_factory=dict)

    def take(self, name: str, make: Make) -> tuple[Tensor, ...]:
        if name not in self.made:
            self.makers[name] = make
            self._make(name)
        return self.made[name]

    def make_all(self) -> None:
        """Make all that was needed in earlier steps."""
        for name in self.makers:
            self._make(name)

    def _make(self, name: str) -> None:
        assert self.host is not None, f"{name} is drawn inside a recorded step"
        self.made[name] = sent_all(self.makers[name](self.host, self.step), self.device)


def sent_all(values: tuple[Tensor, ...], device: "torch.device") -> tuple[Tensor, ...]:
    """Copy CPU values to a device without waiting for the GPU."""
    return tuple(sent(each, device) for each in values)
