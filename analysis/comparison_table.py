"""A comparison as tables of text: rows next to the paper's, claims with verdicts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import isinf
from statistics import median

import pandas as pd

from analysis import formats
from analysis.comparison import SCALES, Comparison
from analysis.scores import MEANING
from rse_study.results.comparing.claims import Judged
from rse_study.results.comparing.comparisons import ComparedContrast
from rse_study.results.comparing.criterion import LEVEL
from rse_study.results.records import BASELINES
from rse_study.results.statistics import Interval, least_n

UNNAMED = "other representations"  # as figure 3 of RobustSentEmbed calls what it does not name
EXACT = "p (sign-flip)"
HOLM = "p (Holm)"
GROUPS = (
    "Rows that share a letter (column group) cannot be told apart: no interval over all pairs of rows excludes 0 and "
    "leaves the margin."
)
NOT_AGAIN = "A failed cell is not rerun unchanged: change its row or the base, then run the study again."
BETTER = "better seeds"  # their number
COMPUTE = "compute"  # of training, as a multiple of the baseline's
VERDICT, GROUP = "verdict", "group"
INTERVAL, ANYTIME = "95%, all rows at once", "95%, at any time"
MANY_SEEDS = 20  # more are not named
OWN = ("paper", "mean", "SD", "seeds")  # columns of every row, in this order


def rows_table(comparison: Comparison, decimals: int = 2) -> pd.DataFrame:
    """Return a row per row of the grid, below the untrained baselines.

    Columns: paper, mean, SD, seeds, the mean at the last step beside one at the kept checkpoint, the computation of
    training where rows differ in it, and against the baseline: difference, the interval that decides, verdict, exact p
    and p after Holm, Hedges' g, and the seeds with which the row is better; last the letters of its groups.
    """
    return _table(comparison, _row, decimals, OWN)


def printed_rows(comparison: Comparison, decimals: int = 2) -> pd.DataFrame:
    """Return the table for a paper: mean ± SD, difference, verdict and group."""
    return _table(comparison, _printed_row, decimals, ("paper", "ours"))


def _table(
    comparison: Comparison,
    show: Callable[[Comparison, str, int], dict[str, str]],
    decimals: int,
    columns: Sequence[str],
) -> pd.DataFrame:
    """Baselines, then rows in the paper's order; the second of `columns` is the score."""
    fixed = [
        {"row": row, columns[1]: formats.show_measured(value, decimals, row in comparison.degenerate)}
        for row, value in comparison.fixed.items()
    ]
    ours = list(comparison.scores.table.index)
    ordered = dict.fromkeys([*(comparison.printed if ours else ()), *ours])
    own = [
        show(comparison, row, decimals) if row in ours else _absent_row(comparison, row, decimals)
        for row in ordered
        if row not in comparison.fixed
    ]
    names = dict.fromkeys(["row", *columns, *(name for row in own for name in row)])
    table = pd.DataFrame([*fixed, *own], columns=list(names), dtype=object).fillna("")
    return table if comparison.printed else table.drop(columns="paper")


def absent(row: str, *, is_open: bool) -> str:
    """Name a row that the paper alone has, and why.

    `is_open` says that some cells are not planned yet.
    """
    if row == UNNAMED:
        return f"{row} (the paper does not say which)"
    why = "not measured" if row in BASELINES.values() else "no cells yet" if is_open else "not trained"
    return f"{row} ({why})"


def _absent_row(comparison: Comparison, row: str, decimals: int) -> dict[str, str]:
    name = absent(row, is_open=comparison.scores.num_unplanned > 0)
    return {"row": name, "paper": formats.show_number(comparison.printed[row], decimals)}


def _printed_row(comparison: Comparison, row: str, decimals: int) -> dict[str, str]:
    values, one = comparison.scores.table.loc[row].dropna(), comparison.compared.get(row)
    mean = formats.show_measured(values.mean(), decimals, row in comparison.degenerate)
    own = {
        "row": row,
        "paper": formats.show_number(comparison.printed.get(row, float("nan")), decimals),
        "ours": formats.show_spread(mean, values.std(ddof=1), decimals),
    }
    if comparison.baseline:
        own |= {f"minus {comparison.baseline}, 95%": show_difference(one, decimals) if one else ""}
        own |= {VERDICT: verdict_word(one)}
    return own | _group(comparison, row)


