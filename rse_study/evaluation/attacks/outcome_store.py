"""A file of outcomes from which an interrupted attack resumes."""

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rse_study.activity import ProgressCallback
from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import Attack, AttackOutcome, Target
from rse_study.evaluation.attacks.engine import Victim, attack_all
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.attack_file import ATTACK, parse_outcomes, read_lines, withdraw
from rse_study.spec import fingerprint_of

REMEDY = "Choose another --out, or remove the file to start anew"
NOTHING: Mapping[str, Any] = MappingProxyType({})


class AnotherAttack(InputError):
    """The file is valid, but its outcomes belong to another attack."""


class OutcomeStore:
    """A JSON-lines file: a `head` that identifies the attack, then its outcomes."""

    def __init__(
        self,
        path: Path,
        identity: Mapping[str, Any],
        notes: Mapping[str, Any] = NOTHING,
        *,
        since: Collection[str] = (),
        replaces: bool = False,
    ) -> None:
        """Open the file, or create it.

        A file of another attack (another `identity`), or a damaged one, raises InputError; `replaces` starts
        it anew. `notes` are keys of the head that identify nothing; older files may lack the keys in `since`.
        """
        self.path = path
        self._identity, self._notes = (json.loads(json.dumps(dict(part))) for part in (identity, notes))
        self._notes[ATTACK] = fingerprint_of(self._identity)
        self._added = self._notes | {key: self._identity[key] for key in since if not replaces}
        try:
            has_begun = path.exists() and b"\n" in path.read_bytes()
            self.head, self.done = self._read() if has_begun else self._begin()
        except AnotherAttack:
            if not replaces:
                raise
            self.head, self.done = self._begin()
        except InputError:
            if not replaces:
                raise
            self.set_aside()

    def set_aside(self) -> None:
        """Rename the file to `.damaged` and start a new one."""
        withdraw(self.path)
        self.path.replace(self.path.with_name(f"{self.path.name}.damaged"))
        self.head, self.done = self._begin()

    def add(self, outcome: AttackOutcome) -> None:
        """Write one outcome to disk, then add it to `done`."""
        self._append(outcome.to_json())
        self.done[outcome.index] = outcome

    def _begin(self) -> tuple[dict[str, Any], dict[int, AttackOutcome]]:
        withdraw(self.path)
        head = {**self._identity, **self._notes}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._write(head)
        return head, {}

    def _differing(self, head: dict[str, Any]) -> list[str]:
        there = {(key, json.dumps(value)) for key, value in head.items() if key not in self._notes}
        wanted = {(key, json.dumps(value)) for key, value in self._identity.items()}
        return sorted({key for key, _ in there ^ wanted})

    def _read(self) -> tuple[dict[str, Any], dict[int, AttackOutcome]]:
        self._cut()
        head, rows = read_lines(self.path, REMEDY)
        lacking = {key: value for key, value in self._added.items() if key not in head}
        if differing := ", ".join(self._differing(head | lacking)):
            rule = f"the outcomes here are of another attack ({differing} differ)"
            raise AnotherAttack("cannot go on", where=str(self.path), rule=rule, remedy=REMEDY)
        found = parse_outcomes(rows, self.path, REMEDY)
        if lacking:
            head |= lacking
            self._write(head, self.path.read_bytes().partition(b"\n")[2])
        return head, {index: AttackOutcome(**dict(row)) for index, row in found.items()}

    def _cut(self) -> None:
        """Remove a last line that a crash left incomplete."""
        content = self.path.read_bytes()
        num_whole = content.rfind(b"\n") + 1
        if num_whole < len(content):
            with self.path.open("r+b") as stream:
                stream.truncate(num_whole)

    def _write(self, head: dict[str, Any], outcomes: bytes = b"") -> None:
        write_whole(self.path, _line(head).encode() + outcomes)

    def _append(self, content: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(_line(content))
            stream.flush()
            os.fsync(stream.fileno())

    def __iter__(self) -> Iterator[AttackOutcome]:
        return iter(self.done.values())


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=True) + "\n"


@dataclass(frozen=True)
class AttackRun:
    """All inputs' outcomes, by index, and what this run added."""

    outcomes: list[AttackOutcome]
    num_now: int
    seconds_now: float


def attack_and_store(
    attack: Attack,
    victim: Victim,
    examples: Labelled | Sequence[Target],
    store: OutcomeStore,
    *,
    max_queries: int,
    seed: int,
    on_progress: ProgressCallback = lambda done, total: None,
) -> AttackRun:
    """Attack every input whose outcome is not stored yet, and store it."""
    wanted = range(len(examples)) if isinstance(examples, Labelled) else [one.index for one in examples]
    begun, num_before = time.monotonic(), sum(index in store.done for index in wanted)
    outcomes = attack_all(attack, victim, examples, max_queries=max_queries, seed=seed, done=dict(store.done))
    num_now = 0
    for outcome in outcomes:
        store.add(outcome)
        num_now += 1
        on_progress(num_before + num_now, len(wanted))
    return AttackRun([store.done[index] for index in sorted(wanted)], num_now, time.monotonic() - begun)
