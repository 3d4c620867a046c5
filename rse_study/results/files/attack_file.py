"""Files in a folder of attacks: outcomes per set and recipe, and `summary.json`."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from rse_study.errors import InputError, MissingFile
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.schema import ledger_path
from rse_study.results.records import Record

SUMMARY = "summary.json"
SIMILARITY = "similarity"  # victim of attacks without a classifier
OF_ONE_RUN = ("label", "victim", "seed")  # must agree in the summary and the outcomes
ATTACK = "attack"  # key of a head and of a row: hash that identifies the attack; old files lack it
CLASSES = "classes"  # key of a head: class names in the order of labels and scores; old files lack it
FURTHEST = "maximise"  # the goal without a distance to reach: nothing succeeds or fails
OF_SUCCESS = ("original_accuracy", "accuracy_under_attack", "success_rate")  # null under that goal
AGAIN = "Attack again into this folder, or remove what is of no use: rse-study attack MODEL --out"


class OutcomeRow(Record):
    """Outcome of an attack on one input: a line of a file of outcomes."""

    index: int = Field(ge=0)
    original: tuple[str, ...] = Field(min_length=1)
    """Its parts: a text has one, a pair of texts has two."""
    adversarial: tuple[str, ...]
    outcome: Literal["succeeded", "failed", "skipped"]
    label: int | float
    original_scores: tuple[float, ...]
    adversarial_scores: tuple[float, ...]
    num_queries: int = Field(ge=0)
    num_words: int = Field(ge=0)
    changed: tuple[int, ...]
    """Positions of words of the original, from 0, counted through all its parts."""

    @model_validator(mode="after")
    def _agrees(self) -> "OutcomeRow":
        if len(self.original) != len(self.adversarial):
            raise ValueError("one text has more parts than the other")
        if not all(0 <= position < self.num_words for position in self.changed):
            raise ValueError("a word was changed that is not there")
        return self


class SummaryRow(Record):
    """Row of `summary.json`: one recipe on inputs of one set; null where undefined."""

    set: str
    recipe: str
    label: str
    victim: str
    """`similarity` where similarity itself was attacked: the inputs are then pairs of a task."""
    victim_dev_accuracy: float | None
    weak: bool
    """The classifier is poor on dev, or the scores of clean pairs do not rank them."""
    num_inputs: int
    """Number of inputs attacked: the first ones of the set, unless `drawn` lists others."""
    num_skipped: int
    num_succeeded: int
    num_failed: int
    original_accuracy: float | None
    accuracy_under_attack: float | None
    success_rate: float | None
    mean_queries: float | None
    share_of_words_changed: float | None
    num_now: int
    seconds_now: float
    seed: int
    fingerprint: str
    attack: str = ""
    clean_spearman: float | None = None
    spearman_under_attack: float | None = None
    """Spearman x100 of all pairs, attacked ones by their attacked texts."""
    mean_drift: float | None = None
    """Mean change of a pair's score, on the gold scale."""
    goal: Literal["deviation", "drift", "maximise"] | None = None
    """Null in older rows and for classifiers. Under `maximise` every pair whose score moved at all counts as
    a success, and no success rate is given."""
    tau: float | None = None
    """Distance to reach on the gold scale; null where there is none."""
    drawn: tuple[int, ...] = ()
    """Indices of the inputs, unless they are the first `num_inputs` or all of them."""


@dataclass(frozen=True)
class AttackFolder:
    """Contents of a folder of attacks, as frames."""

    summary: pd.DataFrame
    """One row per finished attack with the columns of `SummaryRow` (NaN for null), grouped by set."""
    outcomes: pd.DataFrame
    """Columns set, recipe, those of `OutcomeRow`, `classes` (names in the order of the scores; none where the
    file has none) and `is_counted`: whether the summary counts the row. Attacks under way and inputs
    beyond those requested last are not counted."""


