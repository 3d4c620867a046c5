"""Captions of tables for papers."""

import pandas as pd
import pytest

from analysis.formats import DEGENERATE, STAR
from analysis.paper.captions import marks, place_name, scores_caption
from analysis.paper.ids import known_places


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("rse-table6", "Table 6 of RobustSentEmbed"),
        ("vadv-table2", "Table 2 of V-advCSE"),
        ("dcl-figure3", "Figure 3 of DCL"),
        ("rse-section-b4", "Section B.4 of RobustSentEmbed"),
        ("mine", "mine"),
    ],
)
def test_a_place_is_named_as_people_name_it(place, name):
    assert place_name(place) == name


def test_a_mark_is_explained_where_it_stands_and_every_place_has_a_name():
    plain, starred, collapsed = (
        pd.DataFrame({"row": ["a"], "dev": [f"61.2{mark}"]}) for mark in ("", STAR, DEGENERATE)
    )
    assert marks(plain, "it differs.") == ""
    assert marks(starred, "it differs.") == f" {STAR} it differs."
    assert marks(collapsed, "it differs.") == f" {DEGENERATE} The score of a collapsed model."
    table = pd.DataFrame({"row": ["a"]})
    assert scores_caption("s", "", 1, "", table) == "s: every measure of its results. Mean over 1 seed."
    assert [place for place in known_places() if place_name(place) == place] == []
