"""Outcomes of an attack in a file, a line each as they come: an interrupted attack goes on where it was."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rse_study.errors import InputError
from rse_study.evaluation.attacks.outcome import Outcome
from rse_study.results.attack_file import parse_outcomes, read_lines

REMEDY = "Choose another --out, or remove the file to start anew"
NOTHING: Mapping[str, Any] = MappingProxyType({})


class KeptOutcomes:
    """A JSON-lines file: first its `head`, what was attacked and how, then an outcome a line."""

    def __init__(
        self,
        path: Path,
        asked: Mapping[str, Any],
        noted: Mapping[str, Any] = NOTHING,
        *,
        replaces: bool = False,
    ) -> None:
        """Open, or begin. A file of another attack (`asked`) is replaced where that is wished.

        `noted` stands in the head and tells no attacks apart: what a file has of it already is left, the rest is added.
        Raises InputError where replacing is not wished, or the file is damaged.
        """
        self.path = path
        self._asked, self._noted = (json.loads(json.dumps(dict(part))) for part in (asked, noted))
        if replaces and path.exists() and not self._is_of_this():
            path.unlink()
        if path.exists() and b"\n" in path.read_bytes():  # without a whole line it is one that never began
            self.head, self.done = self._read()
        else:
            self.head, self.done = {**self._asked, **self._noted}, dict[int, Outcome]()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
            self._append(self.head)

    def add(self, outcome: Outcome) -> None:
        """Keep one more, before anybody hears of it."""
        self._append(outcome.to_json())
        self.done[outcome.index] = outcome

    def _is_of_this(self) -> bool:
        try:
            head = json.loads(self.path.read_bytes().partition(b"\n")[0])
        except ValueError:
            return False
        return isinstance(head, dict) and not self._differing(head)

    def _differing(self, head: dict[str, Any]) -> list[str]:
        """The keys that make it another attack."""
        there = {(key, json.dumps(value)) for key, value in head.items() if key not in self._noted}
        wanted = {(key, json.dumps(value)) for key, value in self._asked.items()}
        return sorted({key for key, _ in there ^ wanted})

    def _read(self) -> tuple[dict[str, Any], dict[int, Outcome]]:
        self._cut()
        head, rows = read_lines(self.path, REMEDY)
        if differing := ", ".join(self._differing(head)):
            rule = f"the outcomes here are of another attack ({differing} differ)"
            raise InputError("cannot go on", where=str(self.path), rule=rule, remedy=REMEDY)
        found = parse_outcomes(rows, self.path, REMEDY)
        if not {*self._noted} <= {*head}:
            head = {**self._noted, **head}
            self._replace_head(head)
        return head, {index: Outcome(**dict(row)) for index, row in found.items()}

    def _cut(self) -> None:
        """Remove the last line where a crash left it unfinished: the next one begins there."""
        content = self.path.read_bytes()
        num_whole = content.rfind(b"\n") + 1
        if num_whole < len(content):
            with self.path.open("r+b") as stream:
                stream.truncate(num_whole)

    def _replace_head(self, head: dict[str, Any]) -> None:
        """The outcomes stay, to the byte."""
        outcomes = self.path.read_bytes().partition(b"\n")[2]
        draft = self.path.with_suffix(".draft")
        with draft.open("wb") as stream:
            stream.write(_line(head).encode() + outcomes)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(self.path)

    def _append(self, content: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(_line(content))
            stream.flush()
            os.fsync(stream.fileno())

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.done.values())


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=True) + "\n"
