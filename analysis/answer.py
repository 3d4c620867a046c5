"""The answer of a study in one sentence, or why there is none yet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from analysis.comparison import Comparison
from analysis.comparison_table import show_interval
from analysis.formats import show_number, show_signed
from analysis.phrases import counted, join_words
from rse_study.results.comparisons import LEVEL, ComparedContrast
from rse_study.results.statistics import Interval, t_interval

MIN_SEEDS = 3  # fewer give no interval worth the name
SHOWN_VERDICTS = ("reproduced", "contradicted", "undecided", "incomplete")


@dataclass(frozen=True)
class StudyAnswer:
    """A sentence that answers the question of a study."""

    text: str
    is_settled: bool
    """Whether an interval stands behind it; else it says why there is none."""
    shows_difference: bool = False
    """Whether that interval excludes 0."""


@dataclass(frozen=True)
class StageProgress:
    """How many cells a stage has, and how many of them will not change any more."""

    num_ended: int
    num_planned: int

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to run."""
        return self.num_ended >= self.num_planned


@dataclass(frozen=True)
class ConfirmedTrial:
    """What confirmation found about one trial."""

    row: str
    """The trial's name for readers."""
    reference: str
    """What it is compared with; empty where nothing was confirmed beside it."""
    measure: str
    sample: tuple[float, ...]
    """Its differences from `reference`, seed by seed; its own values where there is none; empty without a score."""
    num_together: int = 1
    """Trials whose intervals hold at once."""
    less_is_better: bool = False
    decimals: int = 2

    @property
    def mean(self) -> float:
        """Of the sample."""
        return sum(self.sample) / len(self.sample)

    @property
    def num_better(self) -> int:
        """Seeds with which it is better than `reference`."""
        return sum((value < 0) if self.less_is_better else (value > 0) for value in self.sample)

    @property
    def num_worse(self) -> int:
        """Seeds with which it is worse."""
        return sum(value != 0 for value in self.sample) - self.num_better

    def verdict(self, interval: Interval) -> str:
        """Return better, worse, or that neither is shown by the interval of its mean."""
        if not interval.excludes(0.0):
            return "not shown to differ"
        return "better" if (self.mean < 0) == self.less_is_better else "worse"


def grid_answer(
    comparison: Comparison, progress: StageProgress, decimals: int, *, less_is_better: bool
) -> StudyAnswer:
    """Return the answer of a grid.

    Parameters
    ----------
    comparison
        Its rows against its baseline.
    progress
        Of its cells.
    decimals
        Of the objective.
    less_is_better
        Whether the objective is minimised.
    """
    if not progress.num_ended:
        return StudyAnswer("No answer yet: no cell has ended.", is_settled=False)
    if not progress.is_over or not comparison.is_complete:
        left = max(progress.num_planned - progress.num_ended, 0)
        why = f"{left} of {counted(progress.num_planned, 'cell')} {'has' if left == 1 else 'have'} not ended"
        return StudyAnswer(
            f"No answer yet: {why if left else 'some cells have no score yet'}.", is_settled=False
        )
    if not comparison.baseline:
        return StudyAnswer(_without_baseline(comparison, decimals, less_is_better), is_settled=False)
    compared = comparison.compared
    answer = contrasts_answer(compared, comparison.baseline, decimals, less_is_better=less_is_better)
    collapsed = [row for row in (*compared, comparison.baseline) if row in comparison.degenerate]
    remarks = [f"Of collapsed models are scores of {join_words(collapsed)}."] if collapsed else []
    failed = comparison.scores.failed_rows
    remarks += [f"Cells of {join_words(failed)} failed."] if failed else []
    return replace(answer, text=" ".join([answer.text, *remarks]))