def is_attack_folder(folder: Path) -> bool:
    """Whether the folder holds attacks and no study."""
    return (folder / SUMMARY).is_file() and not ledger_path(folder).is_file()


def read_attacks(folder: Path) -> AttackFolder:
    """Read a folder of attacks.

    Raises
    ------
    InputError
        if a file is missing or damaged, or two belong to different attacks.
    """
    rows = _read_summary(folder / SUMMARY)
    order = {name: place for place, name in enumerate(dict.fromkeys(row.set for row in rows))}
    rows.sort(key=lambda row: order[row.set])
    paths = [outcomes_path(folder, row.set, row.recipe) for row in rows]
    counted = [_counted(path, row) for path, row in zip(paths, rows, strict=True)]
    rows = [_with_goal(row, head, path) for row, (head, _), path in zip(rows, counted, paths, strict=True)]
    others = [_outcomes(path)[1] for path in sorted({*folder.glob("*.jsonl")} - {*paths})]
    frames = [*(frame for _, frame in counted), *(frame.assign(is_counted=False) for frame in others)]
    columns = ["set", "recipe", *OutcomeRow.model_fields, CLASSES, "is_counted"]
    outcomes = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
    return AttackFolder(summary_frame(rows), outcomes)


def summary_frame(rows: Iterable[SummaryRow]) -> pd.DataFrame:
    """Return rows of a summary as the frame of `AttackFolder`."""
    fields = SummaryRow.model_fields
    floats = [name for name, field in fields.items() if field.annotation in (float, float | None)]
    frame = pd.DataFrame([row.model_dump() for row in rows], columns=list(fields))
    return frame.astype(dict.fromkeys(floats, float))


def reaching(row: SummaryRow, goal: Any, tau: Any) -> SummaryRow:
    """Return the row with an attack's goal and its distance `tau` on the gold scale."""
    said = {"goal": goal, "tau": tau} if goal != FURTHEST else {"goal": goal, **dict.fromkeys(OF_SUCCESS)}
    return SummaryRow.model_validate(row.model_dump() | said)


def keep_summary(folder: Path, row: SummaryRow, *, replaces: bool = False) -> None:
    """Write the row into the folder's summary; `replaces` sets a damaged one aside."""
    path = folder / SUMMARY
    try:
        known = _read_summary(path) if path.is_file() else []
    except InputError:
        if not replaces:
            raise
        path.replace(path.with_name(f"{SUMMARY}.damaged"))
        known = []
    others = [other for other in known if (other.set, other.recipe) != (row.set, row.recipe)]
    _write_summary(path, [*others, row])


def withdraw(path: Path) -> None:
    """Drop the summary row that counts these outcomes; leave a damaged summary alone."""
    summary = path.with_name(SUMMARY)
    try:
        known = _read_summary(summary)
    except InputError:
        return
    others = [row for row in known if outcomes_path(path.parent, row.set, row.recipe) != path]
    if len(others) < len(known):
        _write_summary(summary, others)


def outcomes_path(folder: Path, attack_set: str, recipe: str) -> Path:
    """Return the path of the outcomes of one recipe on one set."""
    return folder / f"{attack_set}-{recipe}.jsonl"


