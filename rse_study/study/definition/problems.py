"""pydantic's errors in the project's words: path, value, rule, remedy."""

import inspect
import types
import typing
from typing import Any

from pydantic import BaseModel, ValidationError

from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.spec import meanings

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

CLASS_TAG = ", 'class'"
CLASS_HINT = "One of your own goes by `class: module:Class`, instead of a name"


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
    path, owner, description = _trace(cls, loc)
    at = ".".join([prefix, *path] if prefix else path)
    if finding["type"] == "extra_forbidden":
        keys = [info.alias or name for name, info in owner.model_fields.items()]
        remedy = did_you_mean(path[-1], keys)
        return InputError(at, where=where, rule=f"no such field of {owner.__name__}", remedy=remedy)
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
    remedy = _remedy(finding)
    if _may_be_a_class(finding, owner):
        remedy = f"{remedy} {CLASS_HINT}".strip()
    return InputError(what, where=where, rule=_rule(finding, description), remedy=remedy)


def _may_be_a_class(finding: dict[str, Any], owner: type[BaseModel]) -> bool:
    """Whether an unknown name stands where a class would do."""
    if finding["type"] == "union_tag_invalid":
        return CLASS_TAG in finding["ctx"]["expected_tags"]
    return (
        finding["type"] == "literal_error" and finding["loc"][-1] == "name" and "class_" in owner.model_fields
    )


def _rule(finding: dict[str, Any], description: str) -> str:
    context = finding.get("ctx", {})
    if finding["type"] == "value_error":
        return str(context["error"])
    context = {key: f"{value:g}" if isinstance(value, float) else value for key, value in context.items()}
    rule = RULES[finding["type"]].format(**context) if finding["type"] in RULES else finding["msg"]
    rule = rule.replace(CLASS_TAG, "")  # no name: `class` stands in its place
    return f"{rule} ({description})" if description else rule


def _remedy(finding: dict[str, Any]) -> str:
    context = finding.get("ctx", {})
    options = [
        part.strip(" '") for part in str(context.get("expected", context.get("expected_tags", ""))).split(",")
    ]
    options = [part.strip(" '") for option in options for part in option.split("' or '")]
    if finding["type"] == "invalid_key":
        return "Write it in quotes"
    given = context.get("tag", finding["input"])
    if not isinstance(given, str) or finding["type"] not in ("literal_error", "union_tag_invalid"):
        return ""
    remedy = did_you_mean(given, options)
    return remedy if remedy.startswith("Did") else ""


def _trace(cls: type[BaseModel], loc: tuple[Any, ...]) -> tuple[list[str], type[BaseModel], str]:
    """Return the path a user wrote (without pydantic's tags), the owner of its end and the description."""
    path: list[str] = []
    owner, annotation, description = cls, _plain(cls), ""
    for item in loc:
        if _is_union(annotation):  # pydantic puts a tag between a field and what is below
            annotation = _plain(_member(annotation, item))
            continue
        path.append(str(item))
        description = ""
        if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
            owner, info = annotation, annotation.model_fields.get(item)
            annotation = None if info is None else _plain(info.annotation)
            description = "" if info is None or inspect.isclass(annotation) else meanings(owner).get(item, "")
        else:
            inner = [part for part in typing.get_args(annotation) if part is not ...]
            annotation = _plain(inner[-1]) if inner else None  # a list's items, a mapping's values
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        owner = annotation
    return path, owner, description


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
    return next(iter([*named, *valued, *models]), None)
