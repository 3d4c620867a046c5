"""Captions of tables for papers: the measure, the seeds, the meaning of marks."""

import re

import pandas as pd

from analysis.comparison import SCALES, Comparison
from analysis.formats import DEGENERATE, MINUS, PLUS_MINUS, STAR, counted
from analysis.paper.ids import table_ids
from analysis.paper.tables import read_table
from rse_study.results.comparing.factors import describe_design

PAPERS = {"rse": "RobustSentEmbed", "l2p": "L2P-CSR", "vadv": "V-advCSE", "dcl": "DCL"}
GROUPS = "Rows that share a letter cannot be told apart."
PLACE_NAME = re.compile(r"(\w+?)-(table|figure|section)-?([a-z]?)(\d+)")
STAR_MEANING = "the interval of the difference, with those of all others, excludes 0."


def place_name(place: str) -> str:
    """Return a table or figure of a paper as people name it.

    >>> place_name("rse-table6"), place_name("rse-section-b4")
    ('Table 6 of RobustSentEmbed', 'Section B.4 of RobustSentEmbed')
    """
    found = PLACE_NAME.fullmatch(place)
    if not found or found[1] not in PAPERS:
        return place
    paper, kind, letter, number = found.groups()
    return f"{kind.capitalize()} {f'{letter.upper()}.' if letter else ''}{number} of {PAPERS[paper]}"


def rows_caption(comparison: Comparison, table: pd.DataFrame) -> str:
    """Return the caption of a grid's rows with differences and the paper's numbers."""
    theirs = f" The paper's: {_paper_column(comparison.table)}." if comparison.printed else ""
    minus = (
        f" Differences from {comparison.baseline} are paired by seed. {comparison.criterion_text}"
        if comparison.compared
        else ""
    )
    groups = f" {GROUPS}" if comparison.letters else ""
    ours = f"{comparison.name}: {comparison.label}. "
    told = f"{ours}{_encoder_and_seeds(comparison)}{theirs}{minus}{groups}{_scale(comparison)}"
    return f"{told}{marks(table, STAR_MEANING)}"


def columns_caption(comparison: Comparison, table: pd.DataFrame) -> str:
    """Return the caption of a table in the paper's own layout."""
    what = f"{comparison.name}: ours, and in parentheses the paper's ({place_name(comparison.table)}). "
    return f"{what}{_encoder_and_seeds(comparison)}{_scale(comparison)}{marks(table, STAR_MEANING)}"


def effects_caption(comparison: Comparison) -> str:
    """Return the caption of the effects of a factorial design."""
    design, _, _ = describe_design(comparison.effects.effects, len(comparison.effects.factors)).partition(":")
    encoder = f" Encoder {comparison.encoder}." if comparison.encoder else ""
    how = "differences between two levels; their 95% intervals hold for all effects at once."
    told = f"{comparison.name}: {comparison.label}. {design.capitalize()}: {how}{encoder}"
    return f"{told}{so_far(comparison.is_complete)}{_scale(comparison)}"


def scores_caption(name: str, encoder: str, num_seeds: int, minus: str, table: pd.DataFrame) -> str:
    """Return the caption of all results; stars are about differences from `minus`."""
    apart = f"the difference from {minus} is decided by the interval for all rows of the measure at once."
    return f"{name}: every measure of its results. {seeds_text(encoder, num_seeds)}{marks(table, apart)}"


def seeds_text(encoder: str, num_seeds: int) -> str:
    """Return the encoder, and the number of seeds behind a mean."""
    what = f"Encoder {encoder}; " if encoder else ""
    spread = f" {PLUS_MINUS} standard deviation (n {MINUS} 1)" if num_seeds > 1 else ""
    text = f"{what}mean{spread} over {counted(num_seeds, 'seed')}."
    return text[0].upper() + text[1:]


def so_far(is_complete: bool) -> str:
    """Say that a study still runs."""
    return "" if is_complete else " Cells are still to run: what is marked here is so far."


def marks(table: pd.DataFrame, apart: str) -> str:
    """Return the meaning of the marks that occur in a table; `apart` explains a star."""
    text = "".join(str(value) for row in table.itertuples(index=False) for value in row)
    star = f" {STAR} {apart}" if STAR in text else ""
    return f"{star} {DEGENERATE} The score of a collapsed model." if DEGENERATE in text else star


def _encoder_and_seeds(comparison: Comparison) -> str:
    return seeds_text(comparison.encoder, comparison.num_seeds) + so_far(comparison.is_complete)


def _paper_column(table: str) -> str:
    place = place_name(table)
    return f"{place}, column {read_table(table)['column'].iloc[0]}" if table in table_ids() else place


def _scale(comparison: Comparison) -> str:
    caption = SCALES[comparison.scale].caption
    return f" {caption}" if comparison.table and caption else ""
