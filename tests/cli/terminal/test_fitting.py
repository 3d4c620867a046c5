"""Texts that stay inside a width."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rse_study.cli.terminal.fitting import LinePart, fit_line, harmless, shorten, wrapped
from rse_study.cli.terminal.screen import console_of, print_rows
from tests.cases import cases

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


@given(TEXTS, st.lists(TEXTS, max_size=6), st.integers(40, 120))
def test_a_line_keeps_what_must_not_be_left_out(name, values, width):
    parts = [LinePart("complete", is_dropped=False), *(LinePart(value) for value in values)]
    line = fit_line(name, parts, width)
    assert cell_len(line) <= width
    assert "complete" in line


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (70, "row of a long name with a seed: complete  dev 61.2  rho 0.5  4 s"),
        (60, "row of a long name with a seed: complete  dev 61.2  rho 0.5"),
        (50, "row of a long name with a seed: complete  dev 61.2"),
        (46, "row of a long\N{HORIZONTAL ELLIPSIS}with a seed: complete  dev 61.2"),
        (36, "row of a long\N{HORIZONTAL ELLIPSIS}with a seed: complete"),
    ],
)
def test_decoration_goes_first_then_the_name_then_values(width, line):
    parts = [
        LinePart("complete", is_dropped=False),
        LinePart("dev 61.2"),
        LinePart("rho 0.5", is_dropped_first=width < 60),
        LinePart("4 s", is_dropped_first=True),
    ]
    assert fit_line("row of a long name with a seed", parts, width) == line


def test_a_label_from_a_stranger_moves_no_cursor():
    stream = io.StringIO()
    print_rows(["row"], [["\x1b[2J\x1b]0;title\x07 \x9b1A"]], "", console=console_of(stream))
    assert "\\x1b[2J\\x1b]0;title\\x07 \\x9b1A" in stream.getvalue()
    assert not set(stream.getvalue()) & set("\x1b\x07\x9b")


@cases("code", [0x1B, 0x9B, 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xDCFF])
def test_a_terminal_gets_no_character_that_it_would_obey(code):
    shown = harmless(f"row {chr(code)}\u05d0")
    assert chr(code) not in shown and f"{code:x}" in shown and shown.endswith("\u05d0")
