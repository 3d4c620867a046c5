"""Rows of texts as lines that stay inside a width."""

from rse_study.cli.terminal.screen import text_table
from tests.cases import cases

COLUMNS = {
    "row": ["untrained encoder", "rho = 0.25, norm = l2", "rho = 0.25, norm = linf"],
    "mean": ["5.00", "66.10", "\N{MINUS SIGN}4.20"],
    "95%, all rows at once": ["", "[+0.10, +1.20]", "[+0.10, +11.20]"],
    "status": ["", "complete", "failed"],
    "seed 0": ["", "1.00", "2.00"],
    "seed 1": ["", "1.00", "2.00"],
}
HEADINGS, ROWS = list(COLUMNS), list(zip(*COLUMNS.values(), strict=True))


def widths(table):
    return max(len(line) for line in table.lines)


def test_without_a_width_every_column_is_there_on_one_line_of_headings():
    table = text_table(HEADINGS, ROWS)
    assert table.dropped == ()
    assert len(table.lines) == 4
    assert table.lines[0].split() == " ".join(HEADINGS).split()


def test_numbers_stand_to_the_right_and_words_to_the_left():
    lines = text_table(HEADINGS, ROWS).lines
    assert lines[1].startswith("untrained encoder         5.00")
    at = lines[0].index("status")
    assert [line[at:].split("  ")[0] for line in lines[2:]] == ["complete", "failed"]


def test_headings_break_before_anything_is_left_out():
    whole = text_table(HEADINGS, ROWS)
    table = text_table(HEADINGS, ROWS, widths(whole) - 4)
    assert table.dropped == ()
    assert len(table.lines) == 5  # two lines of headings
    assert widths(table) <= widths(whole) - 4


@cases("width", range(12, 100, 4))
def test_no_line_is_wider_and_what_is_missing_is_named(width):
    table = text_table(HEADINGS, ROWS, width)
    assert widths(table) <= width
    shown, whole = " ".join(" ".join(table.lines).split()), {"mean", "status"}
    assert {name for name in whole if name not in shown} == whole & {*table.dropped}


def test_the_least_important_goes_first_and_the_others_from_the_right():
    dropped = [text_table(HEADINGS, ROWS, width, ("mean", "seed 0")).dropped for width in range(100, 12, -1)]
    order = []
    for names in dropped:
        order += [name for name in names if name not in order]
    assert order == ["mean", "seed 0", "seed 1", "status", "95%, all rows at once"]


def test_names_of_rows_are_shortened_only_as_far_as_they_can_be_told_apart():
    for width in range(30, 100):
        lines = text_table(HEADINGS, ROWS, width).lines
        names = [line.split("  ")[0] for line in lines[-3:]]
        assert len(set(names)) == 3


def test_a_table_without_rows_has_its_headings():
    assert text_table(HEADINGS, [], 80).lines[-1].startswith("row")
