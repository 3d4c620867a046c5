"""Docstrings a reader can rely on: a short first sentence, and every argument where there are more than two."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.findings import require_none
from tests.architecture.sources import PACKAGES, Module, modules
from tests.cases import cases

LONGEST = 80  # characters of the first line
MOST_UNEXPLAINED = 2  # arguments that a sentence can still explain
# A command's docstring is its --help; tests/cli/test_commands.py sees that help= explains each of its arguments.
COMMANDS = ("rse_study.cli.commands", "rse_study.cli.cluster_commands")
SECTION = "Parameters\n----------\n"
pytestmark = pytest.mark.xdist_group("sources")  # parsed once
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def test_the_first_line_is_a_short_sentence_of_its_own():
    require_none(
        f"{module.at(line)}: {name}: {problem}"
        for module in modules(*PACKAGES)
        for line, name, node in _public(module)
        for problem in first_line_problems(ast.get_docstring(node))
    )


def test_more_than_two_arguments_are_explained_one_by_one():
    require_none(
        f"{module.at(line)}: {name}: {problem}"
        for module in modules(*PACKAGES)
        if module.name not in COMMANDS
        for line, name, node in _public(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for problem in argument_problems(node)
    )


def test_a_field_is_explained_by_the_string_below_it():
    require_none(
        f"{module.at(node.lineno)}: description= in a class body. Write the words as a string below the field"
        for module in modules(*PACKAGES)
        for body in ast.walk(module.tree)
        if isinstance(body, ast.ClassDef)
        for node in body.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call)
        if any(keyword.arg == "description" for keyword in node.value.keywords)
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


def argument_problems(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """What a documented function with many arguments does not say of them."""
    docstring, names = ast.get_docstring(node), argument_names(node)
    if docstring is None or len(names) <= MOST_UNEXPLAINED:
        return
    if SECTION not in docstring:
        yield f"{len(names)} arguments ({', '.join(names)}) and no section Parameters (numpydoc). Write one"
        return
    section = docstring.partition(SECTION)[2]
    for name in names:
        if not re.search(rf"^(\*{{0,2}}\w+, )*\*{{0,2}}{name}\b", section, re.MULTILINE):
            yield f"argument {name} is not in its section Parameters. Say its meaning and unit there"


def argument_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """What a caller passes: all but self, cls and collected ones."""
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return [each.arg for each in arguments if each.arg not in ("self", "cls")]


@cases(
    ("docstring", "num_problems"),
    [
        (None, 0),
        ("Short.", 0),
        ("Short.\n\nAnd more.", 0),
        ("Goes on\nin the next line.", 1),
        ("x" * 81, 1),
    ],
)
def test_first_lines_are_judged(docstring, num_problems):
    assert len(list(first_line_problems(docstring))) == num_problems


@cases(
    ("parameters", "num_problems"),
    [
        (["a : int", "    Steps.", "b, c", "    Bounds."], 0),
        (["a", "    Steps.", "b", "    A bound."], 1),
        ([], 1),
    ],
)
def test_parameters_are_looked_for(parameters, num_problems):
    lines = ["def f(self, a, b, *, c):", '    """Do it.', "", "    Parameters", "    ----------"]
    source = "\n".join([*lines, *(f"    {line}" for line in parameters), '    """'])
    (function,) = ast.parse(source).body
    assert len(list(argument_problems(function))) == num_problems


def test_two_arguments_need_no_section():
    (function,) = ast.parse('def f(self, a, b):\n    """Do it."""').body
    assert not list(argument_problems(function))
