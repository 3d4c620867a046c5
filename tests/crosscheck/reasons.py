"""Why two traces of PWWS parted: found in what was asked and answered, never guessed from the outcomes."""

import math
from collections.abc import Sequence
from typing import Literal

from tests.crosscheck.traces import QueryTrace, Score, Step, parted

Precision = Literal["float64", "float32"]
Reason = Literal["words", "order", "tie", "candidates", "unexplained"]
EXPLAINED: dict[Reason, str] = {
    "words": "TextAttack cuts the text into other words",
    "order": "two words weigh the same within the float32 of TextAttack's softmax",
    "tie": "two texts score the same within the precision of the victim's answers",
}
"""Choices of decision 0012; the other reasons are defects, of ours or of the comparison."""

UNIT = 2.0**-23  # float32: the step from 1 to the next number
SCORE_ERROR: dict[Precision, float] = {"float64": 0.0, "float32": UNIT}  # of a difference of two scores
WEIGHT_ERROR = 6 * UNIT  # of a difference of two weights, relative: three roundings of each exponential


def reason(ours: QueryTrace, theirs: QueryTrace, score: Score, precision: Precision) -> Reason:
    """Of the first step that differs. `score` asks the victim that both asked."""
    if ours.words != theirs.words:
        return "words"
    if parted(ours.unknown, theirs.unknown) is not None or parted(ours.options, theirs.options) is not None:
        return "candidates"
    num_common = min(len(ours.visits), len(theirs.visits))
    differing = parted(ours.visits, theirs.visits)
    num_equal = num_common if differing is None else differing
    if num_equal < num_common:
        places = ours.visits[num_equal].place, theirs.visits[num_equal].place
        if places[0] != places[1]:
            return "order" if weigh_the_same(ours, *places, score, precision) else "unexplained"
    if num_equal and is_tied(ours, num_equal - 1, score, precision):
        return "tie"
    return "candidates" if num_equal < num_common else "unexplained"


def weigh_the_same(trace: QueryTrace, one: int, other: int, score: Score, precision: Precision) -> bool:
    """Whether rounding alone may have put the word at `one` before or behind that at `other`."""
    powers = {step.place: math.exp(score(step.texts[0])) for step in trace.unknown}
    saliency = {place: power / math.fsum(powers.values()) for place, power in powers.items()}
    effects = {step.place: max(map(score, step.texts)) for step in trace.options}
    weights = {place: saliency[place] * effects[place] for place in (one, other)}
    slack = WEIGHT_ERROR * max(weights.values()) + SCORE_ERROR[precision] * (saliency[one] + saliency[other])
    return abs(weights[one] - weights[other]) <= slack


def is_tied(trace: QueryTrace, visit: int, score: Score, precision: Precision) -> bool:
    """Whether rounding alone may have decided a visit: its best two, or its best and the text it started from."""
    first, *others = sorted(map(score, trace.visits[visit].texts), reverse=True)
    rivals = [standing(trace, trace.visits[:visit], score), *others[:1]]
    return any(abs(first - rival) <= SCORE_ERROR[precision] for rival in rivals)


def standing(trace: QueryTrace, visits: Sequence[Step], score: Score) -> float:
    """The score after these visits: only what is better is taken, so it is the best there was."""
    return max(score(text) for text in [trace.clean, *(text for step in visits for text in step.texts)])
