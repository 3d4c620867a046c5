"""Problems of a file in the project's words: path, value, rule, remedy."""

import inspect
import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from rse_study.errors import InputError
from rse_study.methods import METHODS
from rse_study.methods.presets import meant
from rse_study.registry import did_you_mean
from rse_study.spec import meanings, show_setting

RULES = {
    "greater_than": "must be > {gt}",
    "greater_than_equal": "must be >= {ge}",
    "less_than": "must be < {lt}",
    "less_than_equal": "must be <= {le}",
    "missing": "is required",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be finite",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "literal_error": "must be {expected}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "union_tag_not_found": "needs `{discriminator}`",
    "union_tag_invalid": "must be one of {expected_tags}",
    "too_short": "must have at least {min_length} item(s)",
    "too_long": "must have at most {max_length} item(s)",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_short": "must have at least {min_length} character(s)",
    "string_too_long": "must have at most {max_length} characters",
    "invalid_key": "a key must be text",
    "recursion_loop": "must not contain itself",
}

REMEDIES = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "Write a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "Write a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "Write true or false"),
    **dict.fromkeys(("literal_error", "union_tag_invalid"), "Choose one of them"),
    **dict.fromkeys(("list_type", "tuple_type"), "Write a list in brackets, such as [a, b]"),
    "dict_type": "Write `name: value` in it, or in lines below it",
    "axis_kind": "Write one of them, such as `rho: {float: [0, 1]}` or `rho: [0, 0.5, 1]`",
    "search_axis_kind": "Write one of them, such as `rho: {float: [0, 1]}`, directly below `search:`; `num_trials` and "
    "other fields of the study stand beside `search:`",
    "missing": "Add it",
    "too_short": "Add more of them",
    "too_long": "Remove some",
    "string_too_short": "Write a longer text",
    "string_too_long": "Shorten it",
    "string_pattern_mismatch": "Write it with these characters only",
    "invalid_key": "Write it in quotes",
}
"""Remedy for each kind of error, if nothing more specific is known."""
BOUNDS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
MOST_NAMED = 12

CLASS_TAG = ", 'class'"
CLASS_HINT = "One of your own goes by `class: module:Class`, instead of a name"
RuleProblems = Iterator[tuple[str, str, str]]  # what, rule, remedy


def problems_of(
    error: ValidationError, cls: type[BaseModel], *, where: str, prefix: str = ""
) -> list[InputError]:
    """Return one InputError per finding of pydantic, with `prefix` before its path."""
    findings = [dict(finding) for finding in error.errors(include_url=False)]
    return [_problem(finding, cls, where, prefix) for finding in findings if not _is_echo(finding)]


def joined(problem: InputError) -> str:
    """Join what and rule of a problem, to quote it in another one."""
    return ": ".join(part for part in (problem.what, problem.rule) if part)


def _is_echo(finding: dict[str, Any]) -> bool:
    """Whether a list is called too short only because some of its items are invalid."""
    return finding["type"] == "too_short" and len(finding["input"]) >= finding["ctx"]["min_length"]


def _problem(finding: dict[str, Any], cls: type[BaseModel], where: str, prefix: str) -> InputError:
    loc = finding["loc"]
    if loc and loc[-1] == "[key]":  # the key itself is wrong, whatever stands below it
        finding, loc = finding | {"type": "invalid_key"}, loc[:-1]
    path, owner, info, annotation = _trace(cls, loc)
    at = ".".join([prefix, *path] if prefix else path)
    if finding["type"] == "extra_forbidden":
        unknown = f"no such field of {owner.__name__}", did_you_mean(path[-1], _names(owner))
        rule, remedy = getattr(owner, "removed", {}).get(path[-1], unknown)
        return InputError(at, where=where, rule=rule, remedy=remedy)
    if finding["type"] == "union_tag_invalid":
        key = finding["ctx"]["discriminator"].strip("'")
        # A function discriminates the methods, so that files may omit the default's name.
        what = f"{at}.{'name' if key.endswith('()') else key} = {finding['ctx']['tag']!r}"
    elif finding["type"] in ("missing", "value_error") or isinstance(
        finding["input"], dict | list | BaseModel
    ):
        what = at
    else:
        what = f"{at} = {finding['input']!r}" if at else repr(finding["input"])
    is_described = info is not None and not inspect.isclass(_plain(info.annotation))
    rule, advice = _rule(finding, meanings(owner).get(path[-1], "") if is_described else "")
    remedy = advice or _remedy(finding, info, annotation)
    if _may_be_a_class(finding, owner):
        remedy = f"{remedy} {CLASS_HINT}".strip()
    return InputError(what, where=where, rule=rule, remedy=remedy)


def _may_be_a_class(finding: dict[str, Any], owner: type[BaseModel]) -> bool:
    """Whether an unknown name stands where a class would do."""
    if finding["type"] == "union_tag_invalid":
        return CLASS_TAG in finding["ctx"]["expected_tags"]
    return (
        finding["type"] == "literal_error" and finding["loc"][-1] == "name" and "class_" in owner.model_fields
    )


