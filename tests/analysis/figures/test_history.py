import pandas as pd

from analysis.figures.history import draw_history, history_data

TABLE = pd.DataFrame(
    {
        "trial": [2, 0, 1, 3, 4],
        "objective": [51.0, 50.0, 99.0, float("nan"), 49.0],
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


def test_the_best_so_far_counts_complete_trials_only():
    assert history_data(TABLE, "maximize")["best_so_far"].tolist() == [50, 50, 51, 51, 51]
    assert history_data(TABLE, "minimize")["best_so_far"].tolist() == [50, 50, 50, 50, 49]


def test_every_kind_of_trial_has_its_mark_and_every_measured_baseline_its_line():
    figure = draw_history(history_data(TABLE, "maximize"), SCORES, "dev")
    names = [trace.name for trace in figure.data]
    assert names == ["best so far", "trial", "stopped early", "untrained encoder: 58.00"]
    assert list(figure.data[1].x) == [0, 2, 4]


def test_no_trials_make_an_empty_figure():
    figure = draw_history(history_data(TABLE.iloc[:0], "maximize"), SCORES, "dev")
    assert [trace.name for trace in figure.data] == ["best so far", "untrained encoder: 58.00"]
