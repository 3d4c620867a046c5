"""The answer of a grid in one sentence: its rows, and the effects of its design."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import pandas as pd

from analysis import comparison_table
from analysis.comparison import Comparison
from analysis.formats import counted, join_words, show_number, show_power, show_signed
from rse_study.results.comparing.comparisons import LEVEL, MIN_SEEDS, ComparedContrast
from rse_study.results.comparing.contrasts import FactorEffects, Family
from rse_study.results.comparing.criterion import Criterion, RowVerdict
from rse_study.results.comparing.factors import describe_design
from rse_study.results.comparing.planned import PlannedContrasts
from rse_study.results.statistics import Interval, least_n

SHOWN_VERDICTS = ("reproduced", "contradicted", "undecided", "incomplete")
ALIASES, SINCE = "and, in its sum", "after results, since"
SIDES = ("better", "worse")
MOST = 3  # effects, or planned contrasts, that an answer names


@dataclass(frozen=True)
class StudyAnswer:
    """A sentence that answers the question of a study."""

    text: str
    is_settled: bool = False
    """Whether an interval supports it; otherwise the text says why there is none."""
    shows_difference: bool = False
    others: str = ""
    """The same trial on measures that are no objectives, folded below the text."""


@dataclass(frozen=True)
class StageProgress:
    """The number of cells of a stage, and how many of them are final."""

    num_ended: int
    num_planned: int

    @property
    def is_over(self) -> bool:
        return self.num_ended >= self.num_planned


def grid_answer(comparison: Comparison, progress: StageProgress, decimals: int) -> StudyAnswer:
    """Return the answer of a grid, or say why there is none yet."""
    if not progress.num_ended:
        return StudyAnswer("No answer yet: no cell has ended.")
    if not progress.is_over or not comparison.is_complete:
        left = max(progress.num_planned - progress.num_ended, 0)
        why = f"{left} of {counted(progress.num_planned, 'cell')} {'has' if left == 1 else 'have'} not ended"
        return StudyAnswer(f"No answer yet: {why if left else 'some cells have no score yet'}.")
    if not comparison.baseline:
        return StudyAnswer(_without_baseline(comparison, decimals))
    compared = comparison.compared
    answer = contrasts_answer(compared, comparison.baseline, decimals)
    return replace(answer, text=" ".join([answer.text, *_troubles(comparison)]))


def _troubles(comparison: Comparison) -> list[str]:
    collapsed = [row for row in comparison.scores.table.index if row in comparison.degenerate]
    remarks = [f"Scores of {join_words(collapsed)} come from collapsed models."] if collapsed else []
    failed = comparison.scores.failed_rows
    return remarks + ([f"Cells of {join_words(failed)} failed."] if failed else [])


def contrasts_answer(
    compared: Mapping[str, ComparedContrast | None], baseline: str, decimals: int
) -> StudyAnswer:
    """Return how many rows have which verdict, with the largest differences."""
    known = {row: one for row, one in compared.items() if one is not None}
    if not known:
        why = f"no row shares {MIN_SEEDS} seeds with {baseline}, the fewest that give an interval"
        return StudyAnswer(f"No answer: {why if compared else f'no row to compare with {baseline}'}.")
    rows: dict[RowVerdict, dict[str, ComparedContrast]] = {verdict: {} for verdict in get_args(RowVerdict)}
    for row, one in known.items():
        rows[one.verdict][row] = one
    parts = (("largest gain", rows["better"]), ("largest loss", rows["worse"]))
    largest = [f"{name}: {_largest_text(side, decimals)}" for name, side in parts if side]
    if not largest:
        largest = [f"largest difference: {_largest_text(known, decimals)}"]
    seeds = _seeds_text(known.values())
    if len(known) == 1:
        (first,) = known.values()
        text = f"{_one_text(rows, baseline)}: {comparison_table.show_difference(first, decimals)} ({seeds})."
    else:
        text = f"{_all_text(rows, baseline)}; {', '.join(largest)} ({seeds})."
    return StudyAnswer(
        " ".join(filter(None, (text, comparison_table.suggestive_text(known)))),
        is_settled=True,
        shows_difference=any(
            not one.is_suggestive for one in (*rows["better"].values(), *rows["worse"].values())
        ),
    )


RowsByVerdict = Mapping[RowVerdict, Mapping[str, ComparedContrast]]


def _one_text(rows: RowsByVerdict, baseline: str) -> str:
    ((verdict, row, one),) = ((verdict, *pair) for verdict, side in rows.items() for pair in side.items())
    if verdict == "undecided":
        return f"It is undecided whether {row} differs from {baseline}"
    if verdict == "same":
        return f"{row} is the same as {baseline}{one.criterion.within}"
    return f"{row} is {verdict} than {baseline}"


def _all_text(rows: RowsByVerdict, baseline: str) -> str:
    """Return how many rows have which verdict: "Of 3 rows compared with base, 1 is better and 2 are undecided"."""
    within = next((one.criterion.within for one in rows["same"].values()), "")
    named = {"better": "better", "worse": "worse", "same": f"the same{within}", "undecided": "undecided"}
    counts = join_words(
        f"{len(side) or 'none'} {'are' if len(side) > 1 else 'is'} {named[verdict]}"
        for verdict, side in rows.items()
        if side or verdict == "better"
    )
    return f"Of {sum(map(len, rows.values()))} rows compared with {baseline}, {counts}"


def _largest_text(contrasts: Mapping[str, ComparedContrast], decimals: int) -> str:
    row, one = max(contrasts.items(), key=lambda pair: abs(pair[1].mean))
    shown = [show_signed(other.mean, decimals) for other in contrasts.values()]
    num_level = shown.count(show_signed(one.mean, decimals)) - 1
    level = f" (tied with {counted(num_level, 'other')})" if num_level else ""
    return f"{row}{level}, {comparison_table.show_difference(one, decimals)}"


def _seeds_text(contrasts: Iterable[ComparedContrast]) -> str:
    numbers = {one.n for one in contrasts}
    return counted(max(numbers), "seed") if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)} seeds"


def _without_baseline(comparison: Comparison, decimals: int) -> str:
    if not (best := _best_row(comparison, decimals)):
        return "No answer: no row has a score."
    end, row, mean = best
    told = f"{row} has the {end} mean, {mean}, but is not shown to be better"
    return f"No answer with an interval: the study names no baseline to compare with; {told}."


def _best_row(comparison: Comparison, decimals: int) -> tuple[str, str, str] | None:
    means, is_less = comparison.scores.table.mean(axis=1).dropna(), comparison.scores.less_is_better
    if means.empty:
        return None
    row = means.idxmin() if is_less else means.idxmax()
    return "lowest" if is_less else "highest", str(row), show_number(means[row], decimals)


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
    return f"The paper's claims: {', '.join(parts)}."


def family_table(found: Family, decimals: int = 2) -> pd.DataFrame:
    """Return a row of text per effect, or planned contrast, on the objective."""
    known = found.compared
    interval = comparison_table.ANYTIME if found.is_anytime else f"95%, all {found.noun}s at once"
    own = {ALIASES: "aliases", SINCE: "since"}
    own = {heading: column for heading, column in own.items() if column in known and any(known[column])}
    rows = [
        {
            found.noun: getattr(one, found.noun),
            **{heading: getattr(one, column) for heading, column in own.items()},
            "difference": show_signed(one.mean, decimals),
            interval: _interval(one, decimals),
            comparison_table.VERDICT: _verdict_word(one),
            comparison_table.EXACT: show_number(one.p_sign_flip, 4),
            comparison_table.HOLM: show_number(one.p_holm, 4),
            "g": show_signed(one.hedges_g, 2),
            "seeds": str(one.num_seeds),
        }
        for one in known.itertuples()
    ]
    return pd.DataFrame(rows, dtype=object)


def _interval(one: Any, decimals: int) -> str:
    decides = "anytime" if one.criterion == "anytime" else "simultaneous"
    low, high = (getattr(one, f"{decides}_{end}") for end in ("low", "high"))
    return comparison_table.show_interval(Interval(low, high), decimals)


def effects_remarks(found: FactorEffects) -> list[str]:
    """Say what the design tells apart, and which seeds cannot count."""
    if not found.effects:
        return ["Factors: effects are estimated once every row of the design has begun."]
    texts = [f"Factors: {describe_design(found.effects, len(found.factors))}."]
    alike: dict[tuple[Any, ...], list[str]] = {}
    for name, levels in found.factors.items():
        alike.setdefault(levels, []).append(name)
    named = (f"{join_words(names)}: {first} (-) or {second} (+)" for (first, second), names in alike.items())
    texts.append(f"{'; '.join(named)}.")
    if found.num_dropped:
        texts.append(f"Left out, because rows of the design lack them: {counted(found.num_dropped, 'seed')}.")
    known = found.compared
    if known.empty:
        return [*texts, "No effect is compared: fewer than 3 seeds have every row of the design."]
    if found.is_anytime:
        least = least_n(1 - (1 - LEVEL) / len(known))
        shows = f"a confidence sequence needs at least {least} seeds to decide an effect."
    else:
        what = f"effect of {{}}{' points' * ('x100' in known['measure'].iloc[0])} (median over effects)"
        shows = show_power(known["resolvable"].median(), what)
    texts.append(f"{known['num_seeds'].iloc[0]} seeds and {len(known)} effects: {shows}")
    if (least := known["least_p_holm"].iloc[0]) > 1 - LEVEL:
        texts.append(f"The smallest possible p of the exact test here is {least:.3f} (Holm).")
    return texts


def with_effects(answer: StudyAnswer, comparison: Comparison, decimals: int) -> StudyAnswer:
    """Put a complete design's effects before the answer of its rows."""
    found, known = comparison.effects, comparison.effects.compared
    if not comparison.is_complete or not found.effects:
        return answer
    rows = f" {answer.text}" if comparison.baseline else ""
    if known.empty:
        return StudyAnswer(f"{effects_remarks(found)[-1]}{rows}")
    shown = known[known["verdict"].isin(SIDES)]
    candidates, most = (shown, MOST) if len(shown) else (known, 1)
    named = candidates.sort_values("mean", key=lambda means: -means.abs(), kind="stable")[:most]
    texts = join_words(
        f"{one.effect}{f' (with {one.aliases})' if one.aliases else ''} {show_signed(one.mean, decimals)} "
        f"{_interval(one, decimals)}"
        for one in named.itertuples()
    )
    how_many = f"{len(shown) or 'none'} {'differ' if len(shown) > 1 else 'differs'} from 0"
    largest = "" if len(named) == len(shown) else "the largest: "
    told = f"Of {counted(len(known), 'effect')} of {len(found.factors)} factors, {how_many}; {largest}{texts}"
    intervals = "confidence sequences" if found.is_anytime else "intervals"
    told = f"{told} (95% {intervals} for all effects at once).{rows}"
    is_apart = len(shown) > 0 or answer.shows_difference
    return StudyAnswer(told, is_settled=True, shows_difference=is_apart)


