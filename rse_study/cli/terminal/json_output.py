"""JSON for `--json`, by RFC 8259: without NaN and infinity."""

import json
from math import isfinite
from typing import Any


def json_of(content: Any) -> str:
    """Write JSON in ASCII; NaN and infinity become null.

    >>> print(json_of([0.5, float("nan")]))
    [
     0.5,
     null
    ]
    """
    return json.dumps(_finite(content), indent=1, allow_nan=False)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content
