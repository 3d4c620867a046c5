"""What --json prints: JSON as RFC 8259 has it, which knows neither NaN nor infinity."""

import json
from math import isfinite
from typing import Any


def json_of(content: Any) -> str:
    """ASCII, so that it can be printed wherever it is asked for; null where a number is NaN or infinite."""
    return json.dumps(_finite(content), indent=1, allow_nan=False)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content
