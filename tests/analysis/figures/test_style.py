import plotly.graph_objects as go
import pytest

from analysis.figures.style import CHOICE, chooser, few_lines, plain, row_ticks, rows_height, shortened

LONG = [f"without the weakening masks of the first layers, batch 128, variant number {n}" for n in range(60)]


@pytest.mark.parametrize("most", [5, 12, 30, 200])
def test_a_short_text_keeps_its_beginning_and_its_end(most):
    text = shortened(LONG[7], most)
    assert len(text) <= most
    assert text[0] == "w"
    assert text[-1] == "7"
    assert (text == LONG[7]) == (most == 200)


def test_many_rows_have_short_names_that_are_told_apart_by_first_and_last_words():
    ticks = row_ticks(LONG)
    assert max(tick.count("<br>") for tick in ticks) <= 2
    assert len(set(ticks)) == 60
    assert rows_height(ticks, 26) < 60 * 60
    assert row_ticks(["norm = l2", "norm = l1"]) == ["norm = l2", "norm = l1"]
    assert few_lines(LONG[7], 18, 2) == ["without the\N{HORIZONTAL ELLIPSIS}", "variant number 7"]
    assert len(few_lines(LONG[7], 18, 3)) == 3
    assert few_lines("x" * 80, 18, 2)[1] == "x" * 18
    assert few_lines("norm = l2", 18, 2) == ["norm = l2"]
    names = [f"{'a word ' * 9}{n} {'and others ' * 9}" for n in range(20)]
    assert len(set(row_ticks(names))) == 20
    menu = chooser([{"label": name, "method": "restyle", "args": []} for name in LONG])
    assert max(len(button["label"]) for button in menu["buttons"]) <= CHOICE


@pytest.mark.parametrize("height", [230, 5000])
def test_a_legend_stands_just_above_its_plot_however_tall_that_is(height):
    above = (plain(go.Figure(), height).layout.legend.y - 1) * (height - 64)
    assert above == pytest.approx(8)
