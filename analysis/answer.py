"""The answer of a study in one sentence, or why there is none yet."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from analysis.comparison import Comparison
from analysis.comparison_table import show_interval
from analysis.formats import show_number, show_signed
from analysis.phrases import counted, join_words
from rse_study.results.comparisons import LEVEL, ComparedContrast

MIN_SEEDS = 3  # fewer give no useful interval
SHOWN_VERDICTS = ("reproduced", "contradicted", "undecided", "incomplete")


@dataclass(frozen=True)
class StudyAnswer:
    """A sentence that answers the question of a study."""

    text: str
    is_settled: bool = False
    """Whether an interval supports it; otherwise the text says why there is none."""
    shows_difference: bool = False


@dataclass(frozen=True)
class StageProgress:
    """The number of cells of a stage, and how many of them are final."""

    num_ended: int
    num_planned: int

    @property
    def is_over(self) -> bool:
        return self.num_ended >= self.num_planned


def grid_answer(
    comparison: Comparison, progress: StageProgress, decimals: int, *, less_is_better: bool
) -> StudyAnswer:
    """Return the answer of a grid, or say why there is none yet."""
    if not progress.num_ended:
        return StudyAnswer("No answer yet: no cell has ended.")
    if not progress.is_over or not comparison.is_complete:
        left = max(progress.num_planned - progress.num_ended, 0)
        why = f"{left} of {counted(progress.num_planned, 'cell')} {'has' if left == 1 else 'have'} not ended"
        return StudyAnswer(f"No answer yet: {why if left else 'some cells have no score yet'}.")
    if not comparison.baseline:
        return StudyAnswer(_without_baseline(comparison, decimals, less_is_better))
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
    """Return how rows differ from their baseline, with the largest difference shown."""
    known = {row: one for row, one in compared.items() if one is not None}
    if not known:
        why = f"no row shares {MIN_SEEDS} seeds with {baseline}, and fewer show nothing"
        return StudyAnswer(f"No answer: {why if compared else f'no row stands beside {baseline}'}.")
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


def claims_answer(comparison: Comparison | None) -> str:
    """Return how the paper's claims fared, or "" without claims."""
    judged = comparison.judged if comparison else []
    asked = [one for one in judged if one.verdict != "not asked"]
    if comparison is None or not asked:
        return ""
    parts = []
    for verdict in SHOWN_VERDICTS:
        same = [one for one in asked if one.verdict == verdict]
        parts += [f"{len(same)} {comparison.words(same[0])}"] if same else []
    return f"Of {counted(len(asked), 'claim')} of the paper: {', '.join(parts)}."
