"""What readers are shown of a search that raced its seeds in an earlier version: each trial once."""

import pytest

from analysis.contents import contents_of
from analysis.figures.curves import curve_data
from analysis.figures.history import history_data
from analysis.figures.parallel import parallel_data
from analysis.figures.pareto import pareto_data
from analysis.figures.rulers import positions_data, rulers_of
from analysis.figures.slices import slice_data
from analysis.progress import stage_progress
from analysis.search import settings, trials
from analysis.sections.opening import caution, states
from analysis.sections.search import search_sections
from analysis.tables import as_text
from rse_study.cli.arguments.model import _identity
from rse_study.cli.terminal.cell_names import names_by_identity
from rse_study.cli.verbs.status.content import state_of
from rse_study.frames.study_results import open_results
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.sampling.dashboard_storage import LedgerCopy
from rse_study.search.choice import standings_of
from rse_study.search.state import SearchState
from tests.analysis import raced, searched


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return raced.make(tmp_path_factory.mktemp("raced") / "joint")


@pytest.fixture(scope="module")
def contents(folder):
    return contents_of(open_results(folder, folder.parent))


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
    assert history_data(table, "maximize")["trial"].tolist() == list(range(6))
    for heading in contents.study.headings:
        assert slice_data(table, heading)["trial"].is_unique
    positions = positions_data(table, rulers_of(table, contents.study.axes, contents.study.headings))
    assert positions.groupby("axis")["trial"].agg(lambda numbers: numbers.is_unique).all()
    assert parallel_data(positions, "maximize")["trial"].nunique() == 6
    costs = pareto_data(contents)
    assert costs["num_cells"].tolist() == [3, 3, 3, 1, 1, 3] and costs["row"].is_unique
    assert curve_data(table, contents.curves).groupby("trial").size().eq(4).all()


def test_account_and_report_count_trials_and_say_over_how_many_seeds_each_is_a_mean(contents):
    assert "6 of 6 trials complete" in states(contents)
    assert (stage_progress(contents, "search").num_ended, stage_progress(contents, "search").num_planned) == (
        15,
        15,
    )
    assert "each is a mean of up to 3 seeds" in caution(contents)
    page = "".join(search_sections(contents))
    assert "Trial 2: 61.40 on builtin dev, Spearman x100 after 60 steps, the mean of 3 seeds" in page


def test_terminal_and_status_count_seeds_and_name_the_best_by_its_mean(folder):
    shown = as_text(Reader(folder)).set_index("trial")
    assert shown.loc["2 *", "seeds"] == "3" and shown.loc["4", "seeds"] == "1"
    assert shown.loc["3", "builtin dev, Spearman x100"] == "64.00"
    status = state_of(folder)
    assert status.counts["planned"] == status.counts["complete"] == 15 and status.is_complete
    assert (status.best.trial, status.best.value, status.best.num_seeds) == (2, pytest.approx(61.4), 3)
    with Reader(folder) as reader:
        names = names_by_identity(reader.study(), reader.cells())
    assert names[searched.cell(2, 6).identity] == "trial 2 seed 6"
    shown = LedgerCopy(folder).storage().get_all_trials(0)
    assert [trial.value for trial in shown] == pytest.approx(list(raced.MEANS.values()))


def test_of_a_search_that_was_not_over_only_the_trials_to_come_are_missing(tmp_path):
    """Nobody knows which further seeds its race would have run, and no version runs them any more."""
    values = {n: raced.VALUES[n] for n in (0, 1)} | {2: (61.0,), 3: (64.0,)}
    folder = searched.make(tmp_path / "joint", lambda ledger: raced.search(ledger, values), study=raced.STUDY)
    assert state_of(folder).counts["missing"] == 2
    with Reader(folder) as reader:
        state = SearchState.read(reader)
    assert (state.num_planned, state.most_cells["search"], state.is_over) == (8 + 2, 8 + 2, False)
