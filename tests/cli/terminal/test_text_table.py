"""Rows of texts as lines that stay inside a width."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rse_study.cli.terminal.screen import console_of, harmless, print_rows, shorten, text_table, wrapped
from rse_study.cli.verbs import run
from rse_study.results.reader import Reader
from tests.analysis import tabled
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


# Texts that stay inside a width.


WIDE = "\N{CJK UNIFIED IDEOGRAPH-6587}"  # two columns
TEXTS = st.text(alphabet=f"ab = ,{WIDE}\N{MINUS SIGN}", max_size=60)


@given(TEXTS, st.integers(1, 70))
def test_a_shortened_text_is_never_wider_and_keeps_both_ends(text, width):
    short = shorten(text, width)
    assert cell_len(short) <= width
    if cell_len(text) <= width:
        assert short == text
    elif width >= 5:
        first, last = short.split("\N{HORIZONTAL ELLIPSIS}")
        assert text.startswith(first)
        assert text.endswith(last)


@given(st.lists(TEXTS, max_size=5), st.integers(20, 80))
def test_only_a_word_wider_than_the_line_leaves_it_and_no_word_is_lost(texts, width):
    text = "\n".join(texts)
    lines = wrapped(text, width).split("\n")
    assert "\n".join(lines).split() == text.split()
    for line in lines:
        assert cell_len(line) <= width or len(line.split()) == 1


def test_what_goes_on_is_indented_and_a_path_stays_whole():
    assert wrapped("so long " * 100, None) == "so long " * 100
    assert wrapped("  a list of some words", 12) == "  a list of\n      some\n      words"
    path = "/a/very/long/path/report.html"
    assert wrapped(f"report: {path}", 20) == f"report:\n    {path}"


def test_a_label_from_a_stranger_moves_no_cursor():
    stream = io.StringIO()
    print_rows(["row"], [["\x1b[2J\x1b]0;title\x07 \x9b1A"]], "", console=console_of(stream))
    assert "\\x1b[2J\\x1b]0;title\\x07 \\x9b1A" in stream.getvalue()
    assert not set(stream.getvalue()) & set("\x1b\x07\x9b")


@cases("code", [0x1B, 0x9B, 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xDCFF])
def test_a_terminal_gets_no_character_that_it_would_obey(code):
    shown = harmless(f"row {chr(code)}\u05d0")
    assert chr(code) not in shown and f"{code:x}" in shown and shown.endswith("\u05d0")


# The table of a study as `run` shows it: what a narrow terminal leaves out.


def test_single_seeds_are_left_out_first_but_no_mean(monkeypatch, tmp_path):
    left_out = []
    monkeypatch.setattr(run.screen, "print_table", lambda *_, droppable, **more: left_out.extend(droppable))
    with Reader(tabled.make(tmp_path / "s", {"SimCSE": (70.0, 71.0)})) as reader:
        run.show_table(reader, "")
    assert left_out == ["seed 1", "seed 0", "time", "step"]
