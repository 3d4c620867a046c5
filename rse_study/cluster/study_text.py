"""A resolved study as YAML that reads back the same."""

import io
from typing import Any

from ruamel.yaml import YAML


def study_text(content: dict[str, Any]) -> str:
    """Return a mapping as YAML 1.2, in the order of its keys."""
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = 4096
    stream = io.StringIO()
    writer.dump(content, stream)
    return stream.getvalue()
