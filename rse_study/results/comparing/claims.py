"""A paper's claims about rows of a table, judged by contrasts of our rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

from rse_study.results.comparing.comparisons import ComparedContrast, ContrastWeights, Scores, compare_all

ClaimKind = Literal["best", "better", "ordering", "rising", "flat", "share", "count", "above"]
ClaimVerdict = Literal["reproduced", "contradicted", "undecided", "incomplete", "not asked"]
NOTHING: Mapping[str, Scores] = {}


@dataclass(frozen=True)
class Claim:
    """A paper's claim about rows of its table."""

    id: str
    table: str
    kind: ClaimKind
    """best: the first row beats every other, or each of the others named. better: the first beats the second by more
    than the margin. ordering: each beats the next. rising: scores grow along the rows. flat: no row differs from the
    first by more than the margin. share: the first is better than `margin` times the second. count: the first row is
    best in at least `margin` columns. above: the score of the only row exceeds the margin."""
    rows: tuple[str, ...]
    margin: float
    """Points of the score, a factor (share), a number of columns (count) or a value of the score (above)."""
    says: str
    source: str
    measure: str = ""
    """Metric or column that the claim is about; empty: every one of `columns`."""
    columns: tuple[str, ...] = ()
    """Columns of the paper's table; of a study that measures none of them, the objective stands for all."""

    @property
    def threshold(self) -> float:
        """The value that a contrast must exceed."""
        return 0.0 if self.kind in ("share", "count") else self.margin


@dataclass(frozen=True)
class Judged:
    """A claim, its contrasts and the verdict."""

    claim: Claim
    compared: tuple[ComparedContrast | None, ...]
    verdict: ClaimVerdict
    in_columns: tuple[ClaimVerdict, ...] = ()
    """Of a count, the verdict in each column."""

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

    Reproduced: the deciding 95% interval of every contrast, over all contrasts of all claims, excludes 0 (or the
    claim's margin) in the direction claimed. Contradicted: one lies beyond it by more than the study's margin in the
    other direction. Not asked: the study lacks the rows or the measure. Incomplete: cells are still to run. Undecided
    otherwise. Rows in `outside` take no part in a `best` that names no others. `measured` has scores by metric and by
    column.
    """
    asked = [
        [(one, contrasts_of(claim, one, outside)) for one in _judged_by(claim, scores, measured)]
        for claim in claims
    ]
    pairs = [(one, weights) for parts in asked for one, contrasts in parts for weights in contrasts]
    criteria = [one.criterion for one, _ in pairs]
    found = iter(compare_all([(one.table, weights) for one, weights in pairs], criteria=criteria))
    judged = []
    for claim, parts in zip(claims, asked, strict=True):
        compared = [tuple(next(found) for _ in contrasts) for _, contrasts in parts]
        is_open = any(_is_open(one, contrasts) for one, contrasts in parts)
        each = tuple(_verdict(claim, some, is_open) for some in compared)
        whole = tuple(chain.from_iterable(compared))
        if claim.kind == "count":
            judged.append(Judged(claim, whole, _verdict_of_count(claim, each), each))
        else:
            judged.append(Judged(claim, whole, _verdict(claim, whole, is_open)))
    return judged


def _judged_by(claim: Claim, scores: Scores, measured: Mapping[str, Scores]) -> list[Scores]:
    """Return the scores that decide a claim; a count needs all its columns."""
    names = (claim.measure,) if claim.measure else claim.columns
    found = [measured[name] for name in names if name in measured]
    if claim.kind == "count":
        return found if len(found) == len(names) else []
    return found if found or claim.measure else [scores]


def _is_open(scores: Scores, contrasts: Sequence[ContrastWeights]) -> bool:
    awaited = any(row in scores.open_rows for weights in contrasts for row in weights)
    return awaited or scores.num_unplanned > 0


def contrasts_of(claim: Claim, scores: Scores, outside: Collection[str] = ()) -> list[ContrastWeights]:
    """Return the contrasts that decide a claim; none where rows are missing."""
    more = _contrasts(claim, list(scores.table.index), outside)
    if not scores.less_is_better or claim.kind == "above":
        return more
    return [{row: -weight for row, weight in weights.items()} for weights in more]


def _contrasts(claim: Claim, there: Sequence[str], outside: Collection[str]) -> list[ContrastWeights]:
    rows = [row for row in claim.rows if row in there]
    if claim.kind == "above":
        return [{row: 1.0} for row in rows]
    if claim.kind in ("best", "count"):
        others = rows[1:] if len(claim.rows) > 1 else [row for row in there if row not in (*rows, *outside)]
        return [{rows[0]: 1.0, other: -1.0} for other in others] if claim.rows[0] in rows else []
    if len(rows) < 2 or (claim.kind in ("better", "share") and len(rows) < len(claim.rows)):
        return []
    if claim.kind == "share":
        return [{rows[0]: 1.0, rows[1]: -claim.margin}]
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
    each = ["undecided" if one is None or one.criterion.is_lost else _decide(claim, one) for one in compared]
    if "contradicted" in each:
        return "contradicted"
    return "reproduced" if set(each) == {"reproduced"} else "undecided"


def _verdict_of_count(claim: Claim, each: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """Return whether as many columns as claimed are won, or so many lost that they cannot be."""
    if "incomplete" in each:
        return "incomplete"
    if not each or "not asked" in each:
        return "not asked"
    if each.count("reproduced") >= claim.margin:
        return "reproduced"
    return "contradicted" if each.count("contradicted") > len(each) - claim.margin else "undecided"


def _decide(claim: Claim, one: ComparedContrast) -> ClaimVerdict:
    low, high = one.deciding.low, one.deciding.high
    if claim.kind == "flat":
        if low >= -claim.margin and high <= claim.margin:
            return "reproduced"
        return "contradicted" if low > claim.margin or high < -claim.margin else "undecided"
    if low > claim.threshold:
        return "reproduced"
    return "contradicted" if high < claim.threshold - one.criterion.margin else "undecided"
