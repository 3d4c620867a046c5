"""What LaTeX prints of an escaped text, and the lines of a table."""

import re

COMMANDS = {
    "\\textbackslash{}": "\\", "\\textasciitilde{}": "~", "\\textasciicircum{}": "^", "\\textless{}": "<",
    "\\textgreater{}": ">", "\\textbar{}": "|", "$-$": "\N{MINUS SIGN}", "{[}": "[", "$\\pm$": "\N{PLUS-MINUS SIGN}",
    "$^{*}$": "\N{ASTERISK OPERATOR}", "\\dag{}": "\N{DAGGER}",
    **{f"\\{letter}": letter for letter in "&%$#_{}"},
}  # fmt: skip
FORMULA = re.compile(r"\$(?:\\(?!pm)([a-z]+)|(N))(?:_\{(\d+)\})?( = [\d.]+)?\$")
"""A symbol with its index and its number: $\\lambda_{1} = 0.5$."""


def typeset(text):
    """What LaTeX prints of an escaped text."""
    text = FORMULA.sub(lambda found: "".join(part or "" for part in found.groups()), text)
    return re.sub("|".join(map(re.escape, COMMANDS)), lambda match: COMMANDS[match[0]], text)


def lines_between(text, start, end):
    """The lines of a part of a table."""
    return text.split(start)[1].split(end)[0].strip().split("\n")
