"""Checks the shapes of signatures under pytest, in the modules that have any.

A checked function costs tens of microseconds a call: with every module checked, the suite took more than twice as long.
"""

import re
from pathlib import Path

from jaxtyping import install_import_hook

ROOT = Path(__file__).parent
SHAPE = re.compile(r"\b(?:Bool|Float|Int)(?:32)?\[")

install_import_hook(
    [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "rse_study").rglob("*.py")
        if SHAPE.search(path.read_text(encoding="utf-8"))
    ],
    "beartype.beartype",
)
