"""A file of outcomes from which an interrupted attack resumes, and their figures."""

import json
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rse_study.activity import ProgressCallback
from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import Attack, AttackOutcome, Target
from rse_study.evaluation.attacks.engine import Victim, attack_all
from rse_study.evaluation.evaluations import Evaluation, evaluation_row
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.attack_file import (
    AGAIN,
    ATTACK,
    OutcomeRow,
    SummaryRow,
    outcomes_path,
    parse_outcomes,
    read_lines,
    withdraw,
)
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow
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


SHARES = {
    "success_rate": {"succeeded": 100.0, "failed": 0.0, "skipped": nan},
    "accuracy_under_attack": {"succeeded": 0.0, "failed": 100.0, "skipped": 0.0},
}
"""what each outcome adds to a figure that is a mean over inputs"""


def kept_outcomes(folder: Path, attack: SummaryRow, indices: Iterable[int]) -> list[OutcomeRow]:
    """Read the stored outcomes of these inputs, in the order of their indices."""
    path = outcomes_path(folder, attack.set, attack.recipe)
    known = parse_outcomes(read_lines(path, AGAIN)[1], path, AGAIN)
    return [known[index] for index in sorted(indices)]


def attack_items(outcomes: Sequence[OutcomeRow], figure: str) -> ItemScores | None:
    """Return the scores of the inputs behind a figure.

    None of a figure that is neither a mean over inputs nor a correlation.
    """
    if figure in SHARES:
        return ItemScores.of([SHARES[figure][one.outcome] for one in outcomes])
    if figure == "spearman_under_attack":
        return ItemScores.of([one.adversarial_scores[0] for one in outcomes], [one.label for one in outcomes])
    return None


def figures_of(found: SummaryRow) -> dict[str, float]:
    """Return the figures that papers report, by name; shares x100."""
    shown = {
        "success_rate": found.success_rate,
        "original_accuracy": found.original_accuracy,
        "accuracy_under_attack": found.accuracy_under_attack,
        "words_changed": found.share_of_words_changed,
    }
    shares = {name: nan if value is None else 100 * value for name, value in shown.items()}
    return shares | {"queries": nan if found.mean_queries is None else found.mean_queries}


def rows_under_attack(
    evaluation: Evaluation,
    subject: str,
    split: str,
    found: SummaryRow,
    figures: Mapping[str, float],
    outcomes: Sequence[OutcomeRow],
) -> list[EvaluationRow]:
    """Return one row per figure with the scores of its inputs.

    All are degenerate where the victim is weak.
    """
    return [
        evaluation_row(
            evaluation, subject, split, name, value, found.num_inputs,
            degenerate=found.weak or value != value, num_skipped=found.num_skipped, seed=found.seed,
            items=attack_items(outcomes, name),
        )
        for name, value in figures.items()
    ]  # fmt: skip


def summary_row(
    head: Mapping[str, Any],
    store: OutcomeStore,
    run: AttackRun,
    figures: Mapping[str, int | float],
    **own: Any,
) -> SummaryRow:
    """Return the summary of an attack, with fields of its own."""
    known = {name: head[name] for name in ("set", "recipe", "label", "victim", "seed")}
    now = {"num_now": run.num_now, "seconds_now": run.seconds_now, "attack": store.head[ATTACK]}
    counts = {name: None if value != value else value for name, value in figures.items()}  # JSON has no NaN
    return SummaryRow(**known, **now, **counts, **own)
