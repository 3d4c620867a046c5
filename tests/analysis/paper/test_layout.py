import re

import pandas as pd
import pytest

from analysis.comparison_table import printed_rows, rows_table, show_interval
from analysis.formats import DEGENERATE, STAR, show_signed
from analysis.paper.layout import marks, place_name, scores_caption, write_layouts
from analysis.paper.tables import known_places
from tests.analysis import tabled
from tests.analysis.paper.typeset import lines_between, typeset

SIMCSE = (70.0, 74.0, 70.5)
ODD = r"50% of A & B_1 {x} #2 ~ $y^2$ \z <a|b>"
ROWS = {
    "rho = 0.5": (69.0, 70.0, 70.25),
    "rho = 1": (72.0, 75.0, 70.5),
    ODD: (72.0, tabled.FAILED, 71.0),
    "SimCSE": SIMCSE,
}
SEPARATOR = re.compile(r"(?<!\\)&")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    paper = {"table": "rse-table6", "scale": "mini"}
    folder = tabled.make(tmp_path_factory.mktemp("s"), ROWS, baseline="SimCSE", paper=paper, name="odd_table")
    return tabled.comparison_of(folder)


def test_the_files_are_named_after_the_study_even_one_that_has_only_begun(comparison, tmp_path):
    paths = write_layouts(comparison, tmp_path / "deep" / "er")
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [
        "deep/er/odd_table.csv",
        "deep/er/odd_table-contrasts.csv",
        "deep/er/odd_table-claims.csv",
        "deep/er/odd_table.tex",
    ]
    assert write_layouts(comparison, tmp_path / "deep" / "er") == paths  # once more: the same files
    folder = tabled.make(tmp_path / "begun", {}, num_cells=12, baseline="SimCSE")
    csv, *_, tex = write_layouts(tabled.comparison_of(folder), tmp_path)
    assert csv.read_text().split(",")[0] == "row"
    assert "\\midrule\n\\bottomrule" in tex.read_text()


def test_csv_is_read_back_as_it_is_shown_by_people_and_programs(comparison, tmp_path):
    path, *_ = write_layouts(comparison, tmp_path)
    found = pd.read_csv(path, dtype=str, keep_default_na=False)
    shown = rows_table(comparison)
    assert list(found.columns) == list(shown.columns)
    rows = ["rho = 0.5", "rho = 1", ODD, "SimCSE"]
    assert found.loc[found["seeds"] != "", "row"].tolist() == rows
    assert found.loc[found["row"].isin(rows), "paper"].tolist() == ["77.90", "76.34", "", ""]
    assert found["row"].str.contains(r"\(not trained\)").sum() == 3
    as_shown = [[cell.replace("\N{MINUS SIGN}", "-") for cell in row] for row in shown.to_numpy().tolist()]
    assert found.to_numpy().tolist() == as_shown  # no row's name has that sign
    found = pd.read_csv(path).set_index("row")
    numbers = ["paper", "mean", "SD", "seeds", "minus SimCSE", "p (sign-flip)", "p (Holm)", "g"]
    assert [str(found[name].dtype) for name in numbers] == ["float64"] * 8
    assert found.loc[rows, "seeds"].tolist() == [3, 3, 2, 3]
    assert found.loc["rho = 0.5", "minus SimCSE"] == pytest.approx(-1.75, abs=0.005)
    assert found.loc["rho = 1", "minus SimCSE"] == pytest.approx(1.0)
    assert pd.isna(found.loc[ODD, "minus SimCSE"])  # two seeds show nothing


def tex_of(comparison, folder):
    (path,) = [path for path in write_layouts(comparison, folder, "Cited.") if path.name == "odd_table.tex"]
    return path.read_text(encoding="utf-8")


def test_latex_prints_what_the_table_says_and_ends_what_it_begins(comparison, tmp_path):
    text = tex_of(comparison, tmp_path)
    (head,) = lines_between(text, r"\toprule", r"\midrule")
    body = lines_between(text, r"\midrule", r"\bottomrule")
    num_columns = printed_rows(comparison).shape[1]
    assert len(body) == len(ROWS) + 3  # the paper's alone
    assert {len(SEPARATOR.findall(line)) for line in (head, *body)} == {num_columns - 1}
    assert all(line.endswith(r" \\") for line in (head, *body))
    assert rf"\begin{{tabular}}{{l{'r' * (num_columns - 1)}}}" in text
    body = lines_between(tex_of(comparison, tmp_path), r"\midrule", r"\bottomrule")
    cells = [[typeset(cell) for cell in line.removesuffix(r" \\").split(" & ")] for line in body]
    assert cells == printed_rows(comparison).to_numpy().tolist()
    expected = [("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table")]
    assert re.findall(r"\\(begin|end)\{(\w+)\}", text) == expected
    assert text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")
    assert tex_of(comparison, tmp_path).splitlines()[:2] == ["% Cited.", r"% needs \usepackage{booktabs}"]


def test_ours_stands_beside_theirs_with_spread_and_interval(comparison):
    table = printed_rows(comparison).set_index("row")
    assert list(table.columns) == ["paper", "ours", "minus SimCSE, 95%", "verdict", "group"]
    one = comparison.compared["rho = 0.5"]
    assert table.loc["rho = 0.5", "paper"] == "77.90"
    assert table.loc["rho = 0.5", "ours"] == "69.75 \N{PLUS-MINUS SIGN} 0.66"
    expected = f"{show_signed(one.mean)} {show_interval(one.simultaneous)}"
    assert table.loc["rho = 0.5", "minus SimCSE, 95%"] == expected
    assert table.loc[ODD, "minus SimCSE, 95%"] == ""  # two seeds show nothing


