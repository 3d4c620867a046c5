"""Outcomes of two attacks side by side: what is equal, what differs, and what the figures of both are."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.summary import summarise
from tests.crosscheck.reasons import EXPLAINED, Reason

COMPARED = ("outcome", "adversarial", "num_queries")


@dataclass(frozen=True)
class Pair:
    """One input under both attacks."""

    ours: AttackOutcome
    theirs: AttackOutcome

    def __post_init__(self) -> None:
        assert (self.ours.index, self.ours.original) == (self.theirs.index, self.theirs.original)

    @property
    def differing(self) -> tuple[str, ...]:
        return tuple(name for name in COMPARED if getattr(self.ours, name) != getattr(self.theirs, name))


def paired(
    ours: Iterable[AttackOutcome], theirs: Iterable[AttackOutcome], wanted: Iterable[int]
) -> list[Pair]:
    """Input by input. Raises KeyError where one is missing."""
    mine, others = ({each.index: each for each in side} for side in (ours, theirs))
    return [Pair(mine[index], others[index]) for index in wanted]


def report(pairs: Sequence[Pair], reasons: Mapping[int, Reason]) -> dict[str, Any]:
    """Counts, the figures of both, and every difference with its reason. Numbers only, no texts."""
    differing = [pair for pair in pairs if pair.differing]
    return {
        "num_inputs": len(pairs),
        "num_equal": {name: sum(name not in pair.differing for pair in pairs) for name in COMPARED}
        | {"all": len(pairs) - len(differing)},
        "num_of_each_reason": dict(Counter(reasons[pair.ours.index] for pair in differing)),
        "ours": _figures(pair.ours for pair in pairs),
        "textattack": _figures(pair.theirs for pair in pairs),
        "differences": [_difference(pair, reasons[pair.ours.index]) for pair in differing],
    }


def is_accounted_for(found: Mapping[str, Any]) -> bool:
    """Whether every difference has a reason that decision 0012 names."""
    return set(found["num_of_each_reason"]) <= set(EXPLAINED)


def table(found: Mapping[str, Any]) -> str:
    """The report for the screen."""
    rows = [f"{'':28}{'ours':>12}{'TextAttack':>12}"]
    for name, value in found["ours"].items():
        other = found["textattack"][name]
        label = name.removeprefix("num_").replace("_", " ")
        rows.append(f"{label:28}{_number(value):>12}{_number(other):>12}")
    equal = (f"{name} {num}" for name, num in found["num_equal"].items())
    rows.append(f"equal, of {found['num_inputs']}: {', '.join(equal)}")
    for each in found["differences"]:
        sides = (
            f"{each[side]['outcome']} after {each[side]['num_queries']}" for side in ("ours", "textattack")
        )
        why = EXPLAINED.get(each["reason"], "no choice of decision 0012")
        which = ", ".join(each["differing"])
        rows.append(f"input {each['index']}: {' / '.join(sides)}; {which} differ: {why}")
    return "\n".join(rows)


def _figures(outcomes: Iterable[AttackOutcome]) -> dict[str, float | int | None]:
    rows = list(outcomes)
    figures = asdict(summarise(rows)) | {"num_queries": sum(row.num_queries for row in rows)}
    return {name: None if math.isnan(value) else value for name, value in figures.items()}


def _difference(pair: Pair, reason: Reason) -> dict[str, Any]:
    sides = {
        side: {"outcome": each.outcome, "num_queries": each.num_queries, "changed": list(each.changed)}
        for side, each in (("ours", pair.ours), ("textattack", pair.theirs))
    }
    return {"index": pair.ours.index, "differing": list(pair.differing), "reason": reason, **sides}


def _number(value: float | int | None) -> str:
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
