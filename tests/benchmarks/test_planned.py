"""What pages print of planned studies is computed from their archives."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import checkpoints, curves, pairs, parts
from benchmarks.strength import contrasts, table_of, values_of_cells
from rse_study.results.archive import unpack_archive
from rse_study.results.reader import Reader
from tests.benchmarks import plan_minilm

RESULTS = Path(__file__).parents[2] / "docs" / "results"
OVER_CHECKPOINTS = {
    "contrasts": (checkpoints.contrasts_of, checkpoints.table_of_contrasts),
    "means": (checkpoints.means_of, checkpoints.table_of_means),
}
OF_PARTS = {
    "effects": (parts.effects_of, parts.table_of_effects),
    "rows": (parts.rows_of, parts.table_of_rows),
}
TABLES = {
    "curves": {"curves": (lambda reader: curves.curves_of(curves.units_of(reader)), curves.table_of)},
    "parts": OF_PARTS,
    "parts_mean": OF_PARTS,
    "unaligned": OVER_CHECKPOINTS,
    "unaligned_cls": OVER_CHECKPOINTS,
    **{
        folder: {"pairs": (pairs.differences_of, pairs.table_of)}
        for folder in ("attacked", "attacked_sst2", "compute", "heads")
    },
}


def shown_difference(row):
    """As a page has a difference and its interval in one cell."""
    return f"{row.difference:+.2f} [{row.low:+.2f}, {row.high:+.2f}]"


@pytest.mark.slow
@pytest.mark.parametrize("study", TABLES)
def test_a_page_and_its_tables_are_computed_from_the_archive(study, tmp_path):
    page = (RESULTS / study / "README.md").read_text(encoding="utf-8")
    (archive,) = (RESULTS / study).glob("*.tar.xz")
    generated, differences = set(), set()
    with Reader(unpack_archive(archive, tmp_path)) as reader:
        for name, (table_from, shown) in TABLES[study].items():
            table = table_from(reader)
            written = pd.read_csv(RESULTS / study / f"{name}.csv")
            pd.testing.assert_frame_equal(table, written, check_dtype=False, atol=1e-4, rtol=1e-4)
            families = [rows for _, rows in table.groupby("measure")] if "measure" in table else [table]
            generated |= {shown(rows) for rows in families}
            differences |= {shown_difference(row) for row in table.itertuples() if hasattr(row, "low")}
    headings = {text.splitlines()[0] for text in generated}
    tables = [text for text in page.split("\n\n") if text.startswith("| ")]
    assert {text for text in tables if text.splitlines()[0] in headings} <= generated
    found = {cell for text in tables for cell in re.findall(r"[+-]\d+\.\d\d \[[^]]+\]", text)}
    assert found <= differences
    assert found or generated & {*tables}, "the page shows none of it"


def cells_of(study):
    """Each cell's values, by row's place and seed."""
    return pd.read_csv(RESULTS / study / "cells.csv").pivot(index="trial", columns="seed", values="dev")


def test_a_main_effect_is_the_mean_where_a_part_is_on_minus_that_where_it_is_off():
    """Recomputed from the cells alone: delta is the slowest of three factors, so that trials 4 to 7 have it."""
    dev = cells_of("parts")
    by_seed = dev.loc[4:7].mean() - dev.loc[:3].mean()
    (row,) = (
        pd.read_csv(RESULTS / "parts" / "effects.csv")
        .query("measure == 'STS-B dev' and effect == 'delta'")
        .itertuples()
    )
    assert row.difference == pytest.approx(by_seed.mean(), abs=1e-4)
    assert row.better_seeds == (by_seed > 0).sum()


def test_a_contrast_over_checkpoints_is_the_mean_of_their_means_over_seeds():
    """Recomputed from the cells alone: trials go by ascent (gradient, noise, flipped), then by checkpoint."""
    dev = cells_of("unaligned")
    by_checkpoint = dev.loc[:4].mean(axis=1).to_numpy() - dev.loc[5:9].mean(axis=1).to_numpy()
    found = pd.read_csv(RESULTS / "unaligned" / "contrasts.csv")
    (row,) = found.query("measure == 'STS-B dev' and arm == 'gradient' and minus == 'noise'").itertuples()
    assert row.difference == pytest.approx(by_checkpoint.mean(), abs=1e-4)
    assert row.better_seeds == (by_checkpoint > 0).sum()
    # Student's with four degrees of freedom, for two contrasts at once: its 98.75% quantile is 3.495.
    half = 3.4954 * by_checkpoint.std(ddof=1) / np.sqrt(5)
    assert (row.low, row.high) == pytest.approx((row.difference - half, row.difference + half), abs=1e-3)


# The page on adversarial directions says what its archive holds.


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Contrasts of all studies, and the cells of the one with batches of 64."""
    store, tables = tmp_path_factory.mktemp("store"), []
    for archive in sorted((RESULTS / "strength").glob("*.tar.xz")):
        with Reader(unpack_archive(archive, store)) as reader:
            tables.append(contrasts(reader))
            if archive.name.startswith("strength-64"):
                cells = values_of_cells(reader)
    return pd.concat(tables, ignore_index=True), cells


@pytest.mark.slow
def test_the_page_and_its_table_are_computed_from_the_archives(found):
    page = (RESULTS / "strength" / "README.md").read_text(encoding="utf-8")
    assert table_of(found[0]) in page
    written = pd.read_csv(RESULTS / "strength" / "contrasts.csv")
    pd.testing.assert_frame_equal(found[0].round(4), written, check_exact=False, atol=1e-4)


@pytest.mark.slow
def test_a_difference_is_the_mean_over_seeds_of_two_cells(found):
    """Recomputed from the cells alone: trials 0 and 1 are gradient and noise at 2e-3."""
    values = found[1].pivot(index="trial", columns="seed", values="test")
    (row,) = (
        found[0]
        .query(
            "study == 'strength-64-minilm' and beta == 2e-3 and ascent == 'gradient' and minus == 'noise' "
            "and measure == 'STS-B test'"
        )
        .itertuples()
    )
    assert row.difference == pytest.approx(np.mean(values.loc[0] - values.loc[1]))
    assert row.better_seeds == (values.loc[0] > values.loc[1]).sum()


# `plan` tells the hours of the shipped studies on MiniLM within a factor.


@pytest.mark.slow
def test_a_plan_is_within_a_factor_of_what_the_studies_on_minilm_took(data_dir, monkeypatch):
    monkeypatch.setenv("RSE_STUDY_DATA", str(data_dir))
    found = plan_minilm.measured()
    assert len(found) == 7
    for name, (_, mid, _, taken) in found.items():
        assert 1 / plan_minilm.FACTOR <= mid / taken <= plan_minilm.FACTOR, name
