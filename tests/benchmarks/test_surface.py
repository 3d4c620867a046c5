"""Searches on a surface through measured points."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import surface
from rse_study.frames.tables import importance_frame
from rse_study.study.checking.validation import read_study

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "joint_sobol_mini"
ARCHIVES = sorted(RESULTS.glob("*.tar.xz"), reverse=True)  # seed 10, then 11


@pytest.fixture(scope="module")
def domains():
    return {axis.name: axis.domain for axis in read_study(surface.STUDY).space.axes}


def points_of(domains, count, seed=0):
    units = np.random.default_rng(seed).random((count, len(domains)))
    return [
        {name: domain.at(float(unit)) for (name, domain), unit in zip(domains.items(), row, strict=True)}
        for row in units
    ]


def test_a_search_is_worth_what_the_surface_says_of_its_best_trial(domains):
    """Without noise it never gets worse, and it stays within what the surface holds."""
    points = points_of(domains, 60)
    values = np.array([np.log10(one["beta"]) for one in points])
    curves = surface.searched(domains, surface.columns_of(domains, points), values, 0.0, 1)
    assert curves.shape == (2, surface.NUM_TRIALS)
    assert (np.diff(curves) >= 0).all()
    assert values.min() <= curves.min() <= curves.max() <= values.max()
    assert curves[:, -1].min() > np.quantile(values, 0.8)


def test_the_page_and_its_points_are_computed_from_the_archives():
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    pd.testing.assert_frame_equal(
        surface.points_of(ARCHIVES), pd.read_csv(RESULTS / "points.csv"), check_dtype=False, rtol=1e-4
    )
    assert surface.table_of_importance(surface.frames_of(importance_frame, ARCHIVES)) in page
    curves = pd.read_csv(RESULTS / "curves.csv").set_index(["surface", "trial"])
    by_surface = curves.to_numpy().reshape(surface.NUM_SURFACES, surface.NUM_TRIALS, len(surface.ARMS))
    assert surface.table_of(np.moveaxis(by_surface, -1, 1)) in page
