"""Outcomes of an attack in a file, a line each as they come: an interrupted attack goes on where it was."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.evaluation.attacks.outcome import Outcome

REMEDY = "Choose another --out, or remove the file to start anew"


class KeptOutcomes:
    """A JSON-lines file: first what was attacked and how, then an outcome a line."""

    def __init__(self, path: Path, asked: dict[str, Any]) -> None:
        """Open, or begin. Raises InputError where the file is of another attack, or damaged."""
        self.path = path
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

    def _read(self, asked: dict[str, Any]) -> dict[int, Outcome]:
        head, *rows = self._lines()
        if head != json.loads(json.dumps(asked)):
            differing = ", ".join(sorted(key for key in {*head, *asked} if head.get(key) != asked.get(key)))
            rule = f"the outcomes here are of another attack ({differing} differ)"
            raise InputError("cannot go on", where=str(self.path), rule=rule, remedy=REMEDY)
        try:
            found = [Outcome.from_json(row) for row in rows]
        except TypeError as error:
            raise InputError(f"damaged: {error}", where=str(self.path), remedy=REMEDY) from None
        return {outcome.index: outcome for outcome in found}

    def _lines(self) -> list[dict[str, Any]]:
        """Every line; the last one is cut off where a crash left it unfinished."""
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with self.path.open("r+b") as stream:
                stream.truncate(len(whole))
        try:
            lines = [json.loads(line) for line in whole.decode("utf-8").splitlines()]
        except ValueError as error:
            raise InputError(f"damaged: {error}", where=str(self.path), remedy=REMEDY) from None
        if not lines or not all(isinstance(line, dict) for line in lines):
            raise InputError("holds no outcomes", where=str(self.path), remedy=REMEDY)
        return lines

    def _append(self, content: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(content, ensure_ascii=True) + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.done.values())
