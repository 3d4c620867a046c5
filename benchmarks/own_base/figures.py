"""Two figures of `benchmarks.own_base`: dev against amount of text, and losses."""

from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from analysis.figure_files import write_figures
from analysis.figures.style import DASHES, FAINT, GREY, INK, SEED_COLOURS, plain
from analysis.page import figure
from benchmarks.own_base.frames import OVERLAP

OWN = {
    "dev_after": ("our own, after SimCSE", SEED_COLOURS[0]),
    "dev_before": ("our own, before", SEED_COLOURS[1]),
}


def write_own_base_figures(scores: pd.DataFrame, losses: pd.DataFrame, folder: Path) -> list[Path]:
    """Write both as PNG. Raises InputError where no browser draws them.

    Parameters
    ----------
    scores, losses
        By `score_frame` and `loss_frame`.
    folder
        Where they go.
    """
    learning = figure(draw_learning(learning_data(scores), floors_of(scores)), "own_base_dev")
    return write_figures(learning + figure(draw_losses(losses), "own_base_losses"), folder, "png")


def learning_data(scores: pd.DataFrame) -> pd.DataFrame:
    """Return dev of each base: num_sentences, seed, moment, value (mean over SimCSE)."""
    own = scores[scores["encoder"] == "own"]
    means = own.groupby(["num_sentences", "seed"])[list(OWN)].mean().reset_index()
    return means.melt(["num_sentences", "seed"], list(OWN), "moment", "value").dropna()


def floors_of(scores: pd.DataFrame) -> dict[str, tuple[float, str]]:
    """Return dev and dash of each line that a base must lie above, by its name."""
    means = scores.groupby("encoder")[["dev_before", "dev_after"]].mean()
    floors = {"token overlap": (float(means.loc[OVERLAP, "dev_before"]), DASHES[OVERLAP])}
    if "untrained" in means.index:
        before, after = means.loc["untrained"]
        floors["untrained encoder"] = float(before), DASHES["untrained"]
        floors["untrained encoder, after SimCSE"] = float(after), DASHES["start"]
    return floors


def draw_learning(frame: pd.DataFrame, floors: dict[str, tuple[float, str]]) -> go.Figure:
    """Draw a line through the means of the seeds, a dot for each seed, and the floors.

    Parameters
    ----------
    frame
        By `learning_data`.
    floors
        By `floors_of`.
    """
    made = go.Figure()
    amounts = sorted(int(number) for number in frame["num_sentences"].unique()) or [1]
    for moment, (name, colour) in OWN.items():
        part = frame[frame["moment"] == moment]
        means = part.groupby("num_sentences")["value"].mean()
        made.add_scatter(
            x=[int(number) for number in means.index], y=means.tolist(), name=name, mode="lines",
            line={"color": colour, "width": 2},
        )  # fmt: skip
        made.add_scatter(
            x=[int(number) for number in part["num_sentences"]], y=part["value"].tolist(), mode="markers",
            marker={"color": colour, "size": 7}, showlegend=False,
        )  # fmt: skip
    for name, (value, dash) in floors.items():
        made.add_scatter(
            x=[0.8 * amounts[0], 1.25 * amounts[-1]], y=[value, value], name=name, mode="lines",
            line={"color": GREY if dash == DASHES["start"] else INK, "width": 1.5, "dash": dash},
        )  # fmt: skip
    texts = [f"{number:,}" for number in amounts]
    made.update_xaxes(title="sentences of its masked LM", type="log", tickvals=amounts, ticktext=texts)
    made.update_yaxes(title="STS-B dev, Spearman x100", nticks=8)
    return plain(made, height=420)


def draw_losses(frame: pd.DataFrame) -> go.Figure:
    """Draw a line for each base: a colour for an amount of text, later seeds fainter.

    The frame is that of `loss_frame`.
    """
    made = go.Figure()
    for number, (amount, part) in enumerate(frame.groupby("num_sentences")):
        colour = SEED_COLOURS[number] if number < len(SEED_COLOURS) else FAINT
        for rank, (seed, points) in enumerate(part.groupby("seed")):
            name = f"{amount:,} sentences" if rank == 0 else f"{amount:,} sentences, seed {seed}"
            made.add_scatter(
                x=points["step"].tolist(), y=points["loss"].tolist(), name=name, mode="lines",
                line={"color": colour, "width": 1.6}, opacity=1.0 if rank == 0 else 0.45, showlegend=rank == 0,
            )  # fmt: skip
    made.update_xaxes(title="step", rangemode="tozero")
    made.update_yaxes(title="masked-LM loss, mean of 25 steps", nticks=8)
    return plain(made, height=420)
