from analysis import page
from tests.analysis.outline import Outline


def test_the_list_of_contents_names_the_sections_in_their_order_and_a_title_is_text():
    sections = ["<h1>x</h1>", page.section("Results"), page.section("<Cells> & more", name="cells")]
    outline = Outline(page.page("x", sections))
    links = [attrs["href"] for tag, attrs in outline.tags if tag == "a"]
    assert links == ["#main", "#section-results", "#section-cells"]
    assert outline.text.count("<Cells> & more") == 2
    html = page.page("x", ["<h1>x</h1>"])
    assert "nav" not in [tag for tag, _ in Outline(html).tags]
    assert len(html) < 60_000
    assert "title" in [tag for tag, _ in Outline(page.page("</title><b>", [])).tags]
    assert "b" not in [tag for tag, _ in Outline(page.page("</title><b>", [])).tags]
