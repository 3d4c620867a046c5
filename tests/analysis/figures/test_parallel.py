import numpy as np
import pandas as pd
import pytest

from analysis.figures.parallel import draw_parallel, parallel_data
from analysis.figures.rulers import Ruler, positions_data, rulers_of
from analysis.search import trials


@pytest.fixture
def drawn(search_dir, contents):
    found = contents(search_dir)
    table = trials(found)
    rulers = rulers_of(table, found.study.axes, found.study.headings)
    frame = parallel_data(positions_data(table, rulers), found.study.objective.direction)
    return frame, draw_parallel(frame, rulers, found.label)


def test_trials_are_grouped_by_rank_and_each_is_a_line_through_all_axes_with_a_gap_behind_it(drawn):
    frame, _ = drawn
    once = frame.drop_duplicates("trial").set_index("trial")
    assert once.loc[12, ["rank", "group"]].tolist() == [1, "best"]
    assert once.loc[0, "group"] == "base"
    assert set(once["group"]) <= {"best", "base", "best tenth", "better half", "lower half"}
    worst = parallel_data(frame.drop(columns=["rank", "group"]), "minimize").drop_duplicates("trial")
    assert worst.set_index("trial").loc[12, "rank"] == len(worst)
    frame, figure = drawn
    lines = {trace.name.rpartition(" ")[0]: trace for trace in figure.data}
    best = lines["best"]
    assert list(best.y) == [*range(9), 8]
    assert np.isnan(best.x[-1])
    assert best.x[8] == 1.0  # its score is the highest of all
    assert best.text[0].startswith("trial 12: alpha = ")
    assert sum(len(trace.x) for trace in figure.data) == 10 * frame["trial"].nunique()
    assert figure.layout.yaxis.ticktext[0] == "alpha"
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # the first axis on top
    assert {"l1", "l2", "linf"} <= {note.text for note in figure.layout.annotations}


def test_of_a_crowd_every_so_many_th_line_is_drawn_by_rank_the_best_among_them():
    """1,000 trials on one axis: 1 is the best, 99 the best tenth, 400 the better half, 500 the lower."""
    scores = np.arange(1000.0)[::-1]
    frame = pd.DataFrame(
        {"trial": range(1000), "objective": scores, "axis": "alpha", "position": scores / 1000, "text": "1"}
    ).assign(best=scores == 999, is_base=False)
    figure = draw_parallel(parallel_data(frame, "maximize"), [Ruler("alpha", 0.0, 1.0)], "score")
    drawn = {trace.name: len(trace.x) // 3 for trace in figure.data}
    assert drawn == {
        "lower half (500, one in 2 drawn)": 250,
        "better half (400, one in 2 drawn)": 200,
        "best tenth (99)": 99,
        "best (1)": 1,
    }
    assert figure.data[1].text[0].startswith("trial 100:")
