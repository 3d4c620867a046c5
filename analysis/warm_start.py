"""The trials that a search knew before its first own trial."""

import pandas as pd

from analysis.contents import Contents


def known_data(contents: Contents) -> pd.DataFrame:
    """Return a row per known trial of another study; none for a cold start.

    Columns: study, trial (its number there), objective (the first), one per axis by its heading.
    """
    study = contents.study
    rows = [
        {"study": one.study, "trial": one.trial, "objective": one.values[0]}
        | {
            heading: one.proposal.get(axis.name)
            for axis, heading in zip(study.axes, study.headings, strict=True)
        }
        for one in study.known_trials
    ]
    return pd.DataFrame(rows, columns=["study", "trial", "objective", *study.headings])
