"""Docstrings a reader can rely on: a short first sentence of its own."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.findings import require_none
from tests.architecture.sources import PACKAGES, Module, modules

LONGEST = 80  # characters of the first line
pytestmark = pytest.mark.xdist_group("sources")  # parsed once
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def test_the_first_line_is_a_short_sentence_of_its_own():
    require_none(
        f"{module.at(line)}: {name}: {problem}"
        for module in modules(*PACKAGES)
        for line, name, node in _public(module)
        for problem in first_line_problems(ast.get_docstring(node))
    )


def _public(module: Module) -> Iterator[tuple[int, str, Documented]]:
    """The module, its public functions and classes, and their public methods."""
    yield 1, module.name, module.tree
    yield from members(module.tree)


def members(owner: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[int, str, Documented]]:
    """Line, name and node of what is public in a module or a class."""
    for node in owner.body:
        is_documented = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if not is_documented or node.name.startswith("_"):
            continue
        yield node.lineno, f"{prefix}{node.name}", node
        if isinstance(node, ast.ClassDef) and not prefix:
            yield from members(node, f"{node.name}.")


def first_line_problems(docstring: str | None) -> Iterator[str]:
    """What is wrong with the beginning of a docstring."""
    first, *rest = (docstring or "").split("\n")
    if len(first) > LONGEST:
        yield f"the first line has {len(first)} characters, at most {LONGEST} are read in one breath. Split it"
    if rest and rest[0].strip():
        yield "no blank line after the first sentence. Say it in one line, the rest below a blank one"
