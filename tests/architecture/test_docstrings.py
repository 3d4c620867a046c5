"""Docstrings a reader can rely on: a short first sentence, natural English, and no entry that says nothing."""

import ast
import json
import re
from collections.abc import Iterator

import pytest

from tests.architecture.findings import require_none
from tests.architecture.sources import PACKAGES, ROOT, Module, definitions, modules
from tests.cases import cases

LONGEST = 80  # characters of the first line
FEWEST_WORDS = 5  # an entry of so few says what name and type have said
# Editors show the schema's descriptions, which are docstrings of settings: they change with it alone.
SCHEMA = (ROOT / "search_spaces" / "study.schema.json").read_text(encoding="utf-8")
NO_OPENINGS = {
    *("Of", "By", "As", "For", "With", "Without", "From", "In", "On", "At", "To", "What", "Who", "Whose"),
}
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


def test_an_entry_of_parameters_adds_to_name_and_type():
    require_none(
        f"{module.at(node.lineno)}: {node.name}: {problem}"
        for module in modules(*PACKAGES)
        for node in definitions(module.tree)
        for problem in entry_problems(ast.get_docstring(node))
    )


def test_a_docstring_begins_as_a_sentence_does():
    require_none(
        f"{module.at(line)}: {name}: {problem}"
        for module in modules(*PACKAGES)
        for line, name, node in [
            (1, module.name, module.tree),
            *((node.lineno, node.name, node) for node in definitions(module.tree)),
        ]
        for problem in opening_problems(ast.get_docstring(node))
        if json.dumps((ast.get_docstring(node) or "").partition("\n")[0])[1:-1] not in SCHEMA
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


def entries(docstring: str) -> Iterator[tuple[str, str]]:
    """Head and text of each entry of the section Parameters."""
    section = docstring.partition(SECTION)[2].partition("\n\n")[0]
    for head, text in re.findall(r"^(\S.*)\n((?:^[ ]+.*\n?)*)", section, re.MULTILINE):
        yield head, " ".join(text.split())


def entry_problems(docstring: str | None) -> Iterator[str]:
    """What is wrong with the entries of a section Parameters."""
    for head, text in entries(docstring or ""):
        if len(text.split()) <= FEWEST_WORDS:
            yield f"`{head}` is explained by {text!r}. Say more than name and type do, or leave the entry out"
        if ":" in head:
            yield f"`{head}` repeats the type of the signature. Leave it out"


def opening_problems(docstring: str | None) -> Iterator[str]:
    """What is wrong with the first word of a docstring."""
    first = (docstring or "").partition(" ")[0]
    if first in NO_OPENINGS:
        yield f"begins with {first!r}. Begin with a noun or a verb, as one would say it aloud"


@cases(
    ("docstring", "num_problems"),
    [(None, 0), ("Short.", 0), ("Short.\n\nAnd more.", 0), ("Goes on\nin the next line.", 1), ("x" * 81, 1)],
)
def test_first_lines_are_judged(docstring, num_problems):
    assert len(list(first_line_problems(docstring))) == num_problems


@cases(
    ("parameters", "num_problems"),
    [
        (["steps", "    Optimiser steps between two measurements of dev."], 0),
        (["figure", "    Gets it."], 1),
        (["a", "    The bound of the ball in", "    embedding units.", "b", "    Another."], 1),
        (["a : int", "    Optimiser steps between two measurements of dev."], 1),
    ],
)
def test_entries_are_judged(parameters, num_problems):
    docstring = "\n".join(
        ["Do it.", "", "Parameters", "----------", *parameters, "", "Raises", "------", "Oh"]
    )
    assert len(list(entry_problems(docstring))) == num_problems


@cases(
    ("docstring", "num_problems"),
    [("Of the objective.", 1), ("What a search sees.", 1), ("Offers it.", 0), (None, 0)],
)
def test_openings_are_judged(docstring, num_problems):
    assert len(list(opening_problems(docstring))) == num_problems
