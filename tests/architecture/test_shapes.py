"""Shapes in signatures are checked wherever there are any (`conftest.py` beside `pyproject.toml`)."""

import ast
from importlib.util import find_spec

from tests.architecture.findings import require_none
from tests.architecture.sources import Module, modules

HOMES = ("jaxtyping", "rse_study.tensors")
SHAPES = frozenset({"Bool", "Float", "Float32", "Int", "Int32"})


def has_shapes(module: Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module in HOMES
        and any(a.name in SHAPES for a in node.names)
        for node in ast.walk(module.tree)
    )


def test_every_module_with_shapes_has_them_checked():
    with_shapes = [module for module in modules("rse_study") if has_shapes(module)]
    assert len(with_shapes) > 60
    require_none(
        f"{module.at(1)}: nobody checks its shapes"
        for module in with_shapes
        if "jaxtyping" not in type(find_spec(module.name).loader).__module__
    )
