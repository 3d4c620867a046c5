"""The answer of a search, from its confirmation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.answer import MIN_SEEDS, StageProgress, StudyAnswer
from analysis.comparison_table import show_interval
from analysis.formats import show_number, show_signed
from analysis.phrases import counted, join_words
from rse_study.results.comparisons import LEVEL
from rse_study.results.statistics import Interval, t_interval


@dataclass(frozen=True)
class ConfirmedTrial:
    """The confirmed result of one trial on one measure."""

    row: str
    """The trial's name for readers."""
    reference: str
    """The setting it is compared with; empty if nothing else was confirmed."""
    measure: str
    sample: tuple[float, ...]
    """Differences from `reference` by seed, or its own values without a reference; empty without a score."""
    num_together: int = 1
    less_is_better: bool = False
    decimals: int = 2

    @property
    def mean(self) -> float:
        return sum(self.sample) / len(self.sample)

    @property
    def num_better(self) -> int:
        return sum((value < 0) if self.less_is_better else (value > 0) for value in self.sample)

    @property
    def num_worse(self) -> int:
        return sum(value != 0 for value in self.sample) - self.num_better

    def verdict(self, interval: Interval) -> str:
        """Return whether the mean's interval shows it to be better, worse, or neither."""
        if not interval.excludes(0.0):
            return "not shown to differ"
        return "better" if (self.mean < 0) == self.less_is_better else "worse"


def search_answer(
    search: StageProgress,
    confirm: StageProgress | None,
    found: ConfirmedTrial | None,
    objectives: Sequence[ConfirmedTrial] = (),
    beyond: Sequence[ConfirmedTrial] = (),
) -> StudyAnswer:
    """Return the answer of a search, or say why there is none yet."""
    if not search.num_ended:
        return StudyAnswer("No answer yet: no trial has ended.")
    if confirm is None:
        why = "this study confirms nothing, and the score of its best trial is the one that selected it"
        return StudyAnswer(f"No answer: {why}.")
    if not confirm.is_over:
        left = f"{confirm.num_planned - confirm.num_ended} of {counted(confirm.num_planned, 'cell')}"
        return StudyAnswer(f"Nothing is confirmed yet: {left} of the confirmation have not ended.")
    if found is None:
        return StudyAnswer("Nothing is confirmed: no confirmed trial but the paper's setting has a score.")
    return objectives_answer(objectives, beyond) if len(objectives) > 1 else confirmed_answer(found)


def objectives_answer(found: Sequence[ConfirmedTrial], beyond: Sequence[ConfirmedTrial]) -> StudyAnswer:
    """Return the confirmed results of one trial on each objective.

    A difference needs all objectives, and no evaluation in `beyond` that every seed shows worse.
    """
    first = found[0]
    seeds = f"{counted(len(first.sample), 'seed')} that selected nothing"
    if not first.reference:
        values = join_words(_value_text(one, show_number) for one in found)
        text = f"No comparison: {first.row} has {values} with {seeds}, and nothing was confirmed beside it."
        return StudyAnswer(text)
    if min(len(one.sample) for one in found) < MIN_SEEDS:
        values = join_words(_value_text(one, show_signed) for one in found)
        why = f"an interval takes {MIN_SEEDS} seeds on each objective"
        return StudyAnswer(f"No answer: {first.row} minus {first.reference} is {values}, and {why}.")
    num_together = sum(one.num_together for one in found)
    intervals = [t_interval(list(one.sample), 1 - (1 - LEVEL) / num_together) for one in found]
    verdicts = [one.verdict(interval) for one, interval in zip(found, intervals, strict=True)]
    told = join_words(
        f"is {verdict} on {one.measure} ({show_signed(one.mean, one.decimals)}, 95 % interval "
        f"{show_interval(interval, one.decimals)})"
        for one, interval, verdict in zip(found, intervals, verdicts, strict=True)
    )
    text = (
        f"Compared with {first.reference} over {seeds}, {first.row} {told}. These intervals hold for all "
        f"{num_together} comparisons at once."
    )
    others = join_words(_seeds_text(one) for one in beyond if one.sample)
    return StudyAnswer(
        f"{text} Beyond its objectives: {others}." if others else text,
        is_settled=True,
        shows_difference=_all_agree(verdicts, beyond),
    )


def _all_agree(verdicts: Sequence[str], beyond: Sequence[ConfirmedTrial]) -> bool:
    """Whether all objectives agree and no evaluation opposes them with every seed."""
    measured = [one for one in beyond if one.sample]
    if set(verdicts) == {"better"}:
        return not any(one.num_worse == len(one.sample) for one in measured)
    return set(verdicts) == {"worse"} and not any(one.num_better == len(one.sample) for one in measured)


def _value_text(one: ConfirmedTrial, show: Callable[[float, int], str]) -> str:
    value = show(one.mean, one.decimals) if one.sample else "no score"
    return f"{value} on {one.measure}"


def _seeds_text(one: ConfirmedTrial) -> str:
    way = f"worse with {one.num_worse}" if one.num_worse > one.num_better else f"better with {one.num_better}"
    return f"{_value_text(one, show_signed)} ({way} of {counted(len(one.sample), 'seed')})"


def confirmed_answer(found: ConfirmedTrial) -> StudyAnswer:
    """Return the confirmed result of a trial, with an interval from 3 seeds on."""
    seeds = f"{counted(len(found.sample), 'seed')} that selected nothing"
    if not found.reference:
        value = show_number(found.mean, found.decimals)
        why = "nothing was confirmed beside it"
        return StudyAnswer(
            f"No comparison: {found.row} has {value} on {found.measure} with {seeds}, and {why}."
        )
    difference = show_signed(found.mean, found.decimals)
    if len(found.sample) < MIN_SEEDS:
        few = "One seed tells" if len(found.sample) == 1 else "Two seeds tell"
        what = f"{found.row} minus {found.reference} is {difference} on {found.measure}"
        return StudyAnswer(f"No answer: {what}. {few} no gain from chance.")
    interval = t_interval(list(found.sample), 1 - (1 - LEVEL) / found.num_together)
    at_once = f" for all {found.num_together} trials at once" if found.num_together > 1 else ""
    numbers = f"{difference} (95 % interval{at_once} {show_interval(interval, found.decimals)}, {seeds})"
    shows, verdict = interval.excludes(0.0), found.verdict(interval)
    text = f"{found.row} is {verdict} {'than' if shows else 'from'} {found.reference} on {found.measure}: {numbers}."
    return StudyAnswer(text[0].upper() + text[1:], is_settled=True, shows_difference=shows)
