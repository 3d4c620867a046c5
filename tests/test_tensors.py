"""torch and shapes as the floors up to `methods` have them."""

import subprocess
import sys

import pytest
import torch as real

from rse_study.losses import info_nce
from rse_study.tensors import F, Float, Tensor, Unchecked, nn, torch


def test_it_is_torch_with_shapes_that_are_checked():
    assert torch.cat is real.cat
    assert F.softmax is real.nn.functional.softmax
    assert nn.Linear is real.nn.Linear
    assert isinstance(real.zeros(1), Tensor)
    assert not isinstance([0.0], Tensor)

    # A graph for torch.compile is the same, whichever way its functions are named.
    def step(x):
        return F.normalize(torch.cat([x, torch.exp(x)]), dim=-1)

    compiled = real.compile(step, backend="eager", fullgraph=True)
    assert compiled(real.ones(2, 3)).equal(step(real.ones(2, 3)))
    z = real.zeros(2, 3)
    with pytest.raises(Exception, match="others"):
        info_nce(z, z[None], z[0], real.eye(2, dtype=real.bool), 0.05)
    assert Unchecked[Tensor, "b d"] is Tensor
    assert Float[Tensor, "b d"] is not Tensor
    code = "from rse_study.tensors import Float, Tensor; assert Float[Tensor, 'b d'] is Tensor"
    subprocess.run([sys.executable, "-c", code], check=True)
