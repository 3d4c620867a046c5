"""The section on what a search knew before its first trial."""

import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents
from analysis.formats import show_axis_value, show_number
from analysis.phrases import counted
from analysis.warm_start import known_data


def known_before(contents: Contents) -> str:
    """Return section "Known before", trials listed or of other studies; "" if cold."""
    known, listed = known_data(contents), len(contents.study.settings.warm_start.trials)
    if not listed and known.empty:
        return ""
    parts = [page.paragraph(describe_warm_start(contents, listed, known))]
    if len(known):
        parts.append(page.table(show_known(contents, known), kind="long", name="known"))
    return page.section("Known before", *parts)


def describe_warm_start(contents: Contents, listed: int, known: pd.DataFrame) -> str:
    """Say which trials were known; `listed` are those of the study's file."""
    searched = contents.stage("search")
    first = int((searched["label"] == BASE).any())
    sentences = []
    if listed:
        numbers = f"trial {first}" if listed == 1 else f"trials {first} to {first + listed - 1}"
        sentences.append(f"The study's file lists what ran as {numbers}.")
    if len(known):
        sentences.append(
            f"{counted(len(known), 'trial')} of {known['study'].iloc[0]} would be the same here, and the sampler was "
            "given their scores (hollow in the figures of single axes). They are not results of this study: the best "
            "of them was rerun here before the sampler was asked, and history, importance and confirmation use only "
            "trials that ran here."
        )
    return " ".join(sentences)


def show_known(contents: Contents, known: pd.DataFrame) -> pd.DataFrame:
    """Show known trials as text."""
    shown = pd.DataFrame({"study": known["study"], "trial": known["trial"].astype(str)}, dtype=object)
    shown[contents.label] = [show_number(value, contents.decimals) for value in known["objective"]]
    for axis, heading in zip(contents.study.axes, contents.study.headings, strict=True):
        shown[heading] = [show_axis_value(axis, value) for value in known[heading]]
    return shown
