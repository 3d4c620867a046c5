"""Private modules and names of Ray and Optuna are imported in one file each, where each has its reason."""

import ast

from tests.architecture.findings import require_none
from tests.architecture.sources import PACKAGES, ROOT, modules

HOMES = {"ray": "rse_study/on_ray/nodes/private_ray.py", "optuna": "rse_study/sampling/samplers.py"}


def private_uses(tree):
    """Yield package and path of everything private of Ray and Optuna that a module imports or reaches by attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            paths = [ast.unparse(node)]
        else:
            continue
        for path in paths:
            package, *names = path.split(".")
            if package in HOMES and any(map(is_private, names)):
                yield package, path


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def test_private_parts_are_used_in_one_file_each():
    used = {}
    for module in modules(*PACKAGES):
        for owner, path in private_uses(module.tree):
            used.setdefault((owner, module.path.relative_to(ROOT).as_posix()), []).append(path)
    require_none(
        f"{file}: {', '.join(paths)}" for (owner, file), paths in used.items() if file != HOMES[owner]
    )
    assert {owner for owner, _ in used} == set(HOMES)
