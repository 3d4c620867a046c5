"""The packages of this project as syntax trees: what the tests of this folder look at."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("rse_study", "analysis", "benchmarks")


@dataclass(frozen=True)
class Module:
    """A Python file of a checkout."""

    path: Path
    root: Path

    @property
    def name(self) -> str:
        """Its dotted name; a package's is that of its folder."""
        return ".".join(self.path.relative_to(self.root).with_suffix("").parts).removesuffix(".__init__")

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def tree(self) -> ast.Module:
        return _tree(self.path)

    def at(self, line: int) -> str:
        """`path:line`, as editors and terminals understand it."""
        return f"{self.path.relative_to(self.root)}:{line}"

    def comments(self) -> Iterator[tuple[int, str]]:
        """Line and text of every comment."""
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def modules(*packages: str, root: Path = ROOT) -> list[Module]:
    """Every Python file below these folders of a checkout, in order."""
    return [Module(path, root) for package in packages for path in sorted((root / package).rglob("*.py"))]


def definitions(tree: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every class and function, however deep."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def bound_names(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """What a module or a class defines by itself: classes, functions, assigned names. Imports do not count."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            yield from ((name.id, node) for name in node.targets if isinstance(name, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node


def resolves(dotted: str, root: Path = ROOT) -> bool:
    """Whether `package.module.Class.member` is defined where it says, without importing anything."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        path = root.joinpath(*parts[:length])
        if path.with_suffix(".py").is_file():
            return _has(_tree(path.with_suffix(".py")).body, parts[length:])
        if (path / "__init__.py").is_file():
            return _has(_tree(path / "__init__.py").body, parts[length:])
    return False


def _has(body: list[ast.stmt], names: list[str]) -> bool:
    if not names:
        return True
    node = dict(bound_names(body)).get(names[0])
    return node is not None and (len(names) == 1 or _has(getattr(node, "body", []), names[1:]))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
