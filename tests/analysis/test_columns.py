"""A paper's table with our numbers beside it: cells read from made-up ledgers, and as tables of text."""

import math

import pytest

from analysis.columns_table import column_remarks, columns_of_numbers, long_table, wide_table
from tests.analysis import tabled
from tests.results.samples import around, half_width

SEEDS = 3
SIMCSE = (70.0, 73.5, 69.5)
DEV = dict.fromkeys(("SimCSE", "USCAL", "RobustSentEmbed"), SIMCSE)
PWWS, BAE = "attack-mr/pwws", "attack-mr/bae"
RATE = "attack-{}/{}/success_rate"
BEYOND, WITHIN = 1.01, 0.99


def above(base, mean):
    """By `mean` in the mean of all seeds, with an SD of 1."""
    return tuple(value + gain for value, gain in zip(base, around(mean, len(base)), strict=True))


def make(folder, scores, *, table="rse-table1", rows=DEV, baseline="SimCSE", scale="paper", **study):
    evaluations = dict.fromkeys(part.rpartition("/")[0] for metric in scores for part in metric.split(" - "))
    evaluations.pop("STS-B/test", None)  # every such study asks for it
    study = {"evaluations": tuple(evaluations), **study}
    paper = {"table": table, "scale": scale}
    folder = tabled.make(folder / "s", rows, baseline=baseline, paper=paper, **study)
    return tabled.add(folder, scores)


read = tabled.comparison_of


def by_place(comparison):
    return {(cell.column.block, cell.column.name, cell.row): cell for cell in comparison.columns}


def cells_of(folder):
    return by_place(read(folder))


def rates(halves, num_cells, base=SIMCSE):
    """SimCSE at `base`, the others above it by so many half widths of the interval of `num_cells` cells at once."""
    width = half_width(len(base), num_cells)
    return {"SimCSE": base} | {row: above(base, half * width) for row, half in halves.items()}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """Six cells against SimCSE. The paper has fewer attacks succeed against either row than against SimCSE."""
    halves = {
        ("mr", "pwws"): {"RobustSentEmbed": -BEYOND, "USCAL": -WITHIN},
        ("sst2", "pwws"): {"RobustSentEmbed": WITHIN, "USCAL": BEYOND},
        ("mr", "bae"): {"RobustSentEmbed": -BEYOND, "USCAL": -BEYOND},
    }
    scores = {RATE.format(*column): rates(rows, 6) for column, rows in halves.items()}
    return cells_of(make(tmp_path_factory.mktemp("attacked"), scores))


@pytest.mark.parametrize(
    ("column", "row", "half", "direction", "leans"),
    [
        ("MR", "RobustSentEmbed", -BEYOND, "same", True),
        ("MR", "USCAL", -WITHIN, "undecided", True),
        ("SST2", "RobustSentEmbed", WITHIN, "undecided", False),
        ("SST2", "USCAL", BEYOND, "other", False),
    ],
)
def test_a_direction_is_the_papers_where_the_interval_says_so(attacked, column, row, half, direction, leans):
    cell = attacked["PWWS", column, row]
    assert (cell.direction, cell.leans, cell.minus) == (direction, leans, "SimCSE")
    assert cell.difference == pytest.approx(half * half_width(SEEDS, 6))
    assert cell.less_is_better


def test_the_papers_numbers_stand_beside_ours_and_intervals_hold_for_all_cells(attacked):
    cell = attacked["PWWS", "MR", "RobustSentEmbed"]
    assert (cell.printed, cell.printed_difference) == (28.05, pytest.approx(28.05 - 55.73))
    compared = [cell for cell in attacked.values() if cell.minus]
    assert len(compared) == 6
    for cell in compared:
        assert cell.interval.high - cell.interval.low == pytest.approx(2 * half_width(SEEDS, 6))
    assert {cell.direction for cell in attacked.values() if cell.row == "SimCSE"} == {""}


@pytest.fixture(scope="module")
def similar(tmp_path_factory):
    """Two rows on STS12, and baselines. With the two differences on STS-B, which every ledger has, there are four."""
    fixed = {"whitening": 51.0, "token_overlap": 47.5}
    scores = {"STS12/test/all": rates({"RobustSentEmbed": BEYOND, "USCAL": -BEYOND}, 4) | fixed}
    return cells_of(make(tmp_path_factory.mktemp("similar"), scores, table="rse-table3"))


