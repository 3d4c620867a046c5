"""Options that benchmarks share, and their results as a table and as JSON."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import load
from rse_study.results.files.atomic import write_whole

TableCells = Sequence[str]


def common_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of `python -m benchmarks.NAME` with the shared options."""
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}")
    made.add_argument("--busy", action="store_true", help="take times on a busy machine too")
    made.add_argument("--wait", type=float, default=0.0, help="seconds to wait for a quiet machine")
    made.add_argument("--threads", type=int, default=1, help="of torch")
    made.add_argument("--seed", type=int, default=0, help="of weights and draws")
    made.add_argument("--out", type=Path, help="a JSON file with everything")
    return made


def markdown_table(header: TableCells, rows: Sequence[TableCells]) -> str:
    """Return a Markdown table; all columns but the first are right-aligned numbers."""
    rules = ["---", *("--:" for _ in header[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rules, *rows))


def write_json(path: Path | None, machine: dict[str, Any], options: dict[str, Any], rows: list[Any]) -> None:
    """Write machine, options, rows and the present load; nothing without a path."""
    if path is not None:
        content = {"machine": machine | {"load_after": load()}, "options": options, "rows": rows}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(content, indent=1, default=str) + "\n")


def heading(name: str, machine: dict[str, Any]) -> str:
    """Return the line above a table: benchmark, machine and load."""
    return (
        f"{name}: {machine['processor']}, {machine['cores']} cores, {machine['threads']} thread(s), torch "
        f"{machine['packages']['torch']}, commit {machine['commit']}, seed {machine['seed']}, "
        f"load {machine['load_before']} before and {load()} after"
    )
