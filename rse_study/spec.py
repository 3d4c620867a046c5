"""Base class of all configured objects: frozen, strict, identified by its JSON."""

import ast
import functools
import hashlib
import inspect
import json
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, get_args

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic_core import CoreSchema, PydanticUndefined

MAX_INTEGER = 2**63 - 1  # what a ledger can store
INTEGER_RULE = f"must lie between -{MAX_INTEGER} and {MAX_INTEGER}"


class Spec(BaseModel):
    """A frozen configuration that *is* the object it configures.

    `semantics` is bumped when the numbers a class computes change: it is part of a cell's identity.
    A field's meaning is the string below it, which editors and docs/methods.md show; it is not part of the identity.
    A field declared with `neutral=` is left out of the canonical JSON at that value, so that identities
    made before the field existed stay valid.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)
    semantics: ClassVar[int] = 1
    joint: ClassVar[dict[str, tuple[str, ...]]] = {}
    """by symbol, the paths of several fields below this object that have one value"""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, meaning in meanings(cls).items():
            properties[cls.model_fields[name].alias or name]["description"] = meaning
        return schema

    @model_validator(mode="before")
    @classmethod
    def _read_numbers(cls, given: Any) -> Any:
        """Accept a number as a text such as "1/128", as in papers, but no boolean."""
        if not isinstance(given, dict):
            return given
        kinds = _numeric_fields(cls)
        odd = {key: value for key, value in given.items() if key in kinds and isinstance(value, str | bool)}
        return given | {key: _number(value, kinds[key]) for key, value in odd.items()} if odd else given

    @field_validator("*", mode="after")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int) and abs(number) > MAX_INTEGER:
                raise ValueError(INTEGER_RULE)
        return value

    def identity(self) -> dict[str, Any]:
        """Return all that decides this object's numbers, without neutral fields."""
        fields = {
            name: _identity_of(getattr(self, name))
            for name, field in type(self).model_fields.items()
            if not _is_neutral(field, getattr(self, name))
        }
        return {**fields, "semantics": self.semantics}

    def fingerprint(self) -> str:
        return fingerprint_of(self.identity())


def field(
    default: Any = PydanticUndefined,
    *,
    symbol: str | None = None,
    neutral: Any = PydanticUndefined,
    **bounds: Any,
) -> Any:
    """Declare a pydantic field that may carry a symbol and a neutral value.

    `symbol` is the paper's letter. `neutral` is the value that reproduces results from before the field existed.
    """
    extra: dict[str, Any] = {} if symbol is None else {"symbol": symbol}
    if neutral is not PydanticUndefined:
        extra["neutral"] = neutral
    return Field(default, json_schema_extra=extra or None, **bounds)


@functools.cache
def meanings(cls: type[BaseModel]) -> dict[str, str]:
    """Return the meaning of each field of a Spec, the string below it.

    It is parsed from the source on demand: pydantic would do so for every class, a quarter of a second per study.
    """
    found: dict[str, str] = {}
    for base in reversed([base for base in cls.__mro__ if issubclass(base, Spec) and base is not Spec]):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        for field_, below in pairwise([*getattr(definition, "body", ()), None]):
            if isinstance(field_, ast.AnnAssign) and isinstance(field_.target, ast.Name):
                found.pop(field_.target.id, None)  # redeclared
                if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                    found[field_.target.id] = inspect.cleandoc(str(below.value.value))
    return {name: meaning for name, meaning in found.items() if name in cls.model_fields}


def canonical_json(content: Any) -> str:
    """Return JSON with sorted keys and no spaces; refuse NaN and infinities."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fingerprint_of(content: Any) -> str:
    """Return the sha256 (hex) of the canonical JSON of any content."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def hash_file(path: Path) -> str:
    """Return the sha256 (hex) of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fraction(value: Any) -> Any:
    """Return the number in a text such as "1/128"; return other values unchanged.

    >>> fraction("1/128"), fraction("none")
    (0.0078125, 'none')
    """
    if not isinstance(value, str) or value.count("/") != 1:
        return value
    numerator, denominator = value.split("/")
    try:
        return float(numerator) / float(denominator)
    except (ValueError, ZeroDivisionError):
        return value


def show_setting(value: Any) -> str:
    """Format a setting for people, floats with at most six digits.

    >>> show_setting(1e-3), show_setting(1000000), show_setting("l2"), show_setting("query: ")
    ('0.001', '1000000', 'l2', '"query: "')
    """
    if isinstance(value, str) and not (value and value == value.strip() and value.isprintable()):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:g}" if isinstance(value, float) else str(value)


@functools.cache
def _numeric_fields(cls: type[Spec]) -> dict[str, type[int] | type[float]]:
    given = {name: info.annotation for name, info in cls.model_fields.items()}
    bare = {name: get_args(kind)[0] if type(None) in get_args(kind) else kind for name, kind in given.items()}
    kinds: dict[str, Any] = {name: getattr(kind, "__origin__", kind) for name, kind in bare.items()}
    return {name: kind for name, kind in kinds.items() if kind in (int, float)}


def _number(value: str | bool, kind: type[int] | type[float]) -> Any:
    if isinstance(value, bool):
        return str(value).lower()  # pydantic would read 1 or 0; a text it refuses, as it should
    return fraction(value) if kind is float else value


def _identity_of(value: Any) -> Any:
    if isinstance(value, Spec):
        return value.identity()
    if isinstance(value, list | tuple):
        return [_identity_of(item) for item in value]
    if isinstance(value, dict):
        return {key: _identity_of(item) for key, item in value.items()}
    return str(value) if isinstance(value, Path) else value


def _is_neutral(info: Any, value: Any) -> bool:
    extra = info.json_schema_extra
    # Compared as identities, where lists and tuples are equal.
    return (
        isinstance(extra, dict)
        and "neutral" in extra
        and _identity_of(value) == _identity_of(extra["neutral"])
    )