def test_where_more_is_better_the_papers_sign_is_the_other_one_and_baselines_stand_beside(similar):
    """On STS12 the paper's method gains; a row of ours that loses as clearly goes the other way."""
    assert similar["BERT-base", "STS12", "RobustSentEmbed"].direction == "same"
    assert similar["BERT-base", "STS12", "USCAL"].direction == "other"
    assert not similar["BERT-base", "STS12", "USCAL"].less_is_better
    cell = similar["BERT-base", "STS12", "whitened mean, no training"]
    assert (cell.is_fixed, cell.mean, cell.printed, cell.minus) == (True, 51.0, 57.83, "")
    assert math.isnan(cell.sd)
    assert math.isnan(similar["BERT-base", "STS12", "token overlap"].printed)


def test_a_mean_is_there_where_all_its_columns_are(tmp_path):
    five = ("MR", "CR", "SUBJ", "MPQA", "SST2")
    scores = {f"{task}/full/accuracy": {"SimCSE": SIMCSE, "USCAL": above(SIMCSE, 1.0)} for task in five}
    part = cells_of(make(tmp_path / "part", scores, table="rse-table4"))
    assert {column for _, column, _ in part} == set(five)
    last = {"SimCSE": above(SIMCSE, 6.0), "USCAL": above(SIMCSE, 13.0)}
    whole = cells_of(make(tmp_path / "whole", scores | {"MRPC/full/accuracy": last}, table="rse-table4"))
    cell = whole["BERT-base", "Avg.", "USCAL"]
    assert cell.mean == pytest.approx(71.0 + (5 * 1.0 + 13.0) / 6)
    assert cell.difference == pytest.approx((5 * 1.0 + 7.0) / 6)
    assert (cell.printed, cell.printed_difference) == (85.80, pytest.approx(0.09))


def test_without_a_baseline_the_encoder_before_training_is_what_a_row_is_compared_with(tmp_path):
    metric = "GLUE-WNLI/fine_tuned/accuracy"
    gain = BEYOND * half_width(SEEDS)
    scores = {metric: {"+Ours": tuple(60.0 + value for value in around(gain, SEEDS)), "start": 60.0}}
    found = read(make(tmp_path, scores, table="l2p-table4", rows={"+Ours": SIMCSE}, baseline=""))
    cell = by_place(found)["", "WNLI", "+Ours"]
    assert (cell.minus, cell.direction) == ("before training", "same")
    assert cell.printed_difference == pytest.approx(36.62 - 33.80)
    (wnli, *others) = found.judged
    assert (wnli.claim.id, wnli.verdict) == ("l2p-table4-wnli", "reproduced")
    assert {judged.verdict for judged in others} == {"not asked"}


def test_where_the_paper_shows_no_difference_there_is_no_direction(tmp_path):
    """RobustEmbed and RobustSentEmbed have one and the same number on STS15."""
    rows = {"RobustEmbed": SIMCSE, "RobustSentEmbed": SIMCSE}
    scores = {"STS15/test/all": {"RobustEmbed": SIMCSE, "RobustSentEmbed": above(SIMCSE, 50.0)}}
    cell = cells_of(make(tmp_path, scores, table="rse-table3", rows=rows, baseline="RobustEmbed"))[
        "BERT-base", "STS15", "RobustSentEmbed"
    ]
    assert (cell.direction, cell.printed_difference) == ("", 0.0)