def read_lines(path: Path, remedy: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return head and rows of a file of outcomes; a truncated last line is dropped."""
    content = _read(path, remedy)
    with _naming_damage(str(path), remedy):
        whole = content[: content.rfind(b"\n") + 1].decode("utf-8")
        lines = [json.loads(line) for line in whole.splitlines()]
    if not lines or not all(isinstance(line, dict) for line in lines):
        raise InputError("holds no outcomes", where=str(path), remedy=remedy)
    return lines[0], lines[1:]


def parse_outcomes(rows: Iterable[dict[str, Any]], path: Path, remedy: str) -> dict[int, OutcomeRow]:
    """Parse outcomes by index of their input; the later one of an index counts."""
    found = {}
    for number, row in enumerate(rows, start=2):
        with _naming_damage(f"{path}: line {number}", remedy):
            outcome = OutcomeRow.model_validate(row)
            found[outcome.index] = outcome
    return found


def _write_summary(path: Path, rows: Iterable[SummaryRow]) -> None:
    write_whole(path, json.dumps([row.model_dump(mode="json") for row in rows], indent=1) + "\n")


def _read_summary(path: Path) -> list[SummaryRow]:
    remedy = f"{AGAIN} {path.parent}"
    with _naming_damage(str(path), remedy):
        return TypeAdapter(list[SummaryRow]).validate_python(json.loads(_read(path, remedy)))


def _outcomes(path: Path) -> tuple[dict[str, Any], pd.DataFrame]:
    remedy = f"{AGAIN} {path.parent}"
    head, rows = read_lines(path, remedy)
    are_texts = all(isinstance(head.get(name), str) for name in ("set", "recipe"))
    if not are_texts or not head.keys() >= {*OF_ONE_RUN}:
        rule = f"the first line names set, recipe, {', '.join(OF_ONE_RUN)}"
        raise InputError("is of no attack", where=str(path), rule=rule, remedy=remedy)
    found = parse_outcomes(rows, path, remedy)
    frame = pd.DataFrame(
        [dict(found[index]) for index in sorted(found)], columns=list(OutcomeRow.model_fields)
    )
    frame.insert(0, "set", head["set"])
    frame.insert(1, "recipe", head["recipe"])
    frame[CLASSES] = [_classes_in(head, path, remedy)] * len(frame)
    return head, frame


def _with_goal(row: SummaryRow, head: dict[str, Any], path: Path) -> SummaryRow:
    """Add the goal from the head of the outcomes, which rows of older versions lack."""
    goal, tau = head.get("goal"), head.get("tau")
    if row.goal is not None or goal is None:
        return row
    with _naming_damage(str(path), f"{AGAIN} {path.parent}"):
        return reaching(row, goal, tau)


def _classes_in(head: dict[str, Any], path: Path, remedy: str) -> tuple[str, ...]:
    names = head.get(CLASSES, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"damaged: {CLASSES}", where=str(path), rule="they are a list of names", remedy=remedy
        )
    return tuple(names)


def _counted(path: Path, row: SummaryRow) -> tuple[dict[str, Any], pd.DataFrame]:
    head, frame = _outcomes(path)
    # Similarity without `drawn` counts all: it has all pairs, or was written before samples could grow.
    is_first = (frame["index"] < row.num_inputs) | (row.victim == SIMILARITY)
    is_counted = frame["index"].isin(row.drawn) if row.drawn else is_first
    frame = frame.assign(is_counted=is_counted)
    found = frame.loc[frame["is_counted"], "outcome"].value_counts()
    told = {"succeeded": row.num_succeeded, "failed": row.num_failed, "skipped": row.num_skipped}
    differing = [name for name in ("set", "recipe", *OF_ONE_RUN) if head[name] != getattr(row, name)]
    if row.attack and head.get(ATTACK, "") not in ("", row.attack):
        differing.append(ATTACK)
    differing += [name for name, number in told.items() if found.get(name, 0) != number]
    if differing:
        rule = f"these outcomes are not those that {SUMMARY} counts ({', '.join(differing)} differ)"
        raise InputError("is of another attack", where=str(path), rule=rule, remedy=f"{AGAIN} {path.parent}")
    return head, frame


def _read(path: Path, remedy: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise MissingFile("no such file", where=str(path), remedy=remedy) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path), remedy=remedy) from None


@contextmanager
def _naming_damage(where: str, remedy: str) -> Iterator[None]:
    """Raise InputError with the first error in one line, `damaged: 3.outcome: Field required`."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        said = [str(error)]
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            said = [".".join(map(str, first["loc"])), first["msg"]]
        what = ": ".join(["damaged", *filter(None, said)])
        raise InputError(what, where=where, remedy=remedy) from None
