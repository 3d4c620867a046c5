"""Generate docs/methods.md from the registries (`make methods`)."""

import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

from pydantic.fields import FieldInfo

from rse_study.methods import METHODS
from rse_study.methods.presets import PRESETS
from rse_study.perturbations import PERTURBATIONS
from rse_study.spec import Spec, meanings, show_setting

HEADINGS = ("field", "symbol", "default", "values", "meaning")


def page() -> str:
    """Return the whole page."""
    parts = [
        "# Methods",
        "Made from the registry by `make methods`; tests/methods/test_describe.py holds it to the code.\n"
        "A study names a field by its path below `base.method`, by its symbol, or by any unique end of its path.\n"
        "A symbol that stands at several fields, such as N, writes all of them if the method has one value for them.",
        *(part for name in METHODS for part in _method(name)),
        *_perturbations(),
        *_presets(),
    ]
    return "\n\n".join(parts) + "\n"


def _method(name: str) -> Iterator[str]:
    made = METHODS[name]()
    source = made.source
    links = ", ".join(f"[{record[:4]}](decisions/{record}.md)" for record in source.decisions) or "none"
    yield f"## {name}"
    yield inspect.cleandoc(type(made).__doc__ or "")
    cost = made.cost
    yield (
        f"Paper: {source.paper}, equations {source.equations}. Departures: {links}. At its defaults a step computes\n"
        f"{cost.gradient_passes} gradients and {cost.work:g} P*T operations (P parameters without embeddings, "
        "T tokens of a view; SimCSE: 12)."
    )
    yield "\n".join(_row(cells) for cells in (HEADINGS, ("---",) * len(HEADINGS), *_fields(made)))


def _perturbations() -> Iterator[str]:
    yield "## Perturbations"
    yield "Players of the one ascent loop, which methods are composed of."
    rows = [(f"`{name}`", _first_sentence(PERTURBATIONS.get(name))) for name in PERTURBATIONS]
    yield "\n".join(_row(cells) for cells in (("player", "what moves"), ("---", "---"), *rows))


def _first_sentence(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def _presets() -> Iterator[str]:
    yield "## Presets"
    yield "`preset: NAME` in a row of a grid, or below `method` of a trial, writes these settings."
    for name in PRESETS:
        preset = PRESETS.get(name)
        settings = ", ".join(f"`{path}: {show_setting(value)}`" for path, value in preset.settings.items())
        yield f"**{name}** ({preset.method}). {preset.about}\n\n{settings}"


def _fields(spec: Spec, prefix: str = "", joint: dict[str, str] | None = None) -> Iterator[tuple[str, ...]]:
    own = {prefix + path: symbol for symbol, paths in spec.joint.items() for path in paths}
    joint = (joint or {}) | own
    for name, info in type(spec).model_fields.items():
        value = getattr(spec, name)
        if isinstance(value, Spec):
            yield from _fields(value, f"{prefix}{name}.", joint)
        else:
            extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
            known = (str(extra.get("symbol", "")), joint.get(prefix + name, ""))
            symbol, meaning = ", ".join(filter(None, known)), meanings(type(spec)).get(name, "")
            yield f"`{prefix}{name}`", symbol, show_setting(value), _values(info), meaning


def _row(cells: tuple[str, ...]) -> str:
    """Return a row of a table, with the bars of ||g||_P escaped."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _values(info: FieldInfo) -> str:
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
