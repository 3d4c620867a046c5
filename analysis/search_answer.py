"""The answer of a search, and how far a study's stages are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np
import pandas as pd

from analysis.answer import StageProgress, StudyAnswer
from analysis.comparison_table import show_interval
from analysis.contents import BASE, Contents, label_of, labels
from analysis.formats import counted, join_words, show_number, show_signed
from analysis.scores import is_higher_better, measures_of, scores
from analysis.search import confirmed
from rse_study.results.comparing.comparisons import FIXED, MIN_SEEDS, differences
from rse_study.results.comparing.criterion import Criterion, RowVerdict, criterion_of, with_outcomes
from rse_study.results.records import FINISHED, Stage
from rse_study.results.statistics import EXACT_UP_TO, Interval, least_p, sign_flip_p, smallest_difference
from rse_study.results.study_record import margin_of, unit_of

NO_BASE = "the base has no score with them"
UNIT = ", Spearman x100"  # of most objectives: the facts below an answer name it


@dataclass(frozen=True)
class ConfirmedTrial:
    """The confirmed result of one trial on one measure."""

    row: str
    """The trial's name for readers."""
    reference: str
    """The setting it is compared with; empty if the base has no score."""
    measure: str
    sample: tuple[float, ...]
    """Differences from `reference` by seed, or its own values without a reference; empty without a score."""
    num_together: int = 1
    less_is_better: bool = False
    decimals: int = 2
    criterion: Criterion = FIXED

    @property
    def mean(self) -> float:
        return sum(self.sample) / len(self.sample)

    @property
    def num_better(self) -> int:
        return sum((value < 0) if self.less_is_better else (value > 0) for value in self.sample)

    @property
    def num_worse(self) -> int:
        return sum(value != 0 for value in self.sample) - self.num_better

    def interval(self, num_together: int) -> Interval:
        return self.criterion.interval(self.sample, num_together)

    def verdict(self, num_together: int) -> RowVerdict:
        """Return the verdict by the interval that holds for so many comparisons at once."""
        rule = replace(self.criterion, less_is_better=self.less_is_better)
        return rule.verdict(self.interval(num_together))

    def adjusted_p(self, num_together: int) -> float:
        """Return the sign-flip p (Bonferroni) if it contradicts the interval, or else NaN."""
        n = len(self.sample)
        if n > EXACT_UP_TO:
            return nan
        p, least = (min(1.0, one * num_together) for one in (sign_flip_p(np.array(self.sample)), least_p(n)))
        return p if self.criterion.disagrees(self.interval(num_together), p, least) else nan

    def resolvable(self, num_together: int) -> float:
        """Return the true difference that 4 of 5 confirmations with so many seeds find."""
        sd = float(np.std(self.sample, ddof=1))
        return smallest_difference(sd, len(self.sample), num_comparisons=num_together)


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
        why = "this study confirms no trial, and the score of its best trial is the one that selected it"
        return StudyAnswer(f"No answer: {why}.")
    if not confirm.is_over:
        left = f"{confirm.num_planned - confirm.num_ended} of {counted(confirm.num_planned, 'cell')}"
        return StudyAnswer(f"Nothing is confirmed yet: {left} of the confirmation have not ended.")
    if found is None:
        return StudyAnswer("Nothing is confirmed: no confirmed trial except the base has a score.")
    if any(one.criterion.so_far for one in (found, *objectives)):
        return StudyAnswer("Nothing is confirmed yet: some cells of the confirmation have no score yet.")
    others = [one for one in (*objectives, *beyond) if one.measure != found.measure]
    is_one, rule = len(objectives) < 2, found.criterion
    told = confirmed_answer(found, others) if is_one else objectives_answer(objectives, beyond)
    lost = [f"{text[0].upper()}{text[1:]}." for row, text in rule.troubles.items() if row in rule.lost]
    return replace(told, text=" ".join([told.text, *lost]))


