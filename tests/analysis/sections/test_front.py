"""The section of a front, on a ledger with three objectives and a bound."""

import dataclasses

import pytest

from analysis.contents import labels
from analysis.figures.pareto import draw_front, draw_volume
from analysis.report import render
from analysis.search import ranking, trials
from analysis.sections.front import bounds, front, front_data, front_table
from tests.analysis import fronted
from tests.analysis.searched import with_search

pytestmark = pytest.mark.xdist_group("front")  # the page is drawn once


@pytest.fixture(scope="module")
def front_dir(tmp_path_factory):
    return fronted.make(tmp_path_factory.mktemp("ledgers") / "bargain")


@pytest.fixture
def found(front_dir, contents):
    return contents(front_dir)


@pytest.fixture(scope="module")
def html(front_dir, contents):
    return render(contents(front_dir))


def test_every_complete_trial_has_a_role_and_the_hypervolume_never_falls(found):
    frame = front_data(found)
    assert frame["role"].tolist() == ["beaten", "front", "knee", "front", "out of bounds", "beaten"]
    assert frame["is_base"].tolist() == [True, *[False] * 5]
    assert labels(found)[1:] == [fronted.ROBUST, "work of a cell, P*T"]
    # By hand: of dev 51..62, robust 20..50 and work 90..120 the base dominates 9/11 x 20/30 x 20/30.
    volumes = front_data(found)["hypervolume"].tolist()
    assert volumes[0] == pytest.approx(9 / 11 * 20 / 30 * 20 / 30)
    assert volumes == sorted(volumes)
    assert volumes[4] == volumes[3]


def test_the_knee_is_the_searchs_first_choice_and_confirmed_by_every_objective(found, html):
    table = trials(found)
    assert table.loc[table["best"], "trial"].tolist() == [2]
    assert ranking(found)[2] == 1
    assert 4 not in ranking(found)
    assert "Trial 2, the front&#x27;s knee" in html or "Trial 2, the front's knee" in html
    assert "trial 2 (knee of the front)" in html
    assert "on the front" in html
    at = html.index("section-confirmed")
    assert all(name in html[at:] for name in ("40.15", "45.15"))  # means of two seeds: base and knee


def test_the_section_says_who_is_on_the_front_and_what_the_bound_was_if_there_is_any(
    found, search_dir, contents
):
    html = front(found)
    words = "3 of 6 complete trials are on the front; its knee is trial 2. The base is not one of them."
    assert words in html
    assert "builtin dev, Spearman x100 of 50 or more: 5 of 6 trials" in html
    shown = front_table(found, front_data(found))
    assert shown["trial"].tolist() == ["1", "2", "3"]
    assert shown[""].tolist() == ["", "knee", ""]
    assert shown["work of a cell, P*T"].tolist() == ["90", "90", "100"]
    assert front(contents(search_dir)) == ""
    standings = tuple(dataclasses.replace(each, values=each.values[:1]) for each in found.search.standings)
    study = found.study.model_copy(update={"other_objectives": ()})
    one = with_search(dataclasses.replace(found, study=study), standings=standings)
    assert "Bounds" in front(one)
    assert bounds(one) in front(one)


def test_three_objectives_are_three_views_and_two_have_a_line_through_the_front(found):
    figure = draw_front(front_data(found), labels(found), found.study.directions, [2, 2, 0])
    expected = ["builtin dev,", "builtin dev,", "builtin dev "]
    assert [button.label[:12] for button in figure.layout.updatemenus[0].buttons] == expected
    assert figure.layout.yaxis.title.text.replace("<br>", " ").endswith("(higher is better)")
    assert sum(trace.visible for trace in figure.data) * 3 == len(figure.data)
    study = found.study.model_copy(update={"other_objectives": found.study.other_objectives[:1]})
    standings = tuple(dataclasses.replace(one, values=one.values[:2]) for one in found.search.standings)
    two = with_search(dataclasses.replace(found, study=study), standings=standings)
    figure = draw_front(front_data(two), labels(two), study.directions, [2, 2])
    (line,) = [trace for trace in figure.data if trace.mode == "lines"]
    assert list(line.x) == [30.0, 45.0, 50.0]
    assert not figure.layout.updatemenus
    assert len(draw_volume(front_data(two)).data) == 1
