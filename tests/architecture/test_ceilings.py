"""No room of the house has more code lines than its ceiling, which only falls.

`python -m tests.architecture.test_ceilings` lowers ceilings.csv to what there is. Raising a line takes a decision
record that says what it buys. What is added to a registry is no part of the house: neither the file of a method, a
perturbation, an evaluation or a stopping rule is counted, nor its test. The same holds for the limits of a search, the
rules of a study, and the tables of their tests.
"""

import ast
import csv
from collections import Counter, defaultdict
from collections.abc import Collection
from pathlib import Path

from rse_study.evaluation import EVALUATIONS
from rse_study.methods import METHODS
from rse_study.perturbations import PERTURBATIONS
from rse_study.search.budget import LIMITS, SearchBudget
from rse_study.search.stopping import RULES
from rse_study.study import checking
from rse_study.study.checking import validation
from tests.architecture.findings import require_none
from tests.architecture.sources import ROOT, Module, modules

FILE = Path(__file__).with_name("ceilings.csv")
TABLES = ("search/test_budget.py", "study/checking/valid_edits.py", "study/checking/invalid_edits.py")
"""tests of limits and rules"""
OF_AN_ENTRY = 5
"""lines that an addition enters in a registry and a table of its tests"""


def code_lines(module: Module, entries: Collection[str] = ()) -> int:
    """Lines but blank ones, comments, docstrings, and the definitions of a registry's entries."""
    documented = set[int]()
    for node in ast.walk(module.tree):
        if isinstance(node, HOLDERS[1:]) and node.name in entries:
            first_line = min(one.lineno for one in (node, *node.decorator_list))
            documented |= {*range(first_line, (node.end_lineno or node.lineno) + 1)}
        first = node.body[0] if isinstance(node, HOLDERS) and node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            documented |= {*range(first.lineno, (first.end_lineno or first.lineno) + 1)}
    lines = enumerate(module.text.splitlines(), start=1)
    return sum(number not in documented and bool(code_of(line)) for number, line in lines)


HOLDERS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_of(line: str) -> str:
    """A line without its blanks, empty if it is a comment."""
    stripped = line.strip()
    return "" if stripped.startswith("#") else stripped


def additions() -> set[Path]:
    """Files of registered classes, and their tests."""
    evaluations = {EVALUATIONS.get(key).path.partition(":")[0] for key in EVALUATIONS}
    players = {PERTURBATIONS.get(name).__module__ for name in PERTURBATIONS}
    classes = {*METHODS.values(), *RULES.values()}
    found = set()
    for name in evaluations | players | {cls.__module__ for cls in classes}:
        _, *folders, file = name.split(".")
        found.add(ROOT.joinpath("rse_study", *folders, f"{file}.py"))
        found.add(ROOT.joinpath("tests", *folders, f"test_{file}.py"))
    return found | {ROOT / "tests" / name for name in TABLES}


def entries() -> dict[Path, set[str]]:
    """Limits and rules, which stand in files of several, by file."""
    assert validation.RULES is checking.RULES, "it imports every module of rules"
    found = defaultdict[Path, set[str]](set)
    for one in (
        SearchBudget,
        *(used for _, used in LIMITS.values()),
        *checking.RULES,
        *checking.RULES_OF_TRIALS,
    ):
        found[ROOT.joinpath(*one.__module__.split(".")).with_suffix(".py")].add(one.__name__)
    return found


def counted() -> dict[str, int]:
    """Code lines by room: a folder of rse_study, or a package."""
    rooms, added, within = Counter[str](), additions(), entries()
    for module in modules("rse_study", "analysis", "benchmarks", "tests"):
        if module.path in added:
            continue
        parts = module.path.relative_to(ROOT).parts
        rooms["/".join(parts[:2]) if parts[0] == "rse_study" and len(parts) > 2 else parts[0]] += code_lines(
            module, within[module.path]
        )
    return dict(sorted(rooms.items()))


def ceilings() -> dict[str, int]:
    """The file's lines."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {row["room"]: int(row["code_lines"]) for row in csv.DictReader(file)}


def test_no_room_is_above_its_ceiling():
    allowed = ceilings()
    require_none(
        f"{room}: {lines} code lines, at most {allowed.get(room, 0)} (tests/architecture/ceilings.csv). Remove some, "
        "or raise that line with a record in docs/decisions that says what they buy"
        for room, lines in counted().items()
        if lines > allowed.get(room, 0) + OF_AN_ENTRY
    )


if __name__ == "__main__":
    rooms = counted()
    known = ceilings() if FILE.exists() else rooms
    lower = {room: min(lines, known.get(room, lines)) for room, lines in rooms.items()}
    FILE.write_text(
        "room,code_lines\n" + "".join(f"{room},{lines}\n" for room, lines in lower.items()), "utf-8"
    )