def objectives_answer(found: Sequence[ConfirmedTrial], beyond: Sequence[ConfirmedTrial]) -> StudyAnswer:
    """Return the confirmed results of one trial on each objective.

    A difference needs the same verdict on all objectives, and no evaluation in `beyond` on which every seed
    contradicts it.
    """
    first = found[0]
    if not first.reference:
        values = join_words(_value_text(one, show_number) for one in found)
        what = f"{first.row} has {values} with {_fresh_seeds(first)}"
        return StudyAnswer(f"No comparison: {what}, and {NO_BASE}.")
    if min(len(one.sample) for one in found) < MIN_SEEDS:
        values = join_words(_value_text(one, show_signed) for one in found)
        why = f"an interval needs {MIN_SEEDS} seeds on each objective"
        return StudyAnswer(f"No answer: {first.row} minus {first.reference} is {values}, and {why}.")
    num_together = sum(one.num_together for one in found)
    verdicts = [one.verdict(num_together) for one in found]
    is_mixed = _is_opposed(verdicts, beyond)
    told = join_words(
        f"{_verdict_text(one, verdict, is_mixed=is_mixed)} {one.measure.removesuffix(UNIT)} "
        f"({_difference_text(one, num_together)})"
        for one, verdict in zip(found, verdicts, strict=True)
    )
    text = f"Compared with {first.reference} over {counted(len(first.sample), 'fresh seed')}, {first.row} {told}."
    return StudyAnswer(
        f"{text} It gains on some measures and loses on others." if is_mixed else text,
        others=join_words(_seeds_text(one, is_mixed=is_mixed) for one in beyond if one.sample),
        is_settled=True,
        shows_difference=not is_mixed
        and len(set(verdicts)) == 1
        and verdicts[0] in ("better", "worse")
        and all(isnan(one.adjusted_p(num_together)) for one in found),
    )


def _is_opposed(verdicts: Sequence[RowVerdict], beyond: Sequence[ConfirmedTrial]) -> bool:
    """Whether verdicts contradict each other, or every seed of an evaluation contradicts them."""
    ways = set(verdicts)
    ways |= {"worse" for one in beyond if one.sample and one.num_worse == len(one.sample)}
    ways |= {"better" for one in beyond if one.sample and one.num_better == len(one.sample)}
    return {"better", "worse"} <= ways and bool({"better", "worse"} & set(verdicts))


def _verdict_text(one: ConfirmedTrial, verdict: RowVerdict, *, is_mixed: bool) -> str:
    """Return a verdict before the measure; a trial that loses elsewhere is ahead, not better."""
    words = {"better": "is better on", "worse": "is worse on", "undecided": "is undecided on"}
    words |= {"better": "is ahead on", "worse": "is behind on"} if is_mixed else {}
    return words.get(verdict, f"is the same{one.criterion.within} on")


def _difference_text(one: ConfirmedTrial, num_together: int) -> str:
    p = one.adjusted_p(num_together)
    but = "" if isnan(p) else f", only suggestive: adjusted sign-flip p = {p:.4f}"
    interval = show_interval(one.interval(num_together), one.decimals)
    return f"{show_signed(one.mean, one.decimals)} {interval}{but}"


def _fresh_seeds(one: ConfirmedTrial) -> str:
    return f"{counted(len(one.sample), 'fresh seed')}, not used in the search"


def _value_text(one: ConfirmedTrial, show: Callable[[float, int], str]) -> str:
    value = show(one.mean, one.decimals) if one.sample else "no score"
    return f"{value} on {one.measure}"


def _seeds_text(one: ConfirmedTrial, *, is_mixed: bool) -> str:
    better, worse = ("ahead", "behind") if is_mixed else ("better", "worse")
    way, number = (worse, one.num_worse) if one.num_worse > one.num_better else (better, one.num_better)
    return f"{_value_text(one, show_signed)} ({way} with {number} of {counted(len(one.sample), 'seed')})"


