"""Rows against the baseline and the paper: read from real ledgers, and as tables of text."""

import math
from dataclasses import replace

import pytest

from analysis.comparison_table import claims_table, remarks, rows_table
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.row_names import row_name
from tests.analysis import tabled
from tests.analysis.searched import measure, run
from tests.results.samples import around, half_width

SIMCSE = (70.0, 73.5, 68.25, 71.0)
PRINTED = {"rho = 0": 76.06, "rho = 0.25": 76.85, "rho = 0.5": 77.90, "rho = 0.75": 77.34, "rho = 1": 76.34}
MINI = {"table": "rse-table6", "scale": "mini"}
PAPER = {"table": "rse-table6", "scale": "paper"}


def above(row, *gains):
    return tuple(value + gain for value, gain in zip(row, gains, strict=True))


# SD of the differences from SimCSE: 1 of each row. rho = 0.5 is ahead of the others by 10 points and more.
ROWS = {
    "rho = 1": above(SIMCSE, *around(1.0, 4)),
    "rho = 0.5": above(SIMCSE, *around(11.0, 4)[[1, 0, 3, 2]]),
    "SimCSE": SIMCSE,
}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """The comparison of such rows in such a study, read once for all who ask."""
    found = {}

    def comparison(rows=ROWS, **study):
        asked = repr((rows, study))
        if asked not in found:
            found[asked] = comparison_in(tabled.make(tmp_path_factory.mktemp("s") / "s", rows, **study))
        return found[asked]

    return comparison


comparison_in = tabled.comparison_of


def with_columns(table, *names):
    return table[list(names)].to_numpy().tolist()


def test_every_other_row_is_compared_with_the_baseline_all_at_once(read):
    found = read(baseline="SimCSE")
    assert list(found.compared) == ["rho = 1", "rho = 0.5"]
    for row, mean in (("rho = 1", 1.0), ("rho = 0.5", 11.0)):
        one = found.compared[row]
        assert (one.n, one.mean) == (4, pytest.approx(mean))
        assert one.simultaneous.low == pytest.approx(mean - half_width(4, 2))
        assert one.interval.low == pytest.approx(mean - half_width(4))
    assert (found.name, found.label, found.num_seeds) == ("tabled", "STS-B dev, Spearman x100", 4)
    assert found.is_complete
    half = half_width(4, 2)
    assert with_columns(rows_table(read(baseline="SimCSE")), "row", "95%, all rows at once")[:2] == [
        ["rho = 1", f"[−{half - 1:.2f}, +{1 + half:.2f}]"],
        ["rho = 0.5", f"[+{11 - half:.2f}, +{11 + half:.2f}]"],
    ]


def test_a_grid_of_no_paper_and_without_a_baseline_is_only_its_rows_and_a_search_nothing(
    read, grid_dir, search_dir
):
    found = read()
    assert (found.baseline, found.table, found.compared, found.judged, found.printed) == ("", "", {}, [], {})
    assert math.isnan(found.resolvable)
    assert list(rows_table(found).columns) == ["row", "mean", "SD", "seeds", "group"]
    assert claims_table(found).empty
    (groups,) = remarks(found)
    assert groups.startswith("Rows that share a letter (column group) cannot be told apart")
    found = comparison_in(grid_dir)
    assert (found.baseline, found.table, found.scale) == ("", "", "paper")
    assert not found.is_complete
    assert len(rows_table(found)) == 7
    assert comparison_in(search_dir) is None


def test_the_papers_claims_are_judged_and_its_values_stand_beside_ours(read):
    found = read(baseline="SimCSE", paper=PAPER)
    assert found.printed == PRINTED
    (judged,) = found.judged
    assert (judged.claim.id, judged.verdict) == ("rse-table6-best", "reproduced")
    table = rows_table(found)
    assert with_columns(table, "row", "paper", "mean") == [
        ["rho = 0 (not trained)", "76.06", ""],
        ["rho = 0.25 (not trained)", "76.85", ""],
        ["rho = 0.5", "77.90", "81.69"],  # in the paper's order, then what it does not have
        ["rho = 0.75 (not trained)", "77.34", ""],
        ["rho = 1", "76.34", "71.69"],
        ["SimCSE", "", "70.69"],
    ]


@pytest.mark.parametrize(
    ("gain", "at_paper_scale", "at_mini_scale"),
    [
        (11.0, "reproduced", "same direction here"),
        (1.1, "undecided", "undecided"),
        (-11.0, "contradicted", "other direction here"),
    ],
)
def test_a_small_encoder_reproduces_nothing(read, gain, at_paper_scale, at_mini_scale):
    rows = {**ROWS, "rho = 0.5": above(ROWS["rho = 1"], *around(gain - 1, 4))}
    found = read(rows, baseline="SimCSE", paper=PAPER)
    mini = replace(found, scale="mini")
    assert claims_table(found)["verdict"].tolist() == [at_paper_scale]
    assert claims_table(mini)["verdict"].tolist() == [at_mini_scale]
    assert [any("proves nothing" in text for text in remarks(one)) for one in (found, mini)] == [False, True]


