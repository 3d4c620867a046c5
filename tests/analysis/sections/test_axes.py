import dataclasses

from analysis.answer import StageProgress
from analysis.figures.search_features import path_data
from analysis.search_answer import stage_progress
from analysis.sections.axes import ablation_path, importance, path_table
from analysis.sections.opening import states
from tests.analysis import searched
from tests.analysis.outline import Outline
from tests.analysis.searched import with_search


def test_few_trials_get_a_caution_and_importance_goes_by_the_mean_over_evaluators(search_dir, contents):
    found = contents(search_dir)
    assert "6 trials cannot tell" in importance(found)
    many = dataclasses.replace(found, importance=found.importance.assign(num_trials=30))
    assert "cannot tell" not in importance(many)
    text = Outline(importance(found)).text
    # rho: 5/36 and 8/36, the largest sum; alpha: 1/36 and 4/36, the smallest.
    assert text.index("rho") < text.index("norm") < text.index("alpha")
    assert "0.14" in text
    assert "0.22" in text
    assert importance(dataclasses.replace(found, importance=found.importance[:0])) == ""


def test_the_section_says_what_flatters_and_what_the_other_flips_would_have_brought(
    path_dir, contents, search_dir
):
    text = Outline(ablation_path(contents(path_dir))).text
    assert "to the best trial (12), which differ on 8 axes" in text
    assert "not used in the search: 1, 2 and 3." in text
    assert "which flatters its gain" in text
    assert "not finished" not in text
    found = contents(path_dir)
    by_importance = with_search(found, path=dataclasses.replace(found.search.path, order="importance"))
    assert "flatters" not in Outline(ablation_path(by_importance)).text
    assert ablation_path(contents(search_dir)) == ""
    assert "Ablation path" not in states(contents(search_dir))
    table = path_table(path_data(contents(path_dir)), 2)
    assert table["axis"].tolist() == ["lambda2", "norm", "alpha", "beta", "phi", "N", "lambda1", "rho"]
    assert table["gain"].iloc[0] == "+1.60 (+0.22 to +2.98)"
    assert table["total"].iloc[1] == "+2.50"
    others = table["gains of the other flips"]
    assert "gains of the other flips" not in path_table(path_data(contents(path_dir)).query("is_kept"), 2)
    assert others.iloc[0].startswith("norm +1.40, alpha +0.90")
    assert others.iloc[-1] == ""


def test_how_far_the_path_is(path_dir, tmp_path, contents):
    found = contents(path_dir)
    assert stage_progress(found, "path") == StageProgress(107, 107)
    assert "Ablation path: 107 of 107 cells complete." in states(found)

    def one_round(ledger):
        searched.path(ledger, num_rounds=1)

    begun = contents(searched.make(tmp_path / "joint", searched.search, searched.confirm, one_round))
    assert "Ablation path: 25 of 107 cells complete, 82 to run." in states(begun)
    assert "The path is not finished" in Outline(ablation_path(begun)).text
