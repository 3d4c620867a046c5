"""The page on adversarial directions says what its archive holds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.strength import contrasts, table_of, values_of_cells
from rse_study.results.archive import unpack_archive
from rse_study.results.reader import Reader

RESULTS = Path(__file__).parents[2] / "docs" / "results"


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


def test_the_page_and_its_table_are_computed_from_the_archives(found):
    page = (RESULTS / "strength" / "README.md").read_text(encoding="utf-8")
    assert table_of(found[0]) in page
    written = pd.read_csv(RESULTS / "strength" / "contrasts.csv")
    pd.testing.assert_frame_equal(found[0].round(4), written, check_exact=False, atol=1e-4)


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
