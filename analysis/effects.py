"""Effects of a factorial design as an answer and as tables of text."""

from dataclasses import replace
from statistics import median

import pandas as pd

from analysis.answer import StudyAnswer
from analysis.comparison import Comparison
from analysis.comparison_table import EXACT, HOLM, show_interval
from analysis.formats import STAR, decimals_of, show_number, show_signed
from analysis.phrases import counted, join_words
from rse_study.results.comparisons import LEVEL, ComparedContrast
from rse_study.results.contrasts import contrast_numbers
from rse_study.results.effects import FactorEffects
from rse_study.results.factors import Effect, describe_design

ALIASES = "and, in its sum"
AT_ONCE = "95 %, all effects at once"
MOST = 3  # effects that an answer names


def effects_table(found: FactorEffects, decimals: int = 2) -> pd.DataFrame:
    """Return a row of text per effect on the objective."""
    rows = [
        {"effect": effect.name, ALIASES: effect.aliases} | (_texts(one, decimals) if one else {})
        for effect, one in zip(found.effects, found.objective, strict=True)
    ]
    return _without_empty(pd.DataFrame(rows, dtype=object).fillna(""))


def _texts(one: ComparedContrast, decimals: int) -> dict[str, str]:
    return {
        "difference": show_signed(one.mean, decimals),
        AT_ONCE: show_interval(one.simultaneous, decimals),
        EXACT: show_number(one.p_exact, 4),
        HOLM: show_number(one.p_holm, 4),
        "g": show_signed(one.effect, 2),
        "seeds": str(one.n),
    }


def printed_effects(found: FactorEffects) -> pd.DataFrame:
    """Return the table for a paper: each measure's differences, with a star where the interval excludes 0."""
    table = pd.DataFrame(
        {"effect": [one.name for one in found.effects], ALIASES: [one.aliases for one in found.effects]}
    )
    for measure, compared in found.by_measure.items():
        table[measure] = [_printed(one, decimals_of(measure)) if one else "" for one in compared]
    return _without_empty(table)


def _printed(one: ComparedContrast, decimals: int) -> str:
    star = STAR if one.simultaneous.excludes(0.0) else ""
    return f"{show_signed(one.mean, decimals)}{star} {show_interval(one.simultaneous, decimals)}"


def _without_empty(table: pd.DataFrame) -> pd.DataFrame:
    return table if len(table) and table[ALIASES].any() else table.drop(columns=ALIASES, errors="ignore")


def effects_of_numbers(found: FactorEffects) -> pd.DataFrame:
    """Return all statistics of every effect and measure, for programs."""
    rows = [
        {"measure": measure, "effect": effect.name, "aliases": effect.aliases, "n": one.n, "mean": one.mean}
        | contrast_numbers(one)
        for measure, compared in found.by_measure.items()
        for effect, one in zip(found.effects, compared, strict=True)
        if one is not None
    ]
    return pd.DataFrame(rows)


def effects_remarks(found: FactorEffects) -> list[str]:
    """Say what the design tells apart, and which seeds cannot count."""
    if not found.effects:
        return ["Factors: no effect before every row of the design has begun."]
    texts = [f"Factors: {describe_design(found.effects, len(found.factors))}."]
    texts += [f"{name} is {first} (-) or {second} (+)." for name, (first, second) in found.factors.items()]
    if found.num_dropped:
        are = "counts" if found.num_dropped == 1 else "count"
        texts.append(
            f"{counted(found.num_dropped, 'seed')} {are} for no effect: rows of the design lack them."
        )
    known = [one for one in found.objective if one]
    if not known:
        return [*texts, "No effect is compared: fewer than 3 seeds have every row of the design."]
    n, resolvable, least = known[0].n, median(one.resolvable for one in known), known[0].least_p_holm
    texts.append(
        f"{n} seeds and {len(known)} effects: a true effect of {resolvable:.2f} points (median over effects) would be "
        "found in 4 of 5 such studies."
    )
    if least > 1 - LEVEL:
        texts.append(f"The exact test cannot reach p < 0.05 here: it gives {least:.3f} (Holm) at best.")
    return texts


def with_effects(answer: StudyAnswer, comparison: Comparison, decimals: int) -> StudyAnswer:
    """Put a factorial design's effects before the answer of its rows, once all cells have ended."""
    found = comparison.effects
    if found is None or not comparison.is_complete or not found.effects:
        return answer
    known = [(effect, one) for effect, one in zip(found.effects, found.objective, strict=True) if one]
    rows = f" {answer.text}" if comparison.baseline else ""
    if not known:
        return replace(answer, text=f"{effects_remarks(found)[-1]}{rows}")
    shown = [(effect, one) for effect, one in known if one.simultaneous.excludes(0.0)]
    named = sorted(shown or known, key=lambda pair: -abs(pair[1].mean))[: MOST if shown else 1]
    texts = join_words(_told(effect, one, decimals) for effect, one in named)
    of = f"of {counted(len(known), 'effect')} of {len(found.factors)} factors"
    how_many = f"{len(shown)} {'is' if len(shown) == 1 else 'are'} shown" if shown else "none is shown"
    largest = "" if len(named) == len(shown) else "the largest: "
    told = f"O{of[1:]}, {how_many}; {largest}{texts} (95 % intervals for all effects at once)."
    return StudyAnswer(
        f"{told}{rows}", is_settled=True, shows_difference=bool(shown) or answer.shows_difference
    )


def _told(effect: Effect, one: ComparedContrast, decimals: int) -> str:
    summed = f" (with {effect.aliases})" if effect.aliases else ""
    return (
        f"{effect.name}{summed} {show_signed(one.mean, decimals)} {show_interval(one.simultaneous, decimals)}"
    )
