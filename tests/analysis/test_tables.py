from analysis.tables import as_text
from rse_study.results.reader import Reader
from tests.analysis import gridded, searched


def test_the_terminal_table_of_a_search_shows_trials_and_means_of_confirmed_ones_below(search_dir):
    frame = as_text(Reader(search_dir))
    assert list(frame.columns) == [
        "trial", "builtin dev, Spearman x100", "builtin/test", "step", "status", "alpha", "beta", "N", "norm", "rho",
        "lambda1", "lambda2", "phi", "time",
    ]  # fmt: skip
    expected = ["token overlap", "untrained encoder", "before training", "0 (base)"]
    assert frame["trial"].tolist()[:4] == expected
    assert frame.iloc[2, 1:3].tolist() == ["not measured", "52.00"]
    assert len(frame) == 3 + 16 + 2
    assert frame.loc[frame["trial"].str.endswith(" *"), "trial"].tolist() == ["12 *"]
    assert frame.map(lambda value: isinstance(value, str)).all(axis=None)
    below = frame.iloc[-2:]
    assert below["trial"].tolist() == [
        "confirmed: base, 2 seeds",
        "confirmed: trial 12 (best of the search), 2 seeds",
    ]
    assert below["builtin/test"].tolist() == ["59.00", "60.25"]
    assert below["builtin dev, Spearman x100"].tolist() == ["60.00", "61.70"]
    assert set(as_text(Reader(search_dir))["builtin/test"].iloc[3:19]) == {""}


def test_a_table_of_the_terminal_shows_the_rows_of_a_grid_in_order_and_planned_studies_too(
    grid_dir, tmp_path
):
    frame = as_text(Reader(grid_dir)).set_index("row")
    assert frame.index.tolist()[3:] == [
        "lambda1 = 0.000976562", "lambda1 = 0.0078125", "lambda1 = 0.125", "base", "without weakening masks",
        "without PGD", "without the token level",
    ]  # fmt: skip
    dev = "STS-B dev, Spearman x100"
    assert frame.loc["lambda1 = 0.125", f"{dev} mean \N{PLUS-MINUS SIGN} SD":f"{dev} seed 2"].tolist() == [
        "64.00 \N{PLUS-MINUS SIGN} 2.65", "66.00", "65.00", "61.00",
    ]  # fmt: skip
    assert frame.loc["without the token level", f"{dev} seed 0":f"{dev} seed 2"].tolist() == [
        "72.00", "failed", "not run yet",
    ]  # fmt: skip
    assert frame.loc["base", "STS12/test mean \N{PLUS-MINUS SIGN} SD"].startswith("65.50")
    baselines = ["token overlap", "untrained encoder", "before training"]
    assert as_text(Reader(searched.make(tmp_path / "search")))["trial"].tolist() == baselines
    assert as_text(Reader(searched.make(tmp_path / "grid", study=gridded.STUDY)))["row"].tolist() == baselines