def test_figures_that_an_evaluation_does_not_have_are_left_out(tmp_path):
    """ANLI's dev splits alone are here: nobody waits for the others."""
    scores = {
        f"ANLI/fine_tuned/{name} dev": {"SimCSE": SIMCSE, "V-advCSE": above(SIMCSE, 50.0)}
        for name in ("R1", "R2", "R3", "mean")
    }
    rows = {"SimCSE": SIMCSE, "V-advCSE": SIMCSE}
    found = read(make(tmp_path, scores, table="vadv-table3", rows=rows))
    assert {cell.column.block for cell in found.columns} == {"Dev"}
    assert [judged.verdict for judged in found.judged] == ["reproduced", "not asked"]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The cells of a column that is decided each way, and of one that is not."""
    scores = {
        RATE.format("mr", "pwws"): rates({"USCAL": -BEYOND, "RobustSentEmbed": BEYOND}, 4),
        RATE.format("sst2", "bae"): rates({"USCAL": -WITHIN, "RobustSentEmbed": 0.5}, 4) | {"start": 91.5},
    }
    return read(make(tmp_path_factory.mktemp("told"), scores, scale="mini")).columns


def test_the_wide_table_is_laid_out_as_the_papers_and_directions_are_counted(told):
    table = wide_table(told)
    assert list(table.columns) == ["block", "row", "MR", "SST2"]
    assert table.to_numpy().tolist() == [
        ["PWWS", "SimCSE", "71.00 (55.73)", ""],
        ["PWWS", "USCAL", f"{71 - BEYOND * half_width(SEEDS, 4):.2f} (40.67)", ""],
        ["PWWS", "RobustEmbed (not trained)", "(28.15)", ""],
        ["PWWS", "RobustSentEmbed", f"{71 + BEYOND * half_width(SEEDS, 4):.2f} (28.05)", ""],
        ["BAE", "before training", "", "91.50"],
        ["BAE", "SimCSE", "", "71.00 (68.27)"],
        ["BAE", "USCAL", "", f"{71 - WITHIN * half_width(SEEDS, 4):.2f} (51.72)"],
        ["BAE", "RobustEmbed (not trained)", "", "(32.08)"],
        ["BAE", "RobustSentEmbed", "", f"{71 + 0.5 * half_width(SEEDS, 4):.2f} (31.43)"],
    ]
    first, second = column_remarks(told, "rse-table1")
    assert first == (
        "Directions of rse-table1, 4 differences from SimCSE: 1 same, 1 other, 2 undecided; 1 of the undecided lean to "
        "the paper's side. 4 intervals hold at once (95%)."
    )
    assert second == "Less is better."


def test_the_papers_rows_stand_in_its_table_even_where_nothing_of_them_can_be_trained(tmp_path):
    scores = {"STS12/test/all": {"SimCSE": SIMCSE, "SimCSE (as published)": SIMCSE, "whitening": 57.0}}
    rows = {"SimCSE": SIMCSE, "SimCSE (as published)": SIMCSE}
    folder = make(tmp_path, scores, table="rse-table3", rows=rows, encoder="bert-base-uncased")
    table = dict(wide_table(read(folder).columns)[["row", "STS12"]].to_numpy().tolist())
    assert table["GloVe (not trained)"] == "(55.14)"
    assert table["BERT-flow, no training (not measured)"] == "(58.40)"
    assert table["first-last mean, no training (not measured)"] == "(39.70)"
    assert table["whitened mean, no training"] == "57.00 (57.83)"
    assert table["SimCSE"] == table["SimCSE (as published)"] == "71.00 (68.66)"
    assert not any("RoBERTa" in row for row in table)
    open_study = make(tmp_path / "open", scores, table="rse-table3", rows=rows, num_cells=9)
    assert "ATCL (no cells yet)" in set(wide_table(read(open_study).columns)["row"])


def test_the_long_table_has_every_cell_and_programs_read_the_numbers_themselves(told):
    table = long_table(told).set_index(["block", "column", "row"])
    assert len(table) == 7 + 2
    alone = table.loc[("PWWS", "MR", "RobustEmbed (not trained)")]
    assert alone[alone != ""].to_dict() == {"paper": "28.15", "better is": "less"}
    low, high = (BEYOND * half_width(SEEDS, 4) + sign * half_width(SEEDS, 4) for sign in (-1, 1))
    assert table.loc[("PWWS", "MR", "RobustSentEmbed")].to_dict() == {
        "ours": f"{71 + BEYOND * half_width(SEEDS, 4):.2f}",
        "SD": table.loc[("PWWS", "MR", "RobustSentEmbed"), "SD"],
        "seeds": "3",
        "paper": "28.05",
        "minus": "SimCSE",
        "difference": f"+{BEYOND * half_width(SEEDS, 4):.2f}",
        "95%, all cells at once": f"[+{low:.2f}, +{high:.2f}]",
        "paper's difference": "−27.68",
        "direction": "other",
        "better is": "less",
    }
    expected = ["91.50", "", ""]
    assert table.loc[("BAE", "SST2", "before training"), ["ours", "seeds", "minus"]].tolist() == expected
    table = columns_of_numbers(told).set_index(["block", "column", "row"])
    for cell in told:
        found = table.loc[(cell.column.block, cell.column.name, cell.row)]
        assert (found["metric"], found["direction"]) == (cell.column.metric, cell.direction)
        assert found["mean"] == cell.mean or (cell.is_absent and math.isnan(found["mean"]))
        assert (found["num_seeds"] == 0) == cell.is_absent
        if cell.interval:
            expected = (cell.interval.low, cell.interval.high)
            assert (found["simultaneous_low"], found["simultaneous_high"]) == expected
