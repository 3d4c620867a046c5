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
