"""What the suite's own decorator refuses: wrong types, and shapes that do not go together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from beartype import beartype
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float
from torch import Tensor

from rse_study.models.pooling import pool_mean
from tests.shape_checks import decorator

check = decorator(typechecker=beartype)


@check
@dataclass(frozen=True)
class Rows:
    values: Float[Tensor, "b d"] | None


def doubled(rows: Float[Tensor, "b d"], width: int) -> Float[Tensor, "b {width}"]:
    return torch.cat([rows, rows], dim=1)


def endless(first: int) -> Iterator[int]:
    yield first


def refuses(call: Callable[..., Any], *values: object) -> None:
    with pytest.raises(BeartypeCallHintViolation):
        call(*values)


def test_rse_study_and_what_is_returned_or_held_are_checked() -> None:
    refuses(pool_mean, torch.zeros(2, 3, 4), torch.ones(2, 5, dtype=torch.bool))
    assert pool_mean(torch.zeros(2, 3, 4), torch.ones(2, 3, dtype=torch.bool)).shape == (2, 4)
    assert check(doubled)(torch.ones(2, 3), 6).shape == (2, 6)
    refuses(check(doubled), torch.ones(2, 3), 5)
    assert next(check(endless)(1)) == 1
    refuses(lambda: next(check(endless)("1")))
    assert Rows(None).values is None
    refuses(Rows, torch.ones(3))
