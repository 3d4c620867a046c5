import pandas as pd

from analysis import page
from tests.analysis.outline import Outline


def test_pairs_of_headings_share_the_upper_one():
    frame = pd.DataFrame({("", "row"): ["a"], ("test", "mean"): ["1"], ("test", "SD"): ["2"]})
    html = page.table(frame)
    assert [attrs.get("colspan") for tag, attrs in Outline(html).tags if tag == "th"] == [
        "1",
        "2",
        None,
        None,
        None,
    ]
    assert Outline(html).text.split() == ["test", "row", "mean", "SD", "a", "1", "2"]


def test_text_in_a_table_is_text():
    html = page.table(pd.DataFrame({"<i>": ["<b>"]}), ["best"])
    assert not {"i", "b"} & {tag for tag, _ in Outline(html).tags}
    assert ("tr", {"class": "best"}) in Outline(html).tags


def test_what_is_folded_can_be_open():
    assert page.folded("2 events", "x") == "<details><summary>2 events</summary>x</details>"
    assert page.folded("<", is_open=True) == "<details open><summary>&lt;</summary></details>"
