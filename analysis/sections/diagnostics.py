"""Diagnostics inside a training step: losses, saturation, perturbation sizes."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.figures.diagnostics import MEANINGS, diagnostics_data, draw_diagnostics
from analysis.phrases import join_words

NOTE = (
    "What training reports of itself, complete cells only: a line is a mean over cells, its band holds the middle four "
    "fifths of them. None of it is a score."
)
NO_GRADIENTS = "Norms of gradients are not in the ledger: training does not report them."
GRADIENTS = "gradient"  # part of the names of metrics about gradients
SATURATED = 0.95
STARVED = 0.5
LIMITS = {
    "delta/on_bound_pgd": SATURATED, "delta/on_bound_fgsm": SATURATED, "eta/on_bound": SATURATED,
    "eta/starved": STARVED,
}  # fmt: skip
"""Shares from which a perturbation counts as saturated, so that its settings change little."""


def diagnostics(contents: Contents) -> str:
    """Return section "Inside a step"; "" if training reported nothing."""
    frame = diagnostics_data(contents)
    if frame.empty:
        return ""
    drawn = [
        f"<h3>{page.escape(title(metric))}</h3>"
        + page.figure(draw_diagnostics(frame, metric), f"diagnostic-{number}", frame[frame["metric"] == metric])
        for number, metric in enumerate(in_order(frame))
    ]  # fmt: skip
    missing = "" if frame["metric"].str.contains(GRADIENTS).any() else NO_GRADIENTS
    return page.section(
        "Inside a step",
        page.paragraph(" ".join(filter(None, (NOTE, missing, contents.thinned_note)))),
        page.paragraph(saturated_text(frame), "note"),
        page.grid(drawn),
    )


def in_order(frame: pd.DataFrame) -> list[str]:
    """Return the metrics, those with a description first."""
    present = set(frame["metric"])
    return [*(name for name in MEANINGS if name in present), *sorted(present - set(MEANINGS))]


def title(metric: str) -> str:
    """Return a metric's description and its name."""
    return f"{MEANINGS[metric]} ({metric})" if metric in MEANINGS else metric


def saturated_text(frame: pd.DataFrame) -> str:
    """Say which rows ended saturated or starved; "" if none did."""
    last = frame.sort_values("t").drop_duplicates(["metric", "series"], keep="last")
    parts = []
    for metric, limit in LIMITS.items():
        over = last[(last["metric"] == metric) & (last["mean"] >= limit)]
        if len(over):
            who = join_words(over["series"])
            parts.append(f"{MEANINGS[metric]}: {limit:.0%} or more at the end, on average, of {who}")
    if not parts:
        return ""
    return f"Saturated: {'; '.join(parts)}. There a larger step or radius changes little."
