"""Shapes in signatures are checked wherever there are any (`conftest.py` beside `pyproject.toml`)."""

import ast
import sys

import pytest

from tests.architecture.findings import require_none
from tests.architecture.sources import Module, modules

HOMES = ("jaxtyping", "rse_study.tensors")
SHAPES = frozenset({"Bool", "Float", "Float32", "Int", "Int32"})

pytestmark = pytest.mark.xdist_group("sources")


def has_shapes(module: Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module in HOMES
        and any(alias.name in SHAPES for alias in node.names)
        for node in ast.walk(module.tree)
    )


def test_every_module_with_shapes_has_them_checked():
    with_shapes = [module for module in modules("rse_study") if has_shapes(module)]
    assert len(with_shapes) > 40
    (hook,) = (finder for finder in sys.meta_path if hasattr(finder, "should_instrument"))
    require_none(
        f"{module.at(1)}: nobody checks its shapes"
        for module in with_shapes
        if not hook.should_instrument(module.name)
    )
