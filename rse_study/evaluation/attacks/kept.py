"""Outcomes of an attack in a file, a line each as they come: an interrupted attack goes on where it was."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.evaluation.attacks.outcome import Outcome
from rse_study.results.attack_file import parse_outcomes, read_lines

REMEDY = "Choose another --out, or remove the file to start anew"


class KeptOutcomes:
    """A JSON-lines file: first what was attacked and how, then an outcome a line."""

    def __init__(self, path: Path, asked: dict[str, Any], *, replaces: bool = False) -> None:
        """Open, or begin. A file of another attack is replaced where that is wished.

        Raises InputError where it is not wished, or the file is damaged.
        """
        self.path = path
        if replaces and path.exists() and not self._is_of(asked):
            path.unlink()
        if path.exists() and b"\n" in path.read_bytes():  # without a whole line it is one that never began
            self.done = self._read(asked)
        else:
            self.done = {}
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
            self._append(asked)

    def add(self, outcome: Outcome) -> None:
        """Keep one more, before anybody hears of it."""
        self._append(outcome.to_json())
        self.done[outcome.index] = outcome

    def _is_of(self, asked: dict[str, Any]) -> bool:
        with self.path.open(encoding="utf-8") as stream:
            return stream.readline() == _line(asked)

    def _read(self, asked: dict[str, Any]) -> dict[int, Outcome]:
        self._cut()
        head, rows = read_lines(self.path, REMEDY)
        if head != json.loads(json.dumps(asked)):
            differing = ", ".join(sorted(key for key in {*head, *asked} if head.get(key) != asked.get(key)))
            rule = f"the outcomes here are of another attack ({differing} differ)"
            raise InputError("cannot go on", where=str(self.path), rule=rule, remedy=REMEDY)
        found = parse_outcomes(rows, self.path, REMEDY)
        return {index: Outcome(**dict(row)) for index, row in found.items()}

    def _cut(self) -> None:
        """Remove the last line where a crash left it unfinished: the next one begins there."""
        content = self.path.read_bytes()
        num_whole = content.rfind(b"\n") + 1
        if num_whole < len(content):
            with self.path.open("r+b") as stream:
                stream.truncate(num_whole)

    def _append(self, content: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(_line(content))
            stream.flush()
            os.fsync(stream.fileno())

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.done.values())


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=True) + "\n"
