"""Edits of joint.yaml as text.

An edit is `path=value` lines, separated by `;;`, written into the file's content (null takes away).
"""

from tests.study.no_search import NO_SEARCH

GRID = ";;".join(
    [*NO_SEARCH, "grid={axes: {beta: [1e-3, 1e-2], rho: [0, 0.5, 1]}, rows: {paper: {lambda2: 0.01}}};;"]
)


def pairs(text):
    """(edit, what is said) of the lines `edit -> what is said`; an indented line goes on with the one above."""
    joined = text.strip().replace("\n    ", " ").splitlines()
    return [(edit.rstrip(), said.lstrip()) for edit, _, said in (line.partition(" ->") for line in joined)]


def lines(text, before=""):
    return [before + line.strip() for line in text.strip().splitlines()]
