"""What readers are shown of a search that raced its seeds in an earlier version: each trial once."""

import pytest

from analysis.contents import contents_of
from analysis.figures.curves import curve_data
from analysis.figures.pareto import pareto_data
from analysis.figures.searched import optuna_of
from analysis.search import settings, trials
from rse_study import open_study
from rse_study.cli.models import _identity
from rse_study.results.files.ledger import Ledger
from rse_study.search.choice import standings_of
from tests.analysis import raced, searched


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return raced.make(tmp_path_factory.mktemp("raced") / "joint")


@pytest.fixture(scope="module")
def contents(folder):
    return contents_of(open_study(folder, folder.parent))


@pytest.fixture(scope="module")
def table(contents):
    return trials(contents)


def test_a_row_of_the_table_is_a_trial_with_the_mean_of_its_seeds(contents, table):
    assert contents.search.is_over
    assert table["trial"].tolist() == [0, 1, 2, 3, 4, 5]
    assert dict(zip(table["trial"], table["objective"], strict=True)) == pytest.approx(raced.MEANS)
    assert table["num_seeds"].tolist() == [3, 3, 3, 1, 1, 3]
    assert table["seed"].eq(0).all() and table["t"].eq(60).all()
    assert table["duration_s"].tolist() == pytest.approx([24.0 * n for n in (3, 3, 3, 2, 1, 3)])


def test_the_best_is_best_over_all_seeds_and_every_figure_has_a_point_for_each_trial(contents, table, folder):
    assert table.loc[table["best"], "trial"].tolist() == [2]
    assert settings(contents, table)["axis"].size == 8
    with Ledger.open(folder) as ledger:
        ordered = sorted(standings_of(ledger), key=lambda one: (-one.t, -one.values[0]))
    assert [one.t for one in ordered] == [180, 180, 180, 180, 60, 60]
    assert ordered[0].key == searched.cell(2).identity
    assert _identity(folder, "best") == searched.cell(2).identity
    shown = {trial.number: trial.value for trial in optuna_of(contents).trials if trial.values}
    assert shown == pytest.approx(raced.MEANS)
    costs = pareto_data(contents)
    assert costs["num_cells"].tolist() == [3, 3, 3, 1, 1, 3] and costs["row"].is_unique
    assert curve_data(table, contents.curves).groupby("trial").size().eq(4).all()
