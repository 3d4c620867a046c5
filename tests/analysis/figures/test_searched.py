import pytest

from analysis.contents import baseline_scores
from analysis.figures import searched as figures
from analysis.figures.searched import draw_history, draw_parallel
from analysis.search import trials
from tests.analysis import searched

NAMES = {name: f"its {name}" for name in searched.NAMES}


@pytest.fixture
def complete(search_dir, contents):
    found = contents(search_dir)
    table = trials(found)
    return found, table[table["status"] == "complete"]


def test_a_dot_has_its_trial_and_its_score_and_the_best_an_orange_edge(complete):
    found, table = complete
    study = figures.drawn_study(found, table)
    (dots,) = figures.draw_slice(study, "norm", "its norm", "dev", best=[12]).data
    assert sorted(dots.ids) == sorted(table["trial"])
    assert set(dots.x) <= {"l1", "l2", "linf"}
    edges = dict(zip(dots.ids, dots.marker.line.color, strict=True))
    assert [number for number, colour in edges.items() if colour == figures.style.ORANGE] == [12]
    ranks = figures.draw_ranks(study, NAMES, "dev")
    shown = {trace.meta: trace for trace in ranks.data if trace.ids}
    assert len(shown) == 8 * 7 // 2
    best = shown["alpha beta"].ids.index(12)
    assert shown["alpha beta"].hovertext[best].startswith("trial 12: ")
    assert len(set(shown["alpha beta"].marker.color)) == len(table)
    assert ranks.layout.updatemenus[0].buttons[0].label == "its alpha and its beta"


def test_the_best_so_far_rises_over_dots_between_baselines(complete):
    found, table = complete
    scores = baseline_scores(found.evaluations, found.study.objective.evaluation)
    figure = draw_history(figures.drawn_study(found, table), scores, "dev", best=[12])
    dots, line = figure.data[0], figure.data[1]
    assert list(dots.ids) == table["trial"].tolist() and [text for text in dots.text if text] == ["12"]
    assert line.name == "best so far" and line.y[-1] == table["objective"].max()
    low, high = figure.layout.yaxis.range
    assert low < min(dots.y) < max(dots.y) < high
    assert figure.data[3].name == "token overlap: 41.25 (outside)"


def test_lines_are_grouped_by_rank_with_base_and_best_in_front(complete):
    found, table = complete
    study, scores = figures.drawn_study(found, table), table.set_index("trial")["objective"]
    marked = {"base": scores[0], "best": scores.max()}
    figure = draw_parallel(study, NAMES, "dev", marked, is_less_better=False)
    names = ", ".join(trace.name for trace in figure.data)
    assert names == "lower half (2), better half (2), base (1), best (1)"
    best = figure.data[-1]
    assert (best.x[0], best.y[0]) == (1.0, 0.0)  # its score is the end of the uppermost axis
    assert figure.layout.yaxis.ticktext[1] == "its N"
    turned = draw_parallel(study, NAMES, "loss", {"best": scores.min()}, is_less_better=True)
    assert turned.data[-1].x[0] == 0.0


def test_of_very_many_trials_a_sample_is_drawn_with_the_best_and_the_base(complete, monkeypatch):
    found, table = complete
    monkeypatch.setattr(figures, "MOST_TRIALS", 2)
    drawn = [one.number for one in figures.trials_of(figures.drawn_study(found, table))]
    assert {0, 12} <= set(drawn) and len(drawn) <= 4 < len(table)
