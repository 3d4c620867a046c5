import dataclasses

import pandas as pd

from analysis.sections.diagnostics import diagnostics, in_order, saturated_text
from tests.analysis.outline import Outline

COLUMNS = ["metric", "series", "t", "mean"]


def test_a_study_that_reports_has_a_figure_for_each_metric_those_with_a_meaning_first(search_dir, contents):
    found = contents(search_dir)
    outline = Outline(diagnostics(found))
    assert outline.figures == ["diagnostic-0"]
    assert "Norms of gradients are not in the ledger" in outline.text
    assert diagnostics(dataclasses.replace(found, diagnostics=found.diagnostics[:0])) == ""
    frame = pd.DataFrame({"metric": ["loss/x", "eta/starved", "loss", "a"]})
    assert in_order(frame) == ["loss", "eta/starved", "a", "loss/x"]


def test_who_ended_saturated_is_named():
    frame = pd.DataFrame(
        [
            ("delta/on_bound_fgsm", "full", 10, 1.0),
            ("delta/on_bound_fgsm", "full", 20, 0.2),
            ("delta/on_bound_fgsm", "wide", 20, 0.97),
            ("eta/starved", "full", 20, 0.5),
        ],
        columns=COLUMNS,
    )
    text = saturated_text(frame)
    assert "95% or more at the end, on average, of wide" in text
    assert "50% or more at the end, on average, of full" in text
    assert saturated_text(frame[:2]) == ""