def test_a_row_says_mean_spread_seeds_distance_and_how_many_seeds_agree(read):
    rows = {"rho = 1": (72.0, 75.0, 70.5), "SimCSE": (70.0, 74.0, 70.5)}  # 2, 1 and 0 points above
    table, half = rows_table(read(rows, baseline="SimCSE")), half_width(3)
    compared = ["minus SimCSE", "95%, all rows at once", "verdict", "p (sign-flip)", "p (Holm)", "g"]
    assert list(table.columns) == ["row", "mean", "SD", "seeds", *compared, "better seeds", "group"]
    interval = f"[−{half - 1:.2f}, +{1 + half:.2f}]"
    # g: 1 / 1, times gamma(1) / gamma(0.5).
    told = ["+1.00", interval, "undecided", "0.5000", "0.5000", "+0.56", "2 of 3, not 2", "a"]
    first, second = table.to_numpy().tolist()
    assert first == ["rho = 1", "72.50", "2.29", "3", *told]
    assert second == ["SimCSE", "71.50", "2.18", "3", *[""] * 7, "a"]
    rows = {"up": above(SIMCSE, 1, 1, 1, 1), "down": above(SIMCSE, -1, -1, -1, -1), "SimCSE": SIMCSE}
    table = rows_table(read(rows, baseline="SimCSE")).set_index("row")
    assert table.loc[["up", "down"], "better seeds"].tolist() == ["4 of 4", "0 of 4"]


def test_failed_cells_and_too_few_seeds_leave_distances_empty_and_are_named(read):
    rows = {**ROWS, "rho = 1": (*ROWS["rho = 1"][:3], tabled.FAILED)}
    found = read(rows, baseline="SimCSE")
    expected = [["rho = 1", "3"], ["rho = 0.5", "4"], ["SimCSE", "4"]]
    assert with_columns(rows_table(found), "row", "seeds") == expected
    assert found.compared["rho = 1"].n == 3
    assert found.is_complete
    assert found.num_seeds == 4
    rows = {name: scores[:2] for name, scores in ROWS.items()}
    found = read(rows, baseline="SimCSE", paper=PAPER)
    assert found.compared == {"rho = 1": None, "rho = 0.5": None}
    assert with_columns(rows_table(found), "minus SimCSE", "p (Holm)") == [["", ""]] * (3 + 3)
    assert claims_table(found)[["verdict", "difference"]].to_numpy().tolist() == [["undecided", ""]]
    found = read({"SimCSE": [60.0, 61.0, 62.0], "two": [60.5, 61.5, tabled.FAILED]}, baseline="SimCSE")
    assert "Fewer than 3 seeds, too few for an interval, are shared with SimCSE by two." in remarks(found)


def test_beside_the_kept_checkpoint_stands_the_last_step(tmp_path):
    kept = tabled.OBJECTIVE.model_copy(update={"metric": "dev/kept"})
    folder = tabled.make(tmp_path, ROWS, baseline="SimCSE", objective=kept)
    table = rows_table(comparison_in(folder)).set_index("row")
    assert table.loc["SimCSE", ["mean", "last step"]].tolist() == [
        "75.69",
        "70.69",
    ]  # 5 points before its end
    assert table.loc["rho = 1", "minus SimCSE"] == "+1.00"
    assert "last step" not in rows_table(comparison_in(tabled.make(tmp_path / "last", ROWS)))


SEVEN = ("STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R")


def test_a_claim_is_judged_on_what_the_papers_table_shows_and_on_the_objective_only_without_it(tmp_path):
    """On the objective rho = 0.5 is ahead, on the average of the test sets rho = 1."""
    folder = tabled.make(
        tmp_path / "s",
        ROWS,
        baseline="SimCSE",
        paper=PAPER,
        evaluations=tuple(f"{name}/test" for name in SEVEN),
    )
    unscored = comparison_in(folder)
    assert [judged.verdict for judged in unscored.judged] == ["incomplete"]
    swapped = {"rho = 1": ROWS["rho = 0.5"], "rho = 0.5": ROWS["rho = 1"], "SimCSE": ROWS["SimCSE"]}
    tabled.add(folder, {f"{name}/test/all": swapped for name in SEVEN})
    found = comparison_in(folder)
    assert [judged.verdict for judged in found.judged] == ["contradicted"]
    (column,) = {cell.column.name for cell in found.columns}
    cell = next(cell for cell in found.columns if cell.row == "rho = 0.5")
    assert (column, cell.printed, cell.mean) == ("Correlation", 77.90, pytest.approx(71.6875))
    assert found.printed == {}  # it stands beside the column, not beside the objective