def contrasts_answer(
    compared: Mapping[str, ComparedContrast | None],
    baseline: str,
    decimals: int,
    *,
    less_is_better: bool,
) -> StudyAnswer:
    """Return how rows differ from their baseline: the largest difference shown.

    Parameters
    ----------
    compared
        Each row minus the baseline; None where too few seeds are shared.
    baseline
        Its name.
    decimals
        Of the differences.
    less_is_better
        Whether the smaller row is the better one.
    """
    known = {row: one for row, one in compared.items() if one is not None}
    if not known:
        why = f"no row shares {MIN_SEEDS} seeds with {baseline}, and fewer show nothing"
        return StudyAnswer(
            f"No answer: {why if compared else f'no row stands beside {baseline}'}.", is_settled=False
        )
    shown = {row: one for row, one in known.items() if one.simultaneous.excludes(0.0)}
    if not shown:
        of = f"any of {counted(len(known), 'row')}" if len(known) > 1 else "the one row"
        what = _largest_text(known, decimals, len(known))
        return StudyAnswer(
            f"No difference from {baseline} is shown for {of}; the largest: {what}.",
            is_settled=True,
        )
    better = {row: one for row, one in shown.items() if (one.mean < 0) == less_is_better}
    worse = {row: one for row, one in shown.items() if row not in better}
    sides = [(better, "better", "gain"), (worse, "worse", "loss")]
    counts = [f"{len(side)} {'is' if len(side) == 1 else 'are'} {word}" for side, word, _ in sides if side]
    largest = [
        f"largest {noun}: {_largest_text(side, decimals, len(known))}" for side, _, noun in sides if side
    ]
    told = f"Of {counted(len(known), 'row')} {' and '.join(counts)} than {baseline}"
    if len(known) == 1:
        ((row, one),) = known.items()
        what = f"{row} is {'better' if better else 'worse'} than {baseline}"
        return _difference(f"{what}: {_contrast_text(one, decimals, 1)}.")
    return _difference(f"{told}; {', '.join(largest)}.")


def _difference(text: str) -> StudyAnswer:
    return StudyAnswer(text, is_settled=True, shows_difference=True)


def _largest_text(contrasts: Mapping[str, ComparedContrast], decimals: int, num_together: int) -> str:
    row, one = max(contrasts.items(), key=lambda pair: abs(pair[1].mean))
    return f"{row}, {_contrast_text(one, decimals, num_together)}"


def _contrast_text(one: ComparedContrast, decimals: int, num_together: int) -> str:
    """A difference with its interval, and with p where so many seeds could make it small."""
    at_once = " for all rows at once" if num_together > 1 else ""
    adjusted = " (Holm)" if num_together > 1 else ""
    is_exact = not pd.isna(one.p_holm) and one.least_p_holm <= 1 - LEVEL
    p_value = f", p = {one.p_holm:.4f}{adjusted}" if is_exact else ""
    interval = show_interval(one.simultaneous, decimals)
    return f"{show_signed(one.mean, decimals)} (95 % interval{at_once} {interval}{p_value}, {one.n} seeds)"


def _without_baseline(comparison: Comparison, decimals: int, less_is_better: bool) -> str:
    means = comparison.scores.table.mean(axis=1).dropna()
    if means.empty:
        return "No answer: no row has a score."
    row = means.idxmin() if less_is_better else means.idxmax()
    end = "lowest" if less_is_better else "highest"
    best = f"the {end} mean: {row}, {show_number(means[row], decimals)}, not shown to be better"
    return f"No answer with an interval: the study names no baseline to compare with; {best}."


def search_answer(
    search: StageProgress,
    confirm: StageProgress | None,
    found: ConfirmedTrial | None,
    objectives: Sequence[ConfirmedTrial] = (),
    beyond: Sequence[ConfirmedTrial] = (),
) -> StudyAnswer:
    """Return the answer of a search: what its confirmation found.

    Parameters
    ----------
    search
        Its trials.
    confirm
        Cells of the confirmation; None where the study confirms nothing.
    found
        About the best trial that was confirmed; None where there is no score of one.
    objectives
        The same on each objective, where there are several.
    beyond
        The same on each evaluation, where there are several objectives.
    """
    if not search.num_ended:
        return StudyAnswer("No answer yet: no trial has ended.", is_settled=False)
    if confirm is None:
        why = "this study confirms nothing, and the score of its best trial is the one that selected it"
        return StudyAnswer(f"No answer: {why}.", is_settled=False)
    if not confirm.is_over:
        left = f"{confirm.num_planned - confirm.num_ended} of {counted(confirm.num_planned, 'cell')}"
        return StudyAnswer(
            f"Nothing is confirmed yet: {left} of the confirmation have not ended.", is_settled=False
        )
    if found is None:
        return StudyAnswer(
            "Nothing is confirmed: no confirmed trial but the paper's setting has a score.", is_settled=False
        )
    return objectives_answer(objectives, beyond) if len(objectives) > 1 else confirmed_answer(found)