def with_planned(answer: StudyAnswer, comparison: Comparison, decimals: int) -> StudyAnswer:
    """Lead a complete grid's answer with its planned contrasts.

    Beside them, rows that lose to the baseline are named, and the effects of a design.
    """
    found, known = comparison.planned, comparison.planned.compared
    if not comparison.is_complete or found.frame.empty:
        return answer
    loses = any(one is not None and one.verdict == "worse" for one in comparison.compared.values())
    others = [answer.text] if loses or comparison.effects.effects else _troubles(comparison)
    end, row, mean = _best_row(comparison, decimals) or ("", "", "")
    best = f"{end.capitalize()} mean: {row}, {mean}." if row else ""
    if known.empty:
        return StudyAnswer(" ".join(filter(None, [*planned_notes(found), best, *others])))
    told = _few_contrasts(known, decimals) if len(known) <= MOST else _many_contrasts(known, decimals)
    intervals = f"{'confidence sequence' if found.is_anytime else 'interval'}{'s' * (len(known) > 1)}"
    at_once = f" for all {len(known)} at once" * (len(known) > 1)
    texts = [f"{told} (95% {intervals}{at_once}).", *planned_notes(found), best, *others]
    is_apart = any(one.verdict in SIDES and not _is_suggestive(one) for one in known.itertuples())
    return StudyAnswer(
        " ".join(filter(None, texts)), is_settled=True, shows_difference=is_apart or answer.shows_difference
    )


