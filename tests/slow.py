"""Which cases of a test the suite runs; all the others are for `make check-slow`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], fast: Collection[Any]) -> list[Any]:
    """All cases as parameters, those that are not in `fast` marked slow."""
    cases = list(cases)
    assert all(case in cases for case in fast), "a fast case is none of the cases"
    return [case if case in fast else pytest.param(case, marks=pytest.mark.slow) for case in cases]
