import pytest

from analysis import page
from tests.analysis.outline import Outline


@pytest.mark.parametrize(
    ("heading", "name", "anchor"),
    [
        ("One axis at a time", "", "section-one-axis-at-a-time"),
        ("Beside RSE/table6 <b>", "", "section-beside-rse-table6-b"),
        ("Beside RSE/table6", "paper", "section-paper"),
    ],
)
def test_a_section_has_an_anchor_and_a_heading_that_is_text(heading, name, anchor):
    outline = Outline(page.section(heading, "<p>x</p>", name=name))
    assert outline.anchors == [anchor]
    assert [tag for tag, _ in outline.tags] == ["section", "details", "summary", "h2", "div", "p"]
    assert heading in outline.text
