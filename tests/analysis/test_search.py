from analysis.search import base_values, confirmed, ranking, settings, trials
from rse_study.results.settings import ConfirmSettings
from tests.analysis import searched


def test_the_trials_of_a_search_are_those_of_its_stage_and_a_grid_has_no_best(search_dir, contents, grid_dir):
    table = trials(contents(search_dir))
    assert table["trial"].tolist() == list(range(16))
    assert table.loc[table["best"], "trial"].tolist() == [12]
    assert table["status"].value_counts().to_dict() == {"stopped_early": 9, "complete": 6, "failed": 1}
    table = trials(contents(grid_dir))
    assert len(table) == 21
    assert not table["best"].any()


def test_a_short_trial_never_outranks_one_of_the_full_budget_and_confirmed_cells_are_named(
    search_dir, contents
):
    places = ranking(contents(search_dir))
    by_place = sorted(places, key=places.get)
    assert by_place[:6] == [12, 7, 15, 9, 2, 0]  # complete ones, by their score
    assert by_place[6:8] == [13, 8]  # the two that got to step 30
    cells = confirmed(contents(search_dir))
    assert cells[["name", "seed"]].values.tolist() == [
        ["base", 1],
        ["base", 2],
        ["trial 12 (best of the search)", 1],
        ["trial 12 (best of the search)", 2],
    ]
    plan = {"num_best": 2, "baseline": "base", "seeds": [1, 2, 3]}
    assert ConfirmSettings(**plan).num_cells == 9
    assert ConfirmSettings(**plan | {"baseline": "none"}).num_cells == 6
    assert ConfirmSettings().num_cells == 0


def test_the_best_setting_stands_beside_the_papers_wherever_that_is_read(search_dir, contents, tmp_path):
    found = contents(search_dir)
    rows = settings(found, trials(found)).set_index("axis")
    assert rows.loc["norm"].tolist() == ["l2", "linf", "l1, l2, linf", "choice", "pgd.ball.norm"]
    expected = ["5", "1 to 16", "linear, whole numbers"]
    assert rows.loc["N", ["base", "searched", "scale"]].tolist() == expected
    assert rows.loc["lambda1", ["base", "scale"]].tolist() == ["0.00781", "logarithmic"]
    axes = searched.STUDY.axes[2:3]
    base = {"pgd": {"num_steps": 40}}
    study = searched.STUDY.model_copy(update={"axes": axes, "resolved": {"base": base}})
    assert base_values(contents(searched.make(tmp_path, study=study))) == {"N": 40}
