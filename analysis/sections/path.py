"""The section on the ablation path: the gain by the best value of each axis."""

import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents
from analysis.figures.search_features import draw_path, path_data
from analysis.formats import show_signed
from analysis.phrases import join_words

HOW = {
    "greedy": "In each round, every remaining axis is flipped alone to the best trial's value, and the flip with the "
    "best mean is kept.",
    "importance": (
        "The axes are flipped one after the other, the most important first; gains depend on earlier flips."
    ),
}
CHOSEN = "The kept flip was chosen with the seeds shown, which flatters its gain. This does not apply to the two ends."


def ablation_path(contents: Contents) -> str:
    """Return section "Ablation path"; "" before one of its points has ended."""
    state, frame = contents.search.path, path_data(contents)
    if state is None or frame.empty:
        return ""
    seeds = join_words(map(str, state.seeds))
    num = len(state.axes)
    note = (
        f"From the {BASE} to the best trial ({state.best.trial}), which differ on {num} "
        f"{'axis' if num == 1 else 'axes'}. {HOW[state.order]} Every point is retrained with seeds that were not used"
        f" in the search: {seeds}. Intervals are Student's t over seeds; gains are paired by seed."
    )
    parts = [page.paragraph(note)]
    if state.order == "greedy":
        parts.append(page.paragraph(CHOSEN, "note"))
    if not state.is_over:
        parts.append(
            page.paragraph("The path is not finished: only points that have ended are shown.", "note")
        )
    parts.append(page.figure(draw_path(frame, contents.label, contents.decimals), "path", frame))
    less_is_better = contents.study.objective.direction == "minimize"
    shown = path_table(frame, contents.decimals, less_is_better=less_is_better)
    if len(shown):
        parts.append(page.table(shown, name="path"))
    return page.section("Ablation path", *parts)


def path_answer(contents: Contents) -> str:
    """Name the kept flips whose gains exclude 0; "" without a path that is over."""
    state, frame = contents.search.path, path_data(contents)
    if state is None or not state.is_over:
        return ""
    flips = frame[frame["is_kept"] & (frame["place"] > 0)]
    sure = flips[flips["gain_low"] * flips["gain_high"] > 0]
    gains = (f"{axis} {show_signed(gain, contents.decimals)}" for axis, gain in sure[["axis", "gain"]].values)
    told = f"{join_words(gains)} (each interval alone excludes 0)" if len(sure) else "no interval excludes 0"
    return f"Gains and losses along the ablation path: {told}."


def path_table(frame: pd.DataFrame, decimals: int, *, less_is_better: bool = False) -> pd.DataFrame:
    """Return a row per kept flip as text, with its gain and interval.

    `total` is the gain since the base; then come the gains of the other flips, the best first.
    """
    start = frame.loc[frame["place"] == 0, "mean"]
    rows = []
    for row in frame[frame["is_kept"] & (frame["place"] > 0)].to_dict("records"):
        others = frame[(frame["place"] == row["place"]) & ~frame["is_kept"]]
        beside = others.sort_values("gain", ascending=less_is_better, kind="stable")
        interval = (
            ""
            if pd.isna(row["gain_low"])
            else f" ({show_signed(row['gain_low'], decimals)} to {show_signed(row['gain_high'], decimals)})"
        )
        rows.append(
            {
                "axis": row["axis"],
                "from": row["before"],
                "to": row["after"],
                "gain": f"{show_signed(row['gain'], decimals)}{interval}",
                "total": show_signed(row["mean"] - start.iloc[0], decimals) if len(start) else "",
                "gains of the other flips": ", ".join(
                    f"{axis} {show_signed(gain, decimals) or 'failed'}"
                    for axis, gain in beside[["axis", "gain"]].itertuples(index=False)
                ),
            }
        )
    table = pd.DataFrame(rows, dtype=object)
    return table.loc[:, [name for name in table if table[name].any()]]
