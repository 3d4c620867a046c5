"""One word, one thing: no name is defined twice, and no document is cited that nobody has."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.architecture.findings import require_none
from tests.architecture.sources import PACKAGES, ROOT, Module, bound_names, modules
from tests.cases import cases

NOT_IN_THE_PROJECT = re.compile(
    r"\b(RAY_FACTS|CLUSTER_FACTS|MINI_SCALE|EVALUATION\.md|HOUSE|STYLE\.md|DESIGN(?:\.md)?)\b"
    r"|(?<!`)\bMETHODS\b(?!`)"  # `METHODS` in backticks is the registry in rse_study.methods
)
DECISION = re.compile(r"\b[Dd]ecisions? (\d{4})\b")
pytestmark = pytest.mark.xdist_group("sources")  # parsed once
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_a_class_name_is_defined_once():
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules(*PACKAGES):
        for name, node in bound_names(module.tree.body):
            if name[0].isupper() and not name.isupper():
                places[name].append(module.at(node.lineno))
    require_none(
        f"{', '.join(where)}: {name} is defined {len(where)} times. Rename one, or import it from the other"
        for name, where in sorted(places.items())
        if len(where) > 1
    )


def test_what_docstrings_and_comments_cite_is_in_the_project():
    require_none(
        f"{module.at(line)}: cites {cited}, which is not in the project. "
        "Say the fact itself, or cite the paper or a record in docs/decisions"
        for module in modules(*PACKAGES, "tests")
        if any(_missing(module.text))  # to look at every comment takes seconds
        for line, text in _prose(module)
        for cited in _missing(text)
    )


@cases("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_cites_is_in_the_project(page):
    require_none(
        f"{page.relative_to(ROOT)}:{number}: cites {cited}, which is not in the project. "
        "Say the fact itself, or link what is here"
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
        for cited in _missing(line)
    )


def _prose(module: Module) -> Iterator[tuple[int, str]]:
    """Comments, docstrings, and the strings below fields: every string that is a statement by itself."""
    yield from module.comments()
    for node in ast.walk(module.tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text


def _missing(text: str) -> Iterator[str]:
    yield from (match.group() for match in NOT_IN_THE_PROJECT.finditer(text))
    for name in DECISION.findall(text):
        if not list((ROOT / "docs" / "decisions").glob(f"{name}-*.md")):
            yield f"decision {name}"
