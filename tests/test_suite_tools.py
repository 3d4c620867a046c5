"""The suite's own tools: shapes that are checked, cases of one rule, and programs that are missing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from beartype import beartype
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float
from torch import Tensor

from rse_study.models.pooling import pool_mean
from tests import needs
from tests.cases import cases
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


def test_every_case_that_fails_is_named(tmp_path):
    @cases("path", [None])
    @cases(("number", "limit"), [(1, 0), (3, 2), (0, 6)], ids=["one", "three", "none"])
    def holds(tmp_path, path, number, limit):
        assert path is None and not any(tmp_path.iterdir())
        (tmp_path / "left").touch()
        with pytest.raises(ZeroDivisionError):
            assert number / limit < 1

    with pytest.raises(BaseExceptionGroup, match="1 of 1 cases") as caught:
        holds(tmp_path=tmp_path)
    (group,) = caught.value.exceptions
    expected = [("AssertionError", ["Case: three"]), ("Failed", ["Case: none"])]
    assert [(type(error).__name__, error.__notes__) for error in group.exceptions] == expected


# What is missing on a machine is named, with the package that brings it, and counted at the end of a run.


ROOT = Path(__file__).parents[1]


def test_a_missing_program_is_named_with_its_package_as_contributors_are_told(tmp_path, monkeypatch):
    (tmp_path / "chromium").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert needs.reason_without("chromium") == ""
    assert needs.reason_without("chromium", "ip") == "needs ip (Debian package iproute2)"
    several = "needs munged, sbatch, slurmd (Debian package munge, slurm-wlm)"
    assert needs.reason_without("munged", "sbatch", "slurmd") == several
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [package for package in needs.PACKAGES.values() if package not in text] == []
