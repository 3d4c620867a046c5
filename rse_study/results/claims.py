"""A paper's claims about rows of a table, judged by contrasts of our rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rse_study.results.comparisons import ComparedContrast, ContrastWeights, Scores, compare_all

ClaimKind = Literal["best", "better", "ordering", "rising", "flat"]
ClaimVerdict = Literal["reproduced", "contradicted", "undecided", "incomplete", "not asked"]
NOTHING: Mapping[str, Scores] = {}


@dataclass(frozen=True)
class Claim:
    """A paper's claim about rows of its table."""

    id: str
    table: str
    kind: ClaimKind
    """best: the row beats every other. better: the first beats the second by more than the margin. ordering: each beats
    the next. rising: scores grow along the rows. flat: no row differs from the first by more than the margin."""
    rows: tuple[str, ...]
    margin: float
    """Points of the score."""
    says: str
    source: str
    measure: str = ""
    """Metric of the claim; empty for the study's objective."""


@dataclass(frozen=True)
class Judged:
    """A claim, its contrasts and the verdict."""

    claim: Claim
    compared: tuple[ComparedContrast | None, ...]
    verdict: ClaimVerdict

    @property
    def deciding(self) -> ComparedContrast | None:
        """Least favourable of the contrasts that agree with the verdict."""
        known = [one for one in self.compared if one is not None]
        same = [one for one in known if _decide(self.claim, one) == self.verdict] or known
        if self.claim.kind == "flat":
            return max(same, key=lambda one: abs(one.mean), default=None)
        return min(same, key=lambda one: one.mean, default=None)


def judge(
    claims: Sequence[Claim],
    scores: Scores,
    outside: Collection[str] = (),
    measured: Mapping[str, Scores] = NOTHING,
) -> list[Judged]:
    """Return the verdict on every claim.

    Reproduced: the simultaneous 95 % interval of every contrast, over all contrasts of all claims, excludes 0 (or the
    claim's margin) in the direction claimed. Contradicted: one excludes it in the other direction. Not asked: the
    study lacks the rows or the measure. Incomplete: cells are still to run. Undecided otherwise. Rows in `outside` take
    no part in `best`.
    """
    judged_by = [measured.get(claim.measure) if claim.measure else scores for claim in claims]
    asked = [
        [] if one is None else [(one.table, weights) for weights in contrasts_of(claim, one, outside)]
        for claim, one in zip(claims, judged_by, strict=True)
    ]
    found = iter(compare_all([contrast for contrasts in asked for contrast in contrasts]))
    judged = []
    for claim, one, contrasts in zip(claims, judged_by, asked, strict=True):
        compared = tuple(next(found) for _ in contrasts)
        is_open = one is not None and _is_open(one, [weights for _, weights in contrasts])
        judged.append(Judged(claim, compared, _verdict(claim, compared, is_open)))
    return judged


def _is_open(scores: Scores, contrasts: Sequence[ContrastWeights]) -> bool:
    awaited = any(row in scores.open_rows for weights in contrasts for row in weights)
    return awaited or scores.num_unplanned > 0


def contrasts_of(claim: Claim, scores: Scores, outside: Collection[str] = ()) -> list[ContrastWeights]:
    """Return the contrasts that decide a claim; none where rows are missing."""
    more = _contrasts(claim, list(scores.table.index), outside)
    if not scores.less_is_better:
        return more
    return [{row: -weight for row, weight in weights.items()} for weights in more]


def _contrasts(claim: Claim, there: Sequence[str], outside: Collection[str]) -> list[ContrastWeights]:
    rows = [row for row in claim.rows if row in there]
    if claim.kind == "best":
        others = [row for row in there if row not in (*claim.rows, *outside)]
        return [{rows[0]: 1.0, other: -1.0} for other in others] if rows else []
    if len(rows) < 2 or (claim.kind == "better" and len(rows) < len(claim.rows)):
        return []
    if claim.kind == "flat" and rows[0] != claim.rows[0]:
        return []  # all rows are within the margin of the first, and up to twice as far from one another
    if claim.kind == "rising":
        return [_trend(rows)]
    if claim.kind == "flat":
        return [{row: 1.0, rows[0]: -1.0} for row in rows[1:]]
    return [{better: 1.0, worse: -1.0} for better, worse in pairwise(rows)]


def _trend(rows: Sequence[str]) -> ContrastWeights:
    """Return the rise of the least-squares line from the first to the last row, in points."""
    middle = (len(rows) - 1) / 2
    around = [position - middle for position in range(len(rows))]
    scale = (len(rows) - 1) / sum(distance**2 for distance in around)
    return {row: distance * scale for row, distance in zip(rows, around, strict=True)}


def _verdict(claim: Claim, compared: Sequence[ComparedContrast | None], is_open: bool) -> ClaimVerdict:
    if is_open:
        return "incomplete"
    if not compared:
        return "not asked"
    each = ["undecided" if one is None else _decide(claim, one) for one in compared]
    if "contradicted" in each:
        return "contradicted"
    return "reproduced" if set(each) == {"reproduced"} else "undecided"


def _decide(claim: Claim, one: ComparedContrast) -> ClaimVerdict:
    low, high = one.simultaneous.low, one.simultaneous.high
    if claim.kind == "flat":
        if low >= -claim.margin and high <= claim.margin:
            return "reproduced"
        return "contradicted" if low > claim.margin or high < -claim.margin else "undecided"
    if low > claim.margin:
        return "reproduced"
    return "contradicted" if high < claim.margin else "undecided"