SYSTEMS = ("SimCSE", "USCAL", "ConSERT", "RobustEmbed", "RobustSentEmbed")


def test_claims_of_a_main_table_are_of_its_average_and_of_as_many_sets_as_it_says(tmp_path):
    rows = dict.fromkeys(SYSTEMS, SIMCSE)
    paper = {"table": "rse-table3", "scale": "paper"}
    names = tuple(f"{name}/test" for name in SEVEN)
    folder = tabled.make(tmp_path / "s", rows, baseline="SimCSE", paper=paper, evaluations=names)
    best = {**rows, "RobustSentEmbed": above(SIMCSE, *around(30.0, 4))}
    beaten = {**rows, "RobustSentEmbed": above(SIMCSE, *around(-30.0, 4))}
    scores = {f"{name}/test/all": beaten if name == "STS13" else best for name in SEVEN}
    tabled.add(folder, scores)
    table = claims_table(comparison_in(folder)).set_index("source")
    assert table["verdict"].tolist() == ["reproduced"] * 3 + ["not asked"] * 2  # those on RoBERTa
    assert table.loc["robustsentembed.txt:700", "difference"] == "best in 6 of 7 columns, beaten in 1"
    assert table.loc["robustsentembed.txt:696", "difference"].startswith(
        "RobustSentEmbed minus USCAL: +21.43 ["
    )


def test_a_claim_may_be_of_a_metric_of_training_at_its_last_step(tmp_path):
    apart = {
        f"norm = {norm}, weight = 1": gap for norm, gap in (("none", 0.05), ("batch", 0.2), ("power", 0.2))
    }
    rows, paper = dict.fromkeys(apart, (tabled.PLANNED,) * 4), {"table": "dcl-figure3", "scale": "paper"}
    folder = tabled.make(tmp_path / "s", rows, paper=paper)
    assert [one.verdict for one in comparison_in(folder).judged] == ["incomplete"]
    with Ledger.open(folder) as ledger:
        for cell in ledger.cells():
            gap = apart[row_name("", cell.proposal)] + cell.seed / 1000
            cosines = [
                {"dev": 1.0, "cosine/positive": 0.99, "cosine/random": 0.99 - each} for each in (0.9, gap)
            ]
            points = tuple(Point(t=t, metrics=each) for t, each in zip((70, 80), cosines, strict=True))
            run(ledger, cell, "complete", points)
    found = comparison_in(folder)
    ((_, verdict, difference, _),) = claims_table(found).to_numpy().tolist()
    assert verdict == "reproduced"
    assert difference.startswith("norm = power, weight = 1 minus norm = none, weight = 1: +0.15 [")
    cells = {(cell.column.name, cell.row): cell for cell in found.columns}
    power = cells["random", "norm = power, weight = 1"]
    assert (power.mean, power.printed) == (pytest.approx(0.7885), 0.7904)


def test_what_so_many_seeds_can_show_is_said_and_enough_are_not_complained_about(read):
    found = read(baseline="SimCSE", paper=PAPER)
    rule, power, exact, _, claims = remarks(found)
    assert rule == (
        "Verdicts follow the simultaneous 95% interval over all 2 rows (Student's t): the seeds were chosen before "
        "the first result. Differences within \N{PLUS-MINUS SIGN}0.5 count as the same."
    )
    assert power == (
        f"4 seeds and 2 comparisons with SimCSE: a true difference of {found.resolvable:.2f} points (median over rows) "
        "would be found in 4 of 5 such studies."
    )
    assert exact == (
        "With 4 seeds and 2 comparisons, the smallest possible p of the exact test is 0.250, so p neither supports nor "
        "contradicts a verdict."
    )
    assert claims.startswith("The claims rest on 1 contrast with simultaneous 95% intervals;")
    rows = {"rho = 1": tuple(around(72.0, 8)), "SimCSE": tuple(around(70.0, 8)[::-1])}
    assert not any("smallest possible p" in text for text in remarks(read(rows, baseline="SimCSE")))
    found = read(paper={"table": "rse-figure1", "scale": "paper"})
    assert (found.judged, found.printed) == ([], {})


def test_what_a_collapsed_model_got_is_marked_and_explained(tmp_path):
    folder = tabled.make(tmp_path, ROWS, baseline="SimCSE")
    with Ledger.open(folder) as ledger:
        scored = measure("untrained", "STS-B/dev", 0.0)
        update = {"degenerate": True}
        ledger.record_evaluations([scored.model_copy(update=update), measure("start", "STS-B/dev", 55.0)])
    found = comparison_in(folder)
    means = dict(with_columns(rows_table(found), "row", "mean"))
    assert (means["untrained encoder"], means["before training"]) == ("0.00 \u2020", "55.00")
    assert "\u2020" not in means["SimCSE"]
    assert any(text.startswith("\u2020 Degenerate: ") for text in remarks(found))
