"""JSON in a page for its scripts."""

import json
from typing import Any


def embedded(content: Any) -> str:
    """Return JSON that is safe inside a script element, whatever its texts."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
