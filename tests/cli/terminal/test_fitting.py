"""Texts that stay inside a width."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rse_study.cli.terminal.screen import console_of, harmless, print_rows, shorten, wrapped
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


def test_a_label_from_a_stranger_moves_no_cursor():
    stream = io.StringIO()
    print_rows(["row"], [["\x1b[2J\x1b]0;title\x07 \x9b1A"]], "", console=console_of(stream))
    assert "\\x1b[2J\\x1b]0;title\\x07 \\x9b1A" in stream.getvalue()
    assert not set(stream.getvalue()) & set("\x1b\x07\x9b")


@cases("code", [0x1B, 0x9B, 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xDCFF])
def test_a_terminal_gets_no_character_that_it_would_obey(code):
    shown = harmless(f"row {chr(code)}\u05d0")
    assert chr(code) not in shown and f"{code:x}" in shown and shown.endswith("\u05d0")
