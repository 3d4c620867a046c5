import pandas as pd
import pytest

from analysis.figures.rung_fidelity import draw_rung_fidelity, rung_fidelity_data

NAN = float("nan")
FRAME = pd.DataFrame(
    [
        ("complete", 15, 12, 0.4, 0.1, 0.7, 0.3, 0.0, 0.6),
        ("complete", 30, 12, 0.9, 0.8, 1.0, 0.7, 0.6, 0.9),
        ("let run", 15, 1, NAN, NAN, NAN, NAN, NAN, NAN),
        ("let run", 30, 8, 0.8, 0.6, 0.9, 0.6, 0.4, 0.8),
    ],
    columns=[
        *("sample", "t", "num_trials", "spearman", "spearman_low", "spearman_high"),
        *("kendall", "kendall_low", "kendall_high"),
    ],
)


def test_a_row_per_rung_and_sample(search_dir, contents):
    frame = rung_fidelity_data(contents(search_dir))
    assert list(frame.columns) == list(FRAME.columns)
    assert frame[["sample", "t"]].values.tolist() == [
        ["complete", 15], ["let run", 15], ["complete", 30], ["let run", 30],
    ]  # fmt: skip


def test_an_interval_per_correlation_that_there_is():
    figure = draw_rung_fidelity(FRAME)
    traces = {trace.name: trace for trace in figure.data}
    assert list(traces) == ["all complete trials", "trials that no verdict could stop"]
    assert list(traces["trials that no verdict could stop"].x) == pytest.approx([1.1])
    everyone = traces["all complete trials"]
    assert list(everyone.x) == pytest.approx([-0.1, 0.9])
    assert list(everyone.y + everyone.error_y.array) == pytest.approx([0.7, 1.0])
    assert list(everyone.y - everyone.error_y.arrayminus) == pytest.approx([0.1, 0.8])
    assert everyone.text[0] == "step 15, 12 trials: rho 0.40 (0.10 to 0.70), tau-b 0.30"
    assert figure.layout.xaxis.ticktext == ("step 15", "step 30")
    assert figure.layout.yaxis.range[0] < 0.0