def _few_contrasts(known: pd.DataFrame, decimals: int) -> str:
    texts = [f"{one.contrast} is {_verdict(one)}, {_mean(one, decimals)}" for one in known.itertuples()]
    return f"Planned: {'; '.join(texts)}"


def _many_contrasts(known: pd.DataFrame, decimals: int) -> str:
    """Count the verdicts, and name the largest contrasts that are better or worse, if any are."""
    numbers = Counter(map(_verdict, known.itertuples()))
    counts = join_words(f"{num} {'is' if num == 1 else 'are'} {verdict}" for verdict, num in numbers.items())
    shown = known[known["verdict"].isin(SIDES)]
    named = shown if len(shown) else known
    named = named.loc[named["mean"].abs().nlargest(MOST).index]
    texts = join_words(f"{one.contrast} {_mean(one, decimals)}" for one in named.itertuples())
    return f"Of {len(known)} planned contrasts, {counts}; the largest: {texts}"


def _mean(one: Any, decimals: int) -> str:
    return f"{show_signed(one.mean, decimals)} {_interval(one, decimals)}"


def _verdict(one: Any) -> str:
    return f"the same{_rule_of(one).within}" if one.verdict == "same" else _verdict_word(one)


def _verdict_word(one: Any) -> str:
    so_far = " so far" if getattr(one, "waits", False) else ""
    return f"{one.verdict}{so_far}{', suggestive' if _is_suggestive(one) else ''}"


def _is_suggestive(one: Any) -> bool:
    deciding = Interval(
        one.simultaneous_low, one.simultaneous_high
    )  # of a confidence sequence nothing is suggestive
    return _rule_of(one).disagrees(deciding, one.p_holm, one.least_p_holm)


def _rule_of(one: Any) -> Criterion:
    """Return the criterion of a row of a frame."""
    is_lost = one.verdict == "undecided" and one.excludes_zero
    less = one.less_is_better
    return Criterion(
        one.criterion == "anytime", "", one.margin, one.unit, less_is_better=less, is_lost=is_lost
    )


def planned_notes(found: PlannedContrasts) -> list[str]:
    """Say which contrasts were planned after results, and which cannot be compared."""
    own = found.frame[found.frame["metric"] == ""]
    late, texts = own.loc[own["since"] != "", "since"], []
    if len(late):
        was = "was" if len(late) == 1 else "were"
        what = f"{len(late)} of {counted(len(own), 'contrast')} {was} entered in the file or changed"
        texts.append(f"{what} after there were results ({join_words(dict.fromkeys(late))}).")
    if found.lacking:
        texts.append(
            f"Not compared, because fewer than {MIN_SEEDS} seeds have all their rows: {'; '.join(found.lacking)}."
        )
    return texts
