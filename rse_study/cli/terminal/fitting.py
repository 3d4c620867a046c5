"""Text fitted into a width in columns, of which some characters take two."""

import re
from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
INDENT = "    "
# Control characters, those that turn the direction of writing, and bytes that are no text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shorten(text: str, width: int) -> str:
    """Replace the middle of a wide text: names of trials begin alike or end alike.

    >>> shorten("row rho = 0.25, norm = l2 seed 1", 20)
    'row rho =…l2 seed 1'
    """
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS[:width]
    tail = (width - 1) // 2
    first = set_cell_size(text, width - 1 - tail).rstrip()
    last = set_cell_size(text[::-1], tail)[::-1].lstrip()
    return f"{first}{ELLIPSIS}{last}"


def harmless(text: str) -> str:
    r"""Write out the control characters of a text, which a terminal would obey.

    >>> harmless("row \x1b[2J: done\n")
    'row \\x1b[2J: done\n'
    """
    return CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


def wrapped(text: str, width: int | None, indent: str = INDENT) -> str:
    """Break lines at spaces and indent what goes on; None breaks nothing.

    A word wider than a line, such as a path, stays whole on its own line, so that it can be copied.
    """
    if width is None:
        return text
    return "\n".join(line for paragraph in text.split("\n") for line in _lines(paragraph, width, indent))


def _lines(paragraph: str, width: int, indent: str) -> Iterator[str]:
    own = paragraph[: len(paragraph) - len(paragraph.lstrip(" "))]
    line = ""
    for word in re.findall(r" *[^ ]+", paragraph):
        if line and cell_len(line + word) > width:
            yield line
            line = f"{own}{indent}{word.lstrip(' ')}"
        else:
            line += word
    yield line
