"""Columns of a study's public frames, which docs/notebooks.md lists."""

from typing import NamedTuple

import pandas as pd

TEXT, TRUTH, NUMBER, WHOLE, WHOLE_OR_MISSING = "str", "bool", "float64", "int64", "Int64"
TIME = "datetime64[us, UTC]"


class FrameColumn(NamedTuple):
    """A column of a public frame."""

    name: str
    dtype: str
    meaning: str
    """Includes the unit."""


OF_A_CELL = (
    FrameColumn("row", TEXT, "what the cell's trial is called: a grid's row, `base`, `trial 3`"),
    FrameColumn("stage", TEXT, "`grid`, `search`, `confirm` or `path`"),
    FrameColumn("trial", WHOLE, "number of the trial, from 0"),
    FrameColumn("seed", WHOLE, "the cell's seed"),
)
OF_A_DIFFERENCE = (
    FrameColumn("measure", TEXT, "what readers call the score"),
    FrameColumn("metric", TEXT, "as in evaluations; empty: the objective at the last step"),
    FrameColumn("row", TEXT, "the row that is compared"),
    FrameColumn("minus", TEXT, "the row it is compared with: the grid's baseline, the search's base"),
)
COLUMNS: dict[str, tuple[FrameColumn, ...]] = {
    "cells": (
        FrameColumn("identity", TEXT, "sha256 of trial, seed and materials"),
        *OF_A_CELL,
        FrameColumn("label", TEXT, "the row's own name in the study's file, or empty"),
        FrameColumn("status", TEXT, "`complete`, `stopped_early`, `failed`, `running`, `planned`"),
        FrameColumn("objective", NUMBER, "at the last step or kept checkpoint; NaN without a result"),
        FrameColumn("t", WHOLE_OR_MISSING, "the last step with an objective, in optimiser steps"),
        FrameColumn("duration_s", NUMBER, "seconds of training and scoring; 0 where it has not ended"),
        FrameColumn("started", TIME, "when its newest attempt began"),
        FrameColumn("ended", TIME, "when its newest attempt ended, or it was found in another study"),
        FrameColumn("reason", TEXT, "why it failed, or empty"),
    ),
    "metrics": (
        FrameColumn("cell", TEXT, "identity of the cell"),
        *OF_A_CELL,
        FrameColumn("t", WHOLE, "optimiser steps done"),
        FrameColumn("name", TEXT, "of the metric: `loss`, `dev`, `STS-B/test/all`"),
        FrameColumn("value", NUMBER, "in the metric's own unit; NaN where it was NaN"),
    ),
    "evaluations": (
        FrameColumn("subject", TEXT, "identity of the cell, or a baseline: `untrained`, `token_overlap`"),
        FrameColumn("row", TEXT, "as in cells; of a baseline what readers call it"),
        FrameColumn("kind", TEXT, "`cell` or `baseline`"),
        FrameColumn("stage", TEXT, "as in cells; empty of a baseline"),
        FrameColumn("trial", WHOLE_OR_MISSING, "as in cells; missing of a baseline"),
        FrameColumn("seed", WHOLE_OR_MISSING, "as in cells; missing of a baseline"),
        FrameColumn("evaluation", TEXT, "its name in the study's file: `STS-B/test`, `attack-mr/pwws`"),
        FrameColumn("metric", TEXT, "evaluation/aggregation: `STS-B/test/all`"),
        FrameColumn("value", NUMBER, "Spearman, accuracy and shares are x 100; others in their own unit"),
        FrameColumn("less_is_better", TRUTH, "whether an encoder should have little of it"),
        FrameColumn("num_examples", WHOLE, "examples it was measured on"),
        FrameColumn("num_skipped", WHOLE, "examples that could not count"),
        FrameColumn("degenerate", TRUTH, "measured on a model that says one and the same of everything"),
        FrameColumn("fingerprint", TEXT, "sha256 of data and settings; empty in old ledgers"),
    ),
    "contrasts": (
        *OF_A_DIFFERENCE,
        FrameColumn("num_seeds", WHOLE, "seeds that both have"),
        FrameColumn("mean", NUMBER, "of the differences, in the unit of the measure"),
        FrameColumn("sd", NUMBER, "of the differences over seeds, n - 1 below"),
        FrameColumn("t_low", NUMBER, "95% interval of the mean by Student's t, alone"),
        FrameColumn("t_high", NUMBER, "its upper end"),
        FrameColumn("simultaneous_low", NUMBER, "the same, of all rows of the measure at once"),
        FrameColumn("simultaneous_high", NUMBER, "its upper end"),
        FrameColumn("bca_low", NUMBER, "by the bootstrap (BCa), alone; NaN below 6 seeds"),
        FrameColumn("bca_high", NUMBER, "its upper end"),
        FrameColumn("p_sign_flip", NUMBER, "exact sign-flip test, two-sided, alone"),
        FrameColumn("p_wilcoxon", NUMBER, "signed-rank test, two-sided, alone"),
        FrameColumn("p_holm", NUMBER, "`p_sign_flip`, adjusted for all rows of the measure"),
        FrameColumn("least_p_holm", NUMBER, "the least that so many seeds and rows could give"),
        FrameColumn("hedges_g", NUMBER, "effect size, in standard deviations"),
        FrameColumn("resolvable", NUMBER, "the difference found in 4 of 5 such studies; NaN: no spread"),
        FrameColumn("excludes_zero", TRUTH, "whether the interval that decides excludes 0"),
        FrameColumn("less_is_better", TRUTH, "whether a row is the better one by having less"),
        FrameColumn(
            "anytime_low", NUMBER, "confidence sequence, all rows of the measure at once, or infinite"
        ),
        FrameColumn("anytime_high", NUMBER, "its upper end"),
        FrameColumn("e_value", NUMBER, "evidence against a mean of 0, alone, valid at any number of seeds"),
        FrameColumn("criterion", TEXT, "decides: `fixed` (simultaneous) or `anytime` (confidence sequence)"),
        FrameColumn("margin", NUMBER, "a difference that is no larger counts as none; 0 without a margin"),
        FrameColumn("verdict", TEXT, "`better`, `worse`, `same` (within the margin), `undecided`"),
    ),
    "crossed": (
        *OF_A_DIFFERENCE,
        FrameColumn("num_seeds", WHOLE, "seeds that both have"),
        FrameColumn("num_items", WHOLE, "pairs or inputs whose scores both have, with every seed; 0: none"),
        FrameColumn("mean", NUMBER, "of the differences; NaN below 3 seeds"),
        FrameColumn("seeds_low", NUMBER, "95% interval for new seeds on these items, of all rows at once"),
        FrameColumn("seeds_high", NUMBER, "its upper end"),
        FrameColumn("crossed_low", NUMBER, "the same for new seeds and new items; NaN without item scores"),
        FrameColumn("crossed_high", NUMBER, "its upper end"),
        FrameColumn("note", TEXT, "why there is no such interval, or empty"),
    ),
    "importance": (
        FrameColumn("axis", TEXT, "heading of the axis, a column of cells"),
        FrameColumn("evaluator", TEXT, "how it was computed: `PED-ANOVA`, `fANOVA`"),
        FrameColumn("value", NUMBER, "share in the objective's variation, 0 to 1"),
        FrameColumn("low", NUMBER, "95% interval of the share over resampled trials; NaN in old ledgers"),
        FrameColumn("high", NUMBER, "its upper end"),
        FrameColumn("num_trials", WHOLE, "trials it had to go by"),
    ),
    "attempts": (
        FrameColumn("cell", TEXT, "identity of the cell"),
        *OF_A_CELL,
        FrameColumn("number", WHOLE, "of the attempt at this cell, from 1"),
        FrameColumn("executor", TEXT, "`inline` or `train`"),
        FrameColumn("workers", WHOLE, "processes that shared the cell"),
        FrameColumn("threads", WHOLE, "CPU threads of each"),
        FrameColumn("started", TIME, "when it began"),
        FrameColumn("ended", TIME, "when it ended, or was found ended"),
        FrameColumn("duration_s", NUMBER, "seconds between them; NaN while it runs"),
        FrameColumn("device_s", NUMBER, "device time: `duration_s` times GPUs, or else times CPU threads"),
        FrameColumn("outcome", TEXT, "`complete`, `stopped_early`, `failed`, `lost`, `running`"),
        FrameColumn("reason", TEXT, "why it failed or was lost, or empty"),
    ),
}

COLUMNS["effects"] = (
    *COLUMNS["contrasts"][:2],
    FrameColumn(
        "effect", TEXT, "factor, second level minus first; or `A x B`, half of what B changes in A's"
    ),
    FrameColumn("aliases", TEXT, "what shares its contrast, so that the sum is estimated; or empty"),
    *COLUMNS["contrasts"][4:],
)


def with_columns(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Select, order and type a frame's public columns; `cells` keeps its axes, too."""
    columns = COLUMNS[name]
    others = [column for column in frame.columns if column not in {one.name for one in columns}]
    shown = frame[[*(one.name for one in columns), *(others if name == "cells" else ())]]
    return shown.astype({one.name: one.dtype for one in columns}).reset_index(drop=True)


def describe_columns(name: str) -> pd.DataFrame:
    """Return a row per column of a frame: column, dtype, meaning."""
    return pd.DataFrame(COLUMNS[name], columns=["column", "dtype", "meaning"])