def _row(comparison: Comparison, row: str, decimals: int) -> dict[str, str]:
    values = comparison.scores.table.loc[row].dropna()
    own = {
        "row": row,
        "paper": formats.show_number(comparison.printed.get(row, float("nan")), decimals),
        "mean": formats.show_measured(values.mean(), decimals, row in comparison.degenerate),
        "SD": formats.show_number(values.std(ddof=1), decimals),
        "seeds": str(len(values)),
    }
    if comparison.last_step:
        own["last step"] = formats.show_number(comparison.last_step.get(row, float("nan")), decimals)
    if comparison.compute:
        multiple = comparison.compute.get(row, float("nan"))
        own[COMPUTE] = "" if multiple != multiple else f"{multiple:.2g} x"
    if not comparison.baseline:
        return own | _group(comparison, row)
    return own | _differences(comparison, comparison.compared.get(row), decimals) | _group(comparison, row)


def _group(comparison: Comparison, row: str) -> dict[str, str]:
    return {GROUP: comparison.letters.get(row, "")} if comparison.letters else {}


def verdict_word(one: ComparedContrast | None) -> str:
    """Return the verdict on a row, marked if it is only suggestive."""
    if one is None:
        return ""
    verdict = f"{one.verdict}{one.criterion.so_far}"
    return f"{verdict}, suggestive" if one.is_suggestive else verdict


def _differences(comparison: Comparison, one: ComparedContrast | None, decimals: int) -> dict[str, str]:
    minus = f"minus {comparison.baseline}"
    interval = ANYTIME if comparison.scores.criterion.is_anytime else INTERVAL
    if one is None:
        return dict.fromkeys((minus, interval, VERDICT, EXACT, HOLM, "g", BETTER), "")
    return {
        minus: formats.show_signed(one.mean, decimals),
        interval: show_interval(one.deciding, decimals),
        VERDICT: verdict_word(one),
        EXACT: formats.show_number(one.p_exact, 4),
        HOLM: formats.show_number(one.p_holm, 4),
        "g": formats.show_signed(one.effect, 2),
        BETTER: show_better_seeds(one, less_is_better=comparison.scores.less_is_better),
    }


def show_better_seeds(one: ComparedContrast, *, less_is_better: bool) -> str:
    """Show how many seeds are better, and the exceptions: "2 of 3, not 1"."""
    better = one.better_seeds(less_is_better=less_is_better)
    worse = [seed for seed in one.by_seed if seed not in better]
    told = f"{len(better)} of {one.n}"
    if not better or not worse or one.n > MANY_SEEDS:
        return told
    fewer = f", not {_seed_list(worse)}" if len(worse) <= len(better) else f": {_seed_list(better)}"
    return f"{told}{fewer}"


def _seed_list(seeds: Iterable[int]) -> str:
    return ", ".join(map(str, seeds))


def claims_table(comparison: Comparison, decimals: int = 2) -> pd.DataFrame:
    """Return a row per claim: the paper's words, verdict and deciding contrast."""
    rows = [
        {
            "claim": judged.claim.says,
            "verdict": comparison.words(judged),
            "difference": _shown(judged, formats.decimals_of(judged.claim.measure, decimals)),
            "source": judged.claim.source,
        }
        for judged in comparison.judged
    ]
    return pd.DataFrame(rows, columns=["claim", "verdict", "difference", "source"], dtype=object)


def _shown(judged: Judged, decimals: int) -> str:
    if judged.in_columns:
        won, lost = (judged.in_columns.count(verdict) for verdict in ("reproduced", "contradicted"))
        return f"best in {won} of {len(judged.in_columns)} columns, beaten in {lost}"
    one, number = judged.deciding, sum(other is not None for other in judged.compared)
    if one is None:
        return ""
    of = f" (the deciding one of {number} contrasts)" if number > 1 else ""
    text = show_difference(one, decimals)
    margin = judged.claim.margin if judged.claim.kind != "share" else 0.0
    within = (
        f", within {margin:g}" if judged.claim.kind == "flat" else f", more than {margin:g}" if margin else ""
    )
    return f"{names_of(one)}: {text}{within}{of}"


def names_of(one: ComparedContrast) -> str:
    """Name a contrast: "rho = 0.5 minus rho = 0", or the two ends of a trend."""
    rows = sorted(one.weights, key=lambda row: one.weights[row], reverse=True)
    if len(rows) == 1:
        return rows[0]
    if len(rows) > 2:
        return f"{rows[0]} minus {rows[-1]} along their line"
    shares = [abs(one.weights[row]) for row in rows]
    first, second = (
        row if share == 1 else f"{share:g} x {row}" for row, share in zip(rows, shares, strict=True)
    )
    return f"{first} minus {second}"


