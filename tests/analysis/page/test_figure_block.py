import json
import re

import pandas as pd
import plotly.graph_objects as go

from analysis import page
from tests.analysis.outline import Outline

HOSTILE = "</script><script>alert(1)</script>"


def content_of(html, kind):
    (text,) = re.findall(rf'<script type="application/json" class="{kind}">(.*?)</script>', html)
    return json.loads(text)


def test_a_figure_stands_in_the_page_as_what_is_drawn_with_its_numbers_as_csv():
    drawing = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name=HOSTILE)).update_layout(height=300)
    html = page.figure(drawing, "history")
    assert Outline(html).anchors == ["figure-history", "history"]
    assert Outline(html).figures == ["history"]
    drawn = content_of(html, "drawing")
    assert drawn["data"][0]["name"] == HOSTILE
    assert drawn["layout"] == {"height": 300}
    assert drawing.layout.template.layout.font.color, "the drawing itself is left alone"
    frame = pd.DataFrame({"row": [HOSTILE, 'a "b", c'], "value": [1.5, None]})
    html = page.figure(go.Figure(), "x", frame)
    assert HOSTILE not in html
    assert content_of(html, "numbers")["csv"] == f'row,value\n{HOSTILE},1.5\n"a ""b"", c",\n'
    assert "numbers" not in page.figure(go.Figure(), "x")
