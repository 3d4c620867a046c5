"""docs/methods.md from the registry: `make methods`. What a method is and costs, what every field may be and means."""

import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

from pydantic.fields import FieldInfo

from rse_study.methods import METHODS
from rse_study.methods.presets import PRESETS
from rse_study.spec import Spec

# Paper, its equations, and the decision records that say where we read it otherwise.
SOURCES = {
    "robust_sent_embed": ("RobustSentEmbed", "2-10", ("0002", "0003", "0004")),
    "l2p_csr": ("L2P-CSR", "1-9", ("0007",)),
    "v_adv_cse": ("V-advCSE", "7-14", ("0007",)),
    "consert": ("ConSERT", "none here", ("0007",)),
    "dcl": ("DCL", "5-9", ("0008",)),
}
RECORDS = {
    "0002": "0002-one-ascent-loop.md",
    "0003": "0003-readings-of-robust-sent-embed.md",
    "0004": "0004-starvation-of-eta.md",
    "0007": "0007-readings-of-the-relatives.md",
    "0008": "0008-reading-of-dcl.md",
}
HEADINGS = ("field", "symbol", "default", "values", "meaning")


def page() -> str:
    """The whole page."""
    parts = [
        "# Methods",
        "Made from the registry by `make methods`; tests/methods/test_describe.py holds it to the code.\n"
        "A study names a field by its path below `base.method`, by its symbol, or by any unique end of its path.",
        *(part for name in METHODS for part in _method(name)),
        *_presets(),
    ]
    return "\n\n".join(parts) + "\n"


def _method(name: str) -> Iterator[str]:
    made = METHODS[name]()
    assert isinstance(made, Spec)
    paper, equations, records = SOURCES[name]
    links = ", ".join(f"[{number}](decisions/{RECORDS[number]})" for number in records)
    yield f"## {name}"
    yield inspect.cleandoc(type(made).__doc__ or "")
    cost = METHODS[name]().cost
    yield (
        f"Paper: {paper}, equations {equations}. Departures: {links}. At its defaults a step computes\n"
        f"{cost.gradient_passes} gradients and {cost.work:g} P*T operations (P parameters without embeddings, "
        "T tokens of a view; SimCSE: 12)."
    )
    yield "\n".join(_row(cells) for cells in (HEADINGS, ("---",) * len(HEADINGS), *_fields(made)))


def _presets() -> Iterator[str]:
    yield "## Presets"
    yield "`preset: NAME` in a row of a grid, or below `method` of a trial, writes these settings."
    for name in PRESETS:
        preset = PRESETS.get(name)
        settings = ", ".join(f"`{path}: {_shown(value)}`" for path, value in preset.settings.items())
        yield f"**{name}** ({preset.method}). {preset.about}\n\n{settings}"


def _fields(spec: Spec, prefix: str = "") -> Iterator[tuple[str, ...]]:
    for name, info in type(spec).model_fields.items():
        value = getattr(spec, name)
        if isinstance(value, Spec):
            yield from _fields(value, f"{prefix}{name}.")
        else:
            extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
            symbol, meaning = str(extra.get("symbol", "")), info.description or ""
            yield f"`{prefix}{name}`", symbol, _shown(value), _values(info), meaning


def _row(cells: tuple[str, ...]) -> str:
    """A row of a table, in which the bars of ||g||_P end no cell."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _values(info: FieldInfo) -> str:
    """Choices, or a type with its bounds."""
    choices = _choices(info.annotation)
    if choices:
        return ", ".join(choices)
    kind = getattr(info.annotation, "__name__", str(info.annotation))
    signs = (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="))
    bounds = [
        f"{sign} {getattr(bound, key):g}"
        for bound in info.metadata
        for key, sign in signs
        if getattr(bound, key, None) is not None
    ]
    return ", ".join([kind, *bounds])


def _choices(annotation: Any) -> list[str]:
    if typing.get_origin(annotation) is typing.Literal:
        return [str(choice) for choice in typing.get_args(annotation)]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [choice for part in typing.get_args(annotation) for choice in _choices(part)]
    return []


if __name__ == "__main__":
    print(page(), end="")
