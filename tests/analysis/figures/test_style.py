from analysis.figures.style import CHOICE, chooser, few_lines, row_ticks, rows_height

LONG = [f"without the weakening masks of the first layers, batch 128, variant number {n}" for n in range(60)]


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
