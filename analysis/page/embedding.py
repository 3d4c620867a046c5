"""Content of a page for its scripts; what is large is packed."""

import json
import re
from base64 import b64decode, b64encode
from gzip import compress, decompress
from typing import Any

LARGE = 100_000  # characters: every figure of a small study stays readable in the file
JSON = "application/json"
PACKED = re.compile(r'<script type="application/gzip" class="([\w-]+)" data-type="([\w/]+)">([^<]*)</script>')


def embedded(content: Any) -> str:
    """Return JSON that is safe inside a script element, whatever its texts."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def script(name: str, text: str, kind: str = JSON) -> str:
    """Return a script element of this class; a large text is packed.

    gzip and base64, which scripts/packed.js undoes.
    """
    if len(text) < LARGE:
        return f'<script type="{kind}" class="{name}">{text}</script>'
    packed = b64encode(compress(text.encode(), compresslevel=6, mtime=0)).decode()
    return f'<script type="application/gzip" class="{name}" data-type="{kind}">{packed}</script>'


def unpacked(html: str) -> str:
    """Return a page with its packed content as the browser sees it."""
    return PACKED.sub(_as_written, html)


def _as_written(found: re.Match[str]) -> str:
    name, kind, packed = found.groups()
    return f'<script type="{kind}" class="{name}">{decompress(b64decode(packed)).decode()}</script>'