def objectives_answer(found: Sequence[ConfirmedTrial], beyond: Sequence[ConfirmedTrial]) -> StudyAnswer:
    """Return what confirmation says about a trial on each objective.

    A difference is shown where all objectives agree in it, and no evaluation turns the other way with every seed.

    Parameters
    ----------
    found
        About one trial on each objective.
    beyond
        About the same trial on what the study evaluates besides.
    """
    first = found[0]
    seeds = f"{counted(len(first.sample), 'seed')} that selected nothing"
    if not first.reference:
        values = join_words(_value_text(one, show_number) for one in found)
        text = f"No comparison: {first.row} has {values} with {seeds}, and nothing was confirmed beside it."
        return StudyAnswer(text, is_settled=False)
    if min(len(one.sample) for one in found) < MIN_SEEDS:
        values = join_words(_value_text(one, show_signed) for one in found)
        why = f"an interval takes {MIN_SEEDS} seeds on each objective"
        return StudyAnswer(
            f"No answer: {first.row} minus {first.reference} is {values}, and {why}.", is_settled=False
        )
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
    """Whether all objectives show the same, and no evaluation the opposite with every seed."""
    measured = [one for one in beyond if one.sample]
    if set(verdicts) == {"better"}:
        return not any(one.num_worse == len(one.sample) for one in measured)
    return set(verdicts) == {"worse"} and not any(one.num_better == len(one.sample) for one in measured)


def _value_text(one: ConfirmedTrial, show: Callable[[float, int], str]) -> str:
    value = show(one.mean, one.decimals) if one.sample else "no score"
    return f"{value} on {one.measure}"


def _seeds_text(one: ConfirmedTrial) -> str:
    """A difference that is no objective's: with how many seeds it goes which way."""
    way = f"worse with {one.num_worse}" if one.num_worse > one.num_better else f"better with {one.num_better}"
    return f"{_value_text(one, show_signed)} ({way} of {counted(len(one.sample), 'seed')})"


def confirmed_answer(found: ConfirmedTrial) -> StudyAnswer:
    """Return what confirmation says about a trial, with an interval from 3 seeds."""
    seeds = f"{counted(len(found.sample), 'seed')} that selected nothing"
    if not found.reference:
        value = show_number(found.mean, found.decimals)
        why = "nothing was confirmed beside it"
        return StudyAnswer(
            f"No comparison: {found.row} has {value} on {found.measure} with {seeds}, and {why}.",
            is_settled=False,
        )
    difference = show_signed(found.mean, found.decimals)
    if len(found.sample) < MIN_SEEDS:
        few = "One seed tells" if len(found.sample) == 1 else "Two seeds tell"
        what = f"{found.row} minus {found.reference} is {difference} on {found.measure}"
        return StudyAnswer(f"No answer: {what}. {few} no gain from chance.", is_settled=False)
    interval = t_interval(list(found.sample), 1 - (1 - LEVEL) / found.num_together)
    at_once = f" for all {found.num_together} trials at once" if found.num_together > 1 else ""
    numbers = f"{difference} (95 % interval{at_once} {show_interval(interval, found.decimals)}, {seeds})"
    shows, verdict = interval.excludes(0.0), found.verdict(interval)
    text = f"{found.row} is {verdict} {'than' if shows else 'from'} {found.reference} on {found.measure}: {numbers}."
    return StudyAnswer(text[0].upper() + text[1:], is_settled=True, shows_difference=shows)


def claims_answer(comparison: Comparison | None) -> str:
    """Return how the paper's claims fared; nothing where there are none."""
    judged = comparison.judged if comparison else []
    asked = [one for one in judged if one.verdict != "not asked"]
    if comparison is None or not asked:
        return ""
    parts = []
    for verdict in SHOWN_VERDICTS:
        same = [one for one in asked if one.verdict == verdict]
        parts += [f"{len(same)} {comparison.words(same[0])}"] if same else []
    return f"Of {counted(len(asked), 'claim')} of the paper: {', '.join(parts)}."
