"""Many cases of one rule as one test: a case that costs milliseconds needs no item of its own."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest


def cases(
    names: str | tuple[str, ...], values: Iterable[Any], ids: Callable[[Any], str] | Iterable[str] = repr
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with every value, as `pytest.mark.parametrize` does, and fail with all that fail, by name.

    Cases share their fixtures, but for `tmp_path`: each has a folder of its own.
    """
    names = (names,) if isinstance(names, str) else names
    values = list(values)
    shown = list(map(ids, values) if callable(ids) else ids)
    assert values, "no cases"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        asked = signature(test)

        @wraps(test)
        def whole(**fixtures: Any) -> None:
            failures, folder = [], fixtures.get("tmp_path")
            for value, name in zip(values, shown, strict=True):
                if "tmp_path" in asked.parameters:
                    fixtures["tmp_path"] = Path(mkdtemp(dir=folder))
                try:
                    test(**fixtures, **dict(zip(names, (value,) if len(names) == 1 else value, strict=True)))
                except (Exception, BaseExceptionGroup, pytest.fail.Exception) as error:
                    error.add_note(f"Case: {name}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(values)} cases", failures)

        whole.__signature__ = asked.replace(  # type: ignore[attr-defined]
            parameters=[one for name, one in asked.parameters.items() if name not in names]
        )
        return whole

    return decorate
