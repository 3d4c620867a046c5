"""Serialisation of mappings as YAML."""

import io
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.representer import SafeRepresenter

NEVER_FOLDED = 1_000_000


class _Writer(SafeRepresenter):
    """A representer that keeps the order of keys and writes no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def yaml_text(content: dict[str, Any]) -> str:
    """Return a mapping as YAML 1.2, in the order of its keys."""
    writer = YAML(typ="safe", pure=True)
    writer.Representer = _Writer
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = NEVER_FOLDED
    stream = io.StringIO()
    writer.dump(content, stream)
    return stream.getvalue()
