"""What a page's script reads: content that stands in the page as JSON."""

import json
from typing import Any


def embedded(content: Any) -> str:
    """JSON that can stand in a script element, whatever texts are in it."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
