"""Count files, lines and imports by folder: `python -m tests.architecture.count_house [CHECKOUT]`.

An arrow is an import of one module by another of the same folder, counted once for a pair. Packages' `__init__` count
as files, not as ends of arrows: importing a folder says nothing about its inside.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.architecture.sources import PACKAGES, ROOT, Module, modules

HEADER = "| folder | files | lines | median file | largest file | arrows inside |\n|---|--:|--:|--:|--:|--:|"


def main(root: Path) -> None:
    """Print a line for each folder, and one for each package."""
    print(HEADER)
    for package in PACKAGES:
        members = modules(package, root=root)
        known = {module.name: module for module in members}
        arrows = {(module, known[name]) for module in members for name in imported(module) if name in known}
        inside = [(a, b) for a, b in arrows if a != b and a.path.parent == b.path.parent and is_end(a, b)]
        for folder in sorted({module.path.parent for module in members}):
            of_folder = [module for module in members if module.path.parent == folder]
            num_arrows = sum(a.path.parent == folder for a, _ in inside)
            print(line(folder.relative_to(root).as_posix(), of_folder, num_arrows))
        print(line(f"**{package}**", members, len(inside)))


def imported(module: Module) -> Iterator[str]:
    """Dotted names that a module imports, also inside functions."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_end(*ends: Module) -> bool:
    """Whether all of them are modules with a name of their own."""
    return all(module.path.name != "__init__.py" for module in ends)


def line(name: str, members: list[Module], num_arrows: int) -> str:
    """One row of the table."""
    sizes = [len(module.text.splitlines()) for module in members]
    return f"| {name} | {len(sizes)} | {sum(sizes):,} | {median(sizes):g} | {max(sizes)} | {num_arrows} |"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
