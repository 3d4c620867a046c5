"""A grid on the command line: several values of a setting, as in `-o rho=0,0.5,1`."""

from collections.abc import Sequence
from typing import Any

from rse_study.study.definition.config import SEARCH_ONLY, Study
from rse_study.yaml12 import parse_yaml

OTHERS = ("search", "grid", "paper")
"""what a study asks beside its base, which the grid takes the place of"""


def with_quick_grid(content: dict[str, Any], overrides: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Turn a study into a grid over settings with several values.

    The other overrides are returned, too. The grid has a name of its own, `quickstart-rho`, and its first row is the
    baseline. An axis of the study's own writes the fields that it writes there.
    """
    axes, others = dict[str, list[Any]](), list[str]()
    for override in overrides:
        path, _, text = override.partition("=")
        values = _several(text) if _is_setting(path.strip()) else []
        others += [] if values else [override]
        axes |= {path.strip().removeprefix("base."): values} if values else {}
    if not axes:
        return content, others
    own = {**(content.get("search") or {}), **((content.get("grid") or {}).get("axes") or {})}
    name, several = content.get("name", ""), content.get("objectives")
    kept = {key: value for key, value in content.items() if key not in (*SEARCH_ONLY, *OTHERS)}
    kept |= {"objective": several[0]} if several and "objective" not in kept else {}
    baseline = ", ".join(f"{axis} = {values[0]}" for axis, values in axes.items())
    domains = {
        axis: {"choice": values, "into": own[axis]["into"]} if "into" in (own.get(axis) or ()) else values
        for axis, values in axes.items()
    }
    return {
        **kept,
        "name": "-".join([name, *(axis.rpartition(".")[2].lower() for axis in axes)]),
        "question": f"Which values of {' and '.join(axes)} are best in {name}?",
        "grid": {"axes": domains, "baseline": baseline},
    }, others


def _is_setting(path: str) -> bool:
    """Whether a path names a setting of the base, not another field of the study."""
    return path.startswith("base.") or path.partition(".")[0] not in Study.model_fields


def _several(text: str) -> list[Any]:
    """Return values with commas between them; none for one value, a list or a quoted text."""
    value = parse_yaml(f"value: {text}", where="-o")["value"]
    if not isinstance(value, str) or "," not in value or value != text.strip():
        return []
    return [parse_yaml(f"value: {part}", where="-o")["value"] for part in value.split(",")]