def show_interval(interval: Interval, decimals: int = 2) -> str:
    """Show an interval with the signs of both ends, or that it has none.

    >>> show_interval(Interval(0.1, 1.2))
    '[+0.10, +1.20]'
    """
    if isinf(interval.low):
        return "[no bounds yet]"
    return f"[{formats.show_signed(interval.low, decimals)}, {formats.show_signed(interval.high, decimals)}]"


def show_difference(one: ComparedContrast, decimals: int = 2) -> str:
    """Show a mean difference with the interval that decides."""
    return f"{formats.show_signed(one.mean, decimals)} {show_interval(one.deciding, decimals)}"


def _left(num_open: int, num_unplanned: int) -> str:
    parts = [f"cells of {formats.counted(num_open, 'row')} are still to run"] if num_open else []
    parts += [f"{formats.counted(num_unplanned, 'cell')} not planned yet"] if num_unplanned else []
    return f"Incomplete: {', '.join(parts)}."


def remarks(comparison: Comparison) -> list[str]:
    """Say in sentences what this many seeds can and cannot show."""
    contrasts = [one for one in comparison.compared.values() if one]
    texts = []
    if not comparison.is_complete:
        texts.append(_left(len(comparison.scores.open_rows), comparison.scores.num_unplanned))
    said = (comparison.criterion_text, suggestive_text(comparison.compared), resolution_text(comparison))
    texts += filter(None, (*said, comparison.scores.criterion.assumption))
    if contrasts:
        n, m = min(one.n for one in contrasts), len(contrasts)
        least = max(one.least_p_holm for one in contrasts)
        if least > 0.05:
            texts.append(
                f"With {n} seeds and {m} comparisons, the smallest possible p of the exact test is {least:.3f}, so p "
                "neither supports nor contradicts a verdict."
            )
    failed = comparison.scores.failed_rows
    if failed:
        texts.append(f"Cells of {formats.join_words(failed)} failed. {NOT_AGAIN}")
    if bare := sorted(set(comparison.scores.criterion.lost).difference(failed)):
        texts.append(
            f"Cells of {formats.join_words(bare)} are complete without a finite score: no run repeats them."
        )
    too_few = [row for row, one in comparison.compared.items() if one is None]
    if too_few and comparison.baseline in failed:
        texts.append(f"The baseline, {comparison.baseline}, is one of them, so nothing is compared.")
    elif too_few:
        shared = f"Fewer than 3 seeds, too few for an interval, are shared with {comparison.baseline} by"
        texts.append(f"{shared} {formats.join_words(too_few)}.")
    if comparison.letters:
        texts.append(GROUPS)
    contrasts_of_claims = list(chain.from_iterable(judged.compared for judged in comparison.judged))
    if contrasts_of_claims:
        beyond = " A claim is contradicted only beyond the margin." * (comparison.scores.criterion.margin > 0)
        texts.append(
            f"The claims rest on {formats.counted(len(contrasts_of_claims), 'contrast')} with simultaneous 95% "
            f"intervals; the rule was fixed before the study ran.{beyond}"
        )
    if comparison.degenerate:
        texts.append(f"{formats.DEGENERATE} {MEANING}")
    texts += filter(None, (comparison.stale, comparison.devices))
    if limits := SCALES[comparison.scale].limits:
        texts.append(limits)
    return texts


def resolution_text(comparison: Comparison) -> str:
    """Say which difference these seeds can resolve; "" where nothing is compared."""
    known = [one for one in comparison.compared.values() if one]
    if not known:
        return ""
    n, m = min(one.n for one in known), len(known)
    compared = f"{n} seeds and {formats.counted(m, 'comparison')} with {comparison.baseline}"
    if not any(one.criterion.is_anytime for one in known):
        what = f"difference of {{}}{' points' * ('x100' in comparison.label)} (median over rows)"
        return f"{compared}: {formats.show_power(comparison.resolvable, what)}"
    reach = median((one.deciding.high - one.deciding.low) / 2 for one in known)
    if isinf(reach):
        least = least_n(1 - (1 - LEVEL) / m)
        return f"{compared}: a confidence sequence needs at least {least} seeds to decide a row."
    return f"{compared}: the half-width of the intervals is {reach:.2f} (median over rows)."


def suggestive_text(compared: Mapping[str, ComparedContrast | None]) -> str:
    """Name the rows whose verdict and Holm's p disagree; "" without any."""
    rows = {row: one for row, one in compared.items() if one and one.is_suggestive}
    told = formats.join_words(f"{row} (p = {one.p_holm:.4f})" for row, one in rows.items())
    return f"Only suggestive, because the interval and Holm's p disagree: {told}." if rows else ""