def _rule(finding: dict[str, Any], description: str) -> tuple[str, str]:
    """Return the broken rule, and its remedy if a validator says "rule. Remedy"."""
    context = finding.get("ctx", {})
    if finding["type"] == "value_error":
        rule, _, remedy = str(context["error"]).partition(". ")
        return rule, remedy
    context = {key: f"{value:g}" if isinstance(value, float) else value for key, value in context.items()}
    rule = RULES[finding["type"]].format(**context) if finding["type"] in RULES else finding["msg"]
    rule = rule.replace(CLASS_TAG, "")  # no name: `class` stands in its place
    return f"{rule} ({description})" if description else rule, ""


def _remedy(finding: dict[str, Any], info: FieldInfo | None, annotation: Any) -> str:
    """Return the remedy for a kind of error, with the field's range and default if it has any."""
    kind, given, context = finding["type"], finding["input"], finding.get("ctx", {})
    options, word = _options(context), str(context.get("tag", given))
    near = meant(word, "name") if set(METHODS) <= set(options) else did_you_mean(word, options)
    if near.startswith("Did"):
        return near
    default = None if info is None else info.default
    has_default = isinstance(default, str | int | float) and default != ""
    is_model = inspect.isclass(annotation) and issubclass(annotation, BaseModel)
    if set(context) & set(BOUNDS):
        bounds = context if info is None else {**context, **_bounds(info)}
        remedy = "Use a number " + " and ".join(
            f"{BOUNDS[key]} {bounds[key]}" for key in BOUNDS if key in bounds
        )
    elif kind == "string_type":
        remedy = "Write one text" if isinstance(given, dict | list) else "Write it in quotes"
    elif kind in ("model_type", "model_attributes_type") and is_model:
        remedy = f"Write its fields as `name: value`: {', '.join(_names(annotation)[:MOST_NAMED])}"
    elif kind == "value_error" and is_model:
        return "Change one of its fields, or leave them out: the defaults go together"
    else:
        remedy = REMEDIES.get(kind, "Correct it")
    return f"{remedy}; the default is {show_setting(default)}" if has_default else remedy


def _options(context: dict[str, Any]) -> list[str]:
    """Return the names that a literal or a tag may have."""
    expected = str(context.get("expected", context.get("expected_tags", "")))
    return [word.strip(" '") for part in expected.split(",") for word in part.split("' or '")]


def _bounds(info: FieldInfo) -> dict[str, Any]:
    """Return the bounds that a field declares."""
    return {key: getattr(one, key) for one in info.metadata for key in BOUNDS if hasattr(one, key)}


def _names(cls: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in cls.model_fields.items()]


def _trace(
    cls: type[BaseModel], loc: tuple[Any, ...]
) -> tuple[list[str], type[BaseModel], FieldInfo | None, Any]:
    """Return the path a user wrote (without pydantic's tags), the owner of its end, its field and its type."""
    path: list[str] = []
    owner, annotation = cls, _plain(cls)
    info: FieldInfo | None = None
    for item in loc:
        if _is_union(annotation):  # pydantic puts a tag between a field and what is below
            annotation = _plain(_member(annotation, item))
            continue
        path.append(str(item))
        info = None
        if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
            owner, info = annotation, annotation.model_fields.get(item)
            annotation = None if info is None else _plain(info.annotation)
        else:
            inner = [part for part in typing.get_args(annotation) if part is not ...]
            annotation = _plain(inner[-1]) if inner else None  # a list's items, a mapping's values
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        owner = annotation
    return path, owner, info, annotation


def _plain(annotation: Any) -> Any:
    """Strip Annotated and `| None` from an annotation."""
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if _is_union(annotation):
        members = [part for part in typing.get_args(annotation) if part is not type(None)]
        return _plain(members[0]) if len(members) == 1 else annotation
    return annotation


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _member(union: Any, tag: Any) -> Any:
    """Return the union member that pydantic's tag names: by class, or by value of its discriminator."""
    members = [_plain(part) for part in typing.get_args(union)]
    models = [part for part in members if inspect.isclass(part) and issubclass(part, BaseModel)]
    named = [model for model in models if tag in (model.__name__, model.__name__.lower())]
    valued = [model for model in models if any(info.default == tag for info in model.model_fields.values())]
    mappings = [part for part in members if typing.get_origin(part) is dict]
    return next(iter([*named, *valued, *models, *mappings]), None)


def errors_of(found: Iterable[tuple[str, str, str]], where: str) -> list[InputError]:
    """Return the problems as errors in the file `where`."""
    return [InputError(what, where=where, rule=rule, remedy=remedy) for what, rule, remedy in found]


def located(at: str, values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield each value of a list, and where it stands."""
    return ((f"{at}.{index}", value) for index, value in enumerate(values))


def listed_twice(located_values: Iterable[tuple[str, Any]], remedy: str = "Keep one of them") -> RuleProblems:
    """Refuse values that stand in a list twice."""
    seen = set[Any]()
    for at, value in located_values:
        if value in seen:
            yield f"{at} = {value!r}", "is listed twice", remedy
        seen.add(value)
