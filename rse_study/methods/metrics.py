"""Metrics that several methods report alike."""

from rse_study.methods.method import Mean
from rse_study.perturbations.ascent import Ascent


def inner_losses(ascent: Ascent, num_rows: int) -> dict[str, Mean]:
    """Losses of the first and the last inner pass: no pass is spent on looking after the last update."""
    if not ascent.losses:
        return {}
    count = float(num_rows)
    return {"inner/first": Mean(ascent.losses[0], count), "inner/last": Mean(ascent.losses[-1], count)}
