import math

import pandas as pd
import pytest

from analysis.figures.rungs import draw_rungs, rungs_data

VERDICTS = pd.DataFrame(
    [(0, 15, 50.0, "continue", 0.0), (4, 15, 40.0, "stop", 1.0), (0, 30, 60.0, "continue", 0.0)],
    columns=["trial", "t", "value", "verdict", "order"],
)


def test_every_verdict_on_a_number_is_there(search_dir, contents):
    found = contents(search_dir)
    frame = rungs_data(found)
    assert len(frame) == len(found.rungs)
    assert frame["order"].between(0, 1).all()
    assert frame.loc[frame["trial"] == 15, "order"].iloc[0] == 1.0
    found.rungs.loc[0, "value"] = math.nan
    assert len(rungs_data(found)) == len(found.rungs) - 1


def test_a_column_per_rung_in_the_order_of_the_trials():
    figure = draw_rungs(VERDICTS, "dev")
    traces = {trace.name: trace for trace in figure.data}
    assert list(traces) == ["went on (2)", "stopped (1)"]
    assert list(traces["went on (2)"].x) == pytest.approx([-0.4, 0.6])
    assert list(traces["stopped (1)"].x) == pytest.approx([0.4])
    assert traces["stopped (1)"].text == ("trial 4 stopped at step 15: 40.00",)
    assert figure.layout.xaxis.ticktext == ("step 15<br>1 of 2<br>went on", "step 30<br>1 of 1<br>went on")
