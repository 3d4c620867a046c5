"""Effects of a factorial design as an answer and as tables of text."""

from typing import Any

import pandas as pd

from analysis.answer import StudyAnswer
from analysis.comparison import Comparison
from analysis.comparison_table import ANYTIME, EXACT, HOLM, VERDICT, show_interval
from analysis.formats import counted, join_words, show_number, show_power, show_signed
from rse_study.results.comparing.comparisons import LEVEL
from rse_study.results.comparing.contrasts import FactorEffects
from rse_study.results.comparing.factors import describe_design
from rse_study.results.statistics import Interval, least_n

ALIASES = "and, in its sum"
MOST = 3  # effects that an answer names


def effects_table(found: FactorEffects, decimals: int = 2) -> pd.DataFrame:
    """Return a row of text per effect on the objective."""
    known = found.compared
    interval = ANYTIME if _is_anytime(known) else "95%, all effects at once"
    rows = [
        {
            "effect": one.effect,
            ALIASES: one.aliases,
            "difference": show_signed(one.mean, decimals),
            interval: _interval(one, decimals),
            VERDICT: one.verdict,
            EXACT: show_number(one.p_sign_flip, 4),
            HOLM: show_number(one.p_holm, 4),
            "g": show_signed(one.hedges_g, 2),
            "seeds": str(one.num_seeds),
        }
        for one in known.itertuples()
    ]
    table = pd.DataFrame(rows, dtype=object)
    has_aliases = any(one.aliases for one in found.effects)
    return table if has_aliases else table.drop(columns=ALIASES, errors="ignore")


def _interval(one: Any, decimals: int) -> str:
    is_anytime = one.criterion == "anytime"
    low, high = (
        (one.anytime_low, one.anytime_high) if is_anytime else (one.simultaneous_low, one.simultaneous_high)
    )
    return show_interval(Interval(low, high), decimals)


def _is_anytime(known: pd.DataFrame) -> bool:
    return bool((known["criterion"] == "anytime").any())


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
    if _is_anytime(known):
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
    shown = known[known["verdict"].isin(("better", "worse"))]
    candidates, most = (shown, MOST) if len(shown) else (known, 1)
    named = candidates.sort_values("mean", key=lambda means: -means.abs(), kind="stable")[:most]
    texts = join_words(
        f"{one.effect}{f' (with {one.aliases})' if one.aliases else ''} {show_signed(one.mean, decimals)} "
        f"{_interval(one, decimals)}"
        for one in named.itertuples()
    )
    how_many = f"{len(shown)} {'is' if len(shown) == 1 else 'are'} shown" if len(shown) else "none is shown"
    largest = "" if len(named) == len(shown) else "the largest: "
    told = f"Of {counted(len(known), 'effect')} of {len(found.factors)} factors, {how_many}; {largest}{texts}"
    intervals = "confidence sequences" if _is_anytime(known) else "intervals"
    told = f"{told} (95% {intervals} for all effects at once).{rows}"
    is_apart = len(shown) > 0 or answer.shows_difference
    return StudyAnswer(told, is_settled=True, shows_difference=is_apart)
