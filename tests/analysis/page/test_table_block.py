import pandas as pd

from analysis import page
from tests.analysis.outline import Outline


def test_pairs_of_headings_share_the_upper_one_and_their_columns_begin_with_a_line():
    frame = pd.DataFrame({("", "row"): ["a"], ("test", "mean"): ["1"], ("test", "SD"): ["2"]})
    outline = Outline(page.table(frame))
    spans = [attrs.get("colspan") for tag, attrs in outline.tags if tag == "th"]
    assert spans == ["1", "2", None, None, None]
    assert outline.text.split() == ["test", "row", "mean", "SD", "a", "1", "2"]
    cells = [attrs.get("class", "") for tag, attrs in Outline(page.table(frame)).tags if tag == "td"]
    assert cells == ["", "begins", ""]


def test_text_in_a_table_is_text_and_a_table_and_its_rows_have_anchors():
    html = page.table(pd.DataFrame({"<i>": ["<b>"]}), ["best"])
    assert not {"i", "b"} & {tag for tag, _ in Outline(html).tags}
    assert ("tr", {"class": "best"}) in Outline(html).tags
    html = page.table(pd.DataFrame({"x": ["a", "b"]}), name="cells", row_names=["", "cell-b"])
    assert Outline(html).anchors == ["table-cells", "cell-b"]


def test_words_stand_at_their_left_numbers_at_their_right_and_long_texts_have_lines():
    frame = pd.DataFrame(
        {"row": ["a", "b"], "status": ["complete", ""], "x": ["[\N{MINUS SIGN}1, 2]", "(3)"]}
    )
    cells = [attrs.get("class", "") for tag, attrs in Outline(page.table(frame)).tags if tag == "td"]
    assert cells == ["", "text", "", "", "text", ""]
    html = page.table(pd.DataFrame({"x": ["word " * 20], "at": ["2026-11-22 19:25:29"]}))
    assert [attrs.get("class", "") for tag, attrs in Outline(html).tags if tag == "td"] == ["wide", "when"]
    frame = pd.DataFrame(
        {
            "trial": ["0", "1", "2"],
            "beta": ["0.01", "\N{EN DASH}", "\N{EN DASH}"],
            "head": ["\N{EN DASH}", "none", "\N{EN DASH}"],
        }
    )
    cells = [attrs.get("class", "") for tag, attrs in Outline(page.table(frame)).tags if tag == "td"]
    assert cells == ["", "", "text"] * 3