def test_the_caption_says_where_the_numbers_come_from_and_scale_only_of_a_paper(comparison, tmp_path):
    caption = re.search(r"\\caption\{(.*)\}\n", tex_of(comparison, tmp_path))[1]
    assert caption == (
        r"odd\_table: STS-B dev, Spearman x100. Mean $\pm$ standard deviation (n $-$ 1) over 3 seeds. The paper's: "
        "Table 6 of RobustSentEmbed, column Correlation. Differences from SimCSE are paired by seed. Verdicts follow "
        "the simultaneous 95\\% interval over all 2 rows (Student's t): the seeds were chosen before the first result."
        r" Differences within $\pm$0.5 count as the same. Rows that share a letter cannot be told apart. A study at "
        "mini scale: its numbers are not a reproduction of the paper's."
    )
    rows = {"SimCSE": (70.0, 71.0, 72.0), "better": (75.0, 76.1, 77.0)}
    folder = tabled.make(tmp_path / "s", rows, baseline="SimCSE", encoder="tiny")
    text = write_layouts(tabled.comparison_of(folder), tmp_path)[-1].read_text(encoding="utf-8")
    caption = re.search(r"\\caption\{(.*)\}\n", text)[1]
    assert "scale" not in caption.lower()
    assert "Encoder tiny; mean" in caption


def test_every_number_of_a_contrast_and_every_verdict_stands_in_a_table_of_its_own(comparison, tmp_path):
    path = next(
        path for path in write_layouts(comparison, tmp_path) if path.name == "odd_table-contrasts.csv"
    )
    table = pd.read_csv(path).set_index("row")
    assert set(table.index) == set(ROWS) - {"SimCSE", ODD}  # two seeds show nothing
    one = comparison.compared["rho = 1"]
    found = table.loc["rho = 1"]
    assert found["minus"] == "SimCSE"
    for name, value in {
        "n": one.n, "mean": one.mean, "sd": one.sd, "t_low": one.interval.low, "t_high": one.interval.high,
        "simultaneous_low": one.simultaneous.low, "simultaneous_high": one.simultaneous.high,
        "bca_low": one.bootstrap.low, "bca_high": one.bootstrap.high, "p_sign_flip": one.p_exact,
        "p_wilcoxon": one.p_wilcoxon, "p_holm": one.p_holm, "hedges_g": one.effect, "resolvable": one.resolvable,
    }.items():  # fmt: skip
        assert found[name] == pytest.approx(value, nan_ok=True), name
    path = next(path for path in write_layouts(comparison, tmp_path) if path.name == "odd_table-claims.csv")
    table = pd.read_csv(path)
    assert table["verdict"].tolist() == [comparison.words(judged) for judged in comparison.judged]


@pytest.fixture(scope="module")
def main_table(tmp_path_factory):
    rows = {"SimCSE": SIMCSE, "RobustSentEmbed": SIMCSE}
    metric = "attack-mr/pwws/success_rate"
    asked = {"paper": {"table": "rse-table1", "scale": "paper"}, "evaluations": ("attack-mr/pwws",)}
    folder = tabled.make(tmp_path_factory.mktemp("s"), rows, baseline="SimCSE", **asked)
    tabled.add(folder, {metric: {"SimCSE": (80.0, 81.0, 82.0), "RobustSentEmbed": (60.0, 61.5, 62.0)}})
    return tabled.comparison_of(folder)


def test_a_main_table_has_its_columns_as_numbers_and_in_the_papers_layout(main_table, comparison, tmp_path):
    names = [path.name for path in write_layouts(main_table, tmp_path)]
    assert {"tabled-columns.csv", "tabled-columns.tex"} <= {*names}
    assert not any("columns" in path.name for path in write_layouts(comparison, tmp_path / "other"))
    *_, numbers, _, typeset_table = write_layouts(main_table, tmp_path)
    table = pd.read_csv(numbers).set_index("row")
    cell = next(cell for cell in main_table.columns if cell.row == "RobustSentEmbed")
    found = table.loc["RobustSentEmbed"]
    expected = ["PWWS", "MR", "attack-mr/pwws/success_rate", "less", "same"]
    assert found[["block", "column", "metric", "better", "direction"]].tolist() == expected
    shown = found[["mean", "paper", "difference", "simultaneous_low"]].tolist()
    assert shown == pytest.approx([cell.mean, 28.05, cell.difference, cell.interval.low])
    text = typeset_table.read_text(encoding="utf-8")
    assert r"RobustSentEmbed & 61.17 $\pm$ 1.04$^{*}$ (28.05) \\" in text
    assert r"\caption{tabled: ours, and in parentheses the paper's (Table 1 of RobustSentEmbed). " in text
    assert r"$^{*}$ the interval" in text


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("rse-table6", "Table 6 of RobustSentEmbed"),
        ("vadv-table2", "Table 2 of V-advCSE"),
        ("dcl-figure3", "Figure 3 of DCL"),
        ("rse-section-b4", "Section B.4 of RobustSentEmbed"),
        ("mine", "mine"),
    ],
)
def test_a_place_is_named_as_people_name_it(place, name):
    assert place_name(place) == name


def test_a_mark_is_explained_where_it_stands_and_every_place_has_a_name():
    plain, starred, collapsed = (
        pd.DataFrame({"row": ["a"], "dev": [f"61.2{mark}"]}) for mark in ("", STAR, DEGENERATE)
    )
    assert marks(plain, "it differs.") == ""
    assert marks(starred, "it differs.") == f" {STAR} it differs."
    assert marks(collapsed, "it differs.") == f" {DEGENERATE} The score of a collapsed model."
    table = pd.DataFrame({"row": ["a"]})
    assert scores_caption("s", "", 1, "", table) == "s: every measure of its results. Mean over 1 seed."
    assert [place for place in known_places() if place_name(place) == place] == []