def confirmed_answer(found: ConfirmedTrial, beyond: Sequence[ConfirmedTrial] = ()) -> StudyAnswer:
    """Return the confirmed result of a trial, with an interval from 3 seeds on.

    It names the measures in `beyond` on which every seed contradicts the verdict.
    """
    seeds = _fresh_seeds(found)
    if not found.reference:
        what = f"{found.row} has {_value_text(found, show_number)} with {seeds}"
        return StudyAnswer(f"No comparison: {what}, and {NO_BASE}.")
    if len(found.sample) < MIN_SEEDS:
        few = "One seed" if len(found.sample) == 1 else "Two seeds"
        what = f"{found.row} minus {found.reference} is {_value_text(found, show_signed)}"
        return StudyAnswer(f"No answer: {what}. {few} cannot tell a gain from chance.")
    verdict = found.verdict(found.num_together)
    opposed = [one for one in beyond if _is_opposed([verdict], [one])]
    words = _verdict_text(found, verdict, is_mixed=bool(opposed))
    numbers = f"{_difference_text(found, found.num_together)} ({seeds})"
    text = f"Compared with {found.reference}, {found.row} {words} {found.measure}: {numbers}."
    against = join_words(_seeds_text(one, is_mixed=True) for one in opposed)
    return StudyAnswer(
        f"{text} Other measures contradict this: {against}." if opposed else text,
        is_settled=True,
        shows_difference=verdict in ("better", "worse")
        and not opposed
        and isnan(found.adjusted_p(found.num_together)),
    )


def stage_progress(contents: Contents, stage: Stage) -> StageProgress:
    """Return the progress of a stage: grid, search, confirm or path."""
    cells, most = contents.stage(stage), contents.search.most_cells.get(stage, 0)
    return StageProgress(int(cells["status"].isin(FINISHED).sum()), max(most, len(cells)))


def confirmed_trial(contents: Contents) -> ConfirmedTrial | None:
    """Return what confirmation found about the best trial; None without a score."""
    cells = confirmed(contents)
    if cells.empty:
        return None
    frame = scores(contents, cells)
    return _confirmed_on(contents, frame, frame["measure"].iloc[0])


def confirmed_objectives(contents: Contents) -> tuple[list[ConfirmedTrial], list[ConfirmedTrial]]:
    """Return what confirmation found on each objective, and on each other evaluation."""
    cells, objectives = confirmed(contents), labels(contents)
    if cells.empty:
        return [], []
    frame = scores(contents, cells)
    first = _confirmed_on(contents, frame, objectives[0])
    if first is None:
        return [], []
    of_trial = frame[frame["row"].isin([first.row, BASE])]
    found = {
        measure: _confirmed_on(contents, of_trial, measure) or replace(first, measure=measure, sample=())
        for measure in dict.fromkeys(frame["measure"])
    }
    alike = [replace(one, num_together=first.num_together) for one in found.values()]
    return (
        [one for one in alike if one.measure in objectives],
        [one for one in alike if one.measure not in objectives],
    )


def _confirmed_on(contents: Contents, frame: pd.DataFrame, measure: str) -> ConfirmedTrial | None:
    part = frame[frame["measure"] == measure].dropna(subset="seed")
    known = part.dropna(subset="value")
    rows = list(dict.fromkeys(known.loc[known["kind"] == "row", "row"]))
    if not rows:
        return None
    has_base = (known["kind"] == "base").any()
    table = known.pivot(index="row", columns="seed", values="value")
    paired = {row: differences(table, {row: 1.0, BASE: -1.0}) for row in rows} if has_base else {}
    own = known.loc[known["row"] == rows[0], "value"]
    sample = tuple(float(value) for value in (paired[rows[0]] if has_base else own))
    if not sample:
        return None
    study, rule = contents.study, criterion_of(contents.study, contents.revisions, contents.cells)
    # A confidence sequence must not become narrower or wider as others get their seeds.
    decided = contents.search.rows
    num_planned = decided.num_rows - 1 if decided else frame.loc[frame["kind"] == "row", "row"].nunique()
    num_known = sum(len(one) >= MIN_SEEDS for one in paired.values())
    metrics = measures_of(study, contents.label) | {label_of(one): one.metric for one in study.all_objectives}
    metric = metrics.get(measure, measure)
    rule = replace(rule, margin=margin_of(study, metric), unit=unit_of(study, metric))
    rule = with_outcomes(rule, part, BASE)
    here = rule.on((rows[0], BASE))
    return ConfirmedTrial(
        row=rows[0],
        reference=f"the {BASE}" if has_base else "",
        measure=measure,
        sample=sample,
        num_together=max(1, num_planned if here.is_anytime else num_known),
        less_is_better=not is_higher_better(contents, measure),
        decimals=contents.decimals_by_measure[measure],
        criterion=here,
    )
