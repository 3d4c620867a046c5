import numpy as np
import pytest

from analysis.figures.parallel import draw_parallel, parallel_data
from analysis.figures.rulers import positions_data, rulers_of
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
