import pandas as pd

from analysis.figures.history import draw_history, ended_text, history_data

TABLE = pd.DataFrame(
    {
        "trial": [2, 0, 1, 3, 4],
        "objective": [51.0, 50.0, 99.0, float("nan"), 49.0],
        "t": pd.array([60, 60, 15, None, 60], dtype="Int64"),
        "status": ["complete", "complete", "stopped_early", "failed", "complete"],
        "best": [True, False, False, False, False],
    }
)
SCORES = pd.DataFrame(
    {
        "subject": ["untrained", "start"],
        "label": ["untrained encoder", "before training"],
        "value": [58.0, float("nan")],
    }
)


def test_the_best_so_far_counts_complete_trials_only_and_who_never_reported_has_no_step():
    assert history_data(TABLE, "maximize")["best_so_far"].tolist() == [50, 50, 51, 51, 51]
    assert history_data(TABLE, "minimize")["best_so_far"].tolist() == [50, 50, 50, 50, 49]
    assert ended_text("failed", 3, pd.NA, float("nan")) == "trial 3: failed before its first value"
    assert ended_text("failed", 3, 7, float("nan")) == "trial 3: failed at step 7"


def test_fidelities_never_share_an_axis():
    figure = draw_history(history_data(TABLE, "maximize"), SCORES, "dev")
    traces = {trace.name: trace for trace in figure.data}
    assert list(traces) == [
        "best so far", "complete", "best", "untrained encoder: 58.00 (outside)", "stopped early", "failed",
    ]  # fmt: skip
    assert [name for name, trace in traces.items() if trace.yaxis == "y2"] == ["stopped early", "failed"]
    assert list(traces["complete"].x) == [0, 4]
    assert figure.layout.yaxis.range[1] < 58.0  # so that a far baseline does not flatten the trials
    assert list(traces["best"].y) == [51.0]
    assert list(traces["stopped early"].y) == [15]  # its step, never its score
    assert list(traces["stopped early"].text) == ["trial 1: stopped early at step 15, 99.00 there"]
    assert traces["stopped early"].marker.symbol == "circle-open"
