"""A study's tables for papers: the paper's layout, captions, CSV and LaTeX."""

import re
from pathlib import Path

import pandas as pd

from analysis import search
from analysis.answer import family_table, planned_notes
from analysis.columns_table import columns_of_numbers, printed_table
from analysis.comparison import SCALES, Comparison, comparison_of
from analysis.comparison_table import claims_table, printed_rows, rows_table
from analysis.contents import Contents, contents_of
from analysis.formats import DEGENERATE, MINUS, PLUS_MINUS, STAR, counted, show_measured, show_spread
from analysis.paper.kit import latex
from analysis.paper.tables import read_table, table_ids
from analysis.scores import measures_of, result_scores, summarise
from rse_study.frames.study_results import StudyResults
from rse_study.results.comparing.contrasts import contrast_numbers
from rse_study.results.comparing.factors import describe_design
from rse_study.results.export import csv_text
from rse_study.results.files.atomic import write_whole

PAPERS = {"rse": "RobustSentEmbed", "l2p": "L2P-CSR", "vadv": "V-advCSE", "dcl": "DCL"}
GROUPS = "Rows that share a letter cannot be told apart."
PLACE_NAME = re.compile(r"(\w+?)-(table|figure|section)-?([a-z]?)(\d+)")
STAR_MEANING = "the interval of the difference, with those of all others, excludes 0."


def write_layouts(comparison: Comparison, folder: Path, cited: str = "") -> list[Path]:
    """Write a study's files into a folder, which is created, and return them.

    `<study>.csv` (with every difference as a number), `.tex`, `-contrasts.csv` if there is a baseline, `-planned.csv`
    and `-planned.tex` if the study's file plans contrasts, `-claims.csv` if there are claims, `-effects.csv` and
    `-effects.tex` of a factorial design, and `-columns.csv` and `-columns.tex` if the columns of the paper's table have
    metrics of their own. `cited` identifies the study in a LaTeX comment.
    """
    table = rows_table(comparison)
    plain = table.apply(lambda column: column if column.name == "row" else column.str.replace(MINUS, "-"))
    contrasts, claims = contrasts_of(comparison), claims_table(comparison)
    texts = {".csv": csv_text(plain)}
    texts |= {"-contrasts.csv": csv_text(contrasts)} if len(contrasts) else {}
    if comparison.effects.factors:
        texts["-effects.csv"] = csv_text(comparison.effects.frame)
    texts |= {"-planned.csv": csv_text(comparison.planned.frame)} if len(comparison.planned.frame) else {}
    texts |= {"-claims.csv": csv_text(claims)} if len(claims) else {}
    if comparison.columns:
        texts["-columns.csv"] = csv_text(columns_of_numbers(comparison.columns))
    texts |= latex_layouts(comparison, cited)
    return [write_whole(folder / f"{comparison.name}{ending}", text) for ending, text in texts.items()]


def latex_layouts(comparison: Comparison, cited: str = "") -> dict[str, str]:
    """Return the LaTeX tables by their file's ending: rows, and the paper's columns."""
    comment = [cited] if cited else []
    label = re.sub(r"[^A-Za-z0-9]+", "-", comparison.name)
    rows = printed_rows(comparison)
    texts = {".tex": latex(rows, rows_caption(comparison, rows), comment, label)}
    if comparison.columns:
        table = printed_table(comparison.columns)
        texts["-columns.tex"] = latex(table, columns_caption(comparison, table), comment, f"{label}-columns")
    if len(effects := family_table(comparison.effects)):
        texts["-effects.tex"] = latex(effects, effects_caption(comparison), comment, f"{label}-effects")
    if len(planned := family_table(comparison.planned)):
        texts["-planned.tex"] = latex(planned, planned_caption(comparison), comment, f"{label}-planned")
    return texts


def contrasts_of(comparison: Comparison) -> pd.DataFrame:
    """Return all statistics of each row's differences; BCa is empty below 6 seeds."""
    rows = [
        {"row": row, "minus": comparison.baseline, "n": one.n, "mean": one.mean, **contrast_numbers(one)}
        for row, one in comparison.compared.items()
        if one is not None
    ]
    return pd.DataFrame(rows)


def write_latex(study: StudyResults, folder: Path) -> list[Path]:
    """Write every table into a folder, which is created, and return the files."""
    contents, comparison = contents_of(study), comparison_of(study)
    comment, label = [study.citation], re.sub(r"[^A-Za-z0-9]+", "-", study.name)
    texts = latex_layouts(comparison, study.citation) if comparison else {}
    measured = scores_table(contents, study.contrasts)
    if len(measured):
        texts["-scores.tex"] = latex(measured, _caption(study, measured), comment, f"{label}-scores")
    trials = search.trials(contents) if study.record.kind == "search" else pd.DataFrame({"best": []})
    if trials["best"].any():
        setting = search.settings(contents, trials).drop(columns="writes")
        caption = f"{study.name}: the best trial's setting, the base's, and what was searched."
        texts["-setting.tex"] = latex(setting, caption, comment, f"{label}-setting")
    return [write_whole(folder / f"{study.name}{ending}", text) for ending, text in texts.items()]


def scores_table(contents: Contents, contrasts: pd.DataFrame) -> pd.DataFrame:
    """Return mean ± SD by row and measure, with a star if better or worse."""
    means = summarise(result_scores(contents)).dropna(subset="mean")
    metrics = measures_of(contents.study, contents.label)
    metrics[contents.label] = ""
    starred = contrasts[contrasts["verdict"].isin(["better", "worse"])]
    apart = set(zip(starred["row"], starred["metric"], strict=True))
    decimals = contents.decimals_by_measure
    texts = [
        show_spread(
            show_measured(one.mean, decimals[one.measure], one.degenerate),
            one.sd,
            decimals[one.measure],
            (_plain(one.row), metrics[one.measure]) in apart,
        )
        for one in means.itertuples()
    ]
    wide = means.assign(text=texts).pivot(index=["position", "row"], columns="measure", values="text")
    shown = [measure for measure in metrics if measure in wide.columns]
    return wide[shown].fillna("").droplevel("position").reset_index().rename_axis(columns=None)


def _plain(row: str) -> str:
    """Name a confirmed trial as contrasts do, without its role in parentheses."""
    return re.sub(r"^(trial \d+) \(.*\)$", r"\1", row)


def _caption(study: StudyResults, table: pd.DataFrame) -> str:
    cells = study.cells[study.cells["stage"].isin(["grid", "confirm"])]
    num_seeds = cells.loc[cells["status"] == "complete", "seed"].nunique()
    minus = study.contrasts["minus"].iloc[0] if len(study.contrasts) else ""
    is_complete = not cells["status"].isin(["planned", "running"]).any()
    caption = scores_caption(study.name, study.record.encoder, num_seeds, minus, table)
    return f"{caption}{so_far(is_complete)}"


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


def planned_caption(comparison: Comparison) -> str:
    """Return the caption of the planned contrasts."""
    encoder = f" Encoder {comparison.encoder}." if comparison.encoder else ""
    how = "Planned contrasts of rows, paired by seed; their 95% intervals hold for all of them at once."
    told = " ".join(
        [f"{comparison.name}: {comparison.label}. {how}{encoder}", *planned_notes(comparison.planned)]
    )
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
