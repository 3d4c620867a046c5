"""The papers' own figures: attacks, alignment and uniformity, cosines, a plane."""

from itertools import cycle

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures import style
from analysis.paper.tables import read_table
from rse_study.results.records import BASELINES, PLANE

GEOMETRY = ("alignment", "uniformity")
GEOMETRY_COLUMNS = ["evaluation", "row", "kind", "seed", *GEOMETRY]
GEOMETRY_FIGURE = "rse-figure3"
MAX_NAMED = 12  # rows with a colour and symbol of their own
ATTACK_PARTS = ("queries", "original_accuracy", "accuracy_under_attack")
PAIRS_COLUMNS = ["set", "recipe", "row", "lost", "queries", "num_seeds"]
MAX_ROWS = len(style.SEED_COLOURS)
PREFIX = "attack-"
PAIRS = {"cosine/positive": "positive", "cosine/random": "random"}
"""Kinds of pairs by the metric's name in the ledger."""
COLOURS = {"positive": style.BLUE, "random": style.ORANGE}
COSINES_COLUMNS = ["row", "pairs", "source", "seed", "value", "mean"]
COSINES_FIGURE = "dcl-figure3"
OURS, THEIRS = "ours", "the paper's"
PLANE_COLUMNS = ["panel", "pair", "version", "x", "y"]
AGGREGATION = r"^(?P<axis>[xy]) (?P<pair>\d+) ?(?P<version>\w*)$"


def alignment_data(contents: Contents, cells: pd.DataFrame, figure: str = "") -> pd.DataFrame:
    """Return a row per row, seed and evaluation that has both numbers.

    Columns: evaluation, row, kind (row, baseline, paper), seed (only of rows), alignment, uniformity. The paper's
    numbers are included if `figure` is figure 3 of RobustSentEmbed.
    """
    rows = contents.evaluations[contents.evaluations["aggregation"].isin(GEOMETRY)]
    keys = ["evaluation", "subject"]
    wide = rows.pivot_table(index=keys, columns="aggregation", values="value").reindex(columns=list(GEOMETRY))
    wide = wide.dropna().reset_index()
    complete = cells[cells["status"] == "complete"].set_index("identity")
    own = wide[wide["subject"].isin(complete.index)]
    own = own.assign(
        row=own["subject"].map(complete["name"]), seed=own["subject"].map(complete["seed"]), kind="row"
    )
    fixed = wide[wide["subject"].isin(contents.study.baselines)]
    fixed = fixed.assign(row=fixed["subject"].map(contents.study.baselines), seed=pd.NA, kind="baseline")
    frames = [frame for frame in (fixed, own, printed(wide, figure)) if len(frame)]
    return (
        pd.concat(frames, ignore_index=True)[GEOMETRY_COLUMNS]
        if frames
        else pd.DataFrame(columns=GEOMETRY_COLUMNS)
    )


def printed(wide: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Return the paper's numbers once per evaluation; none for another figure."""
    if figure != GEOMETRY_FIGURE or wide.empty:
        return pd.DataFrame(columns=GEOMETRY_COLUMNS)
    table = read_table(GEOMETRY_FIGURE).pivot(index="row", columns="column", values="value").reset_index()
    frames = [
        table.assign(evaluation=name, kind="paper", seed=pd.NA) for name in dict.fromkeys(wide["evaluation"])
    ]
    return pd.concat(frames, ignore_index=True)[GEOMETRY_COLUMNS]


def draw_alignment(frame: pd.DataFrame) -> go.Figure:
    """Draw one evaluation: dots for seeds and means, hollow ones for baselines."""
    figure = go.Figure()
    own = frame[frame["kind"] == "row"]
    rows = list(dict.fromkeys(own["row"]))
    symbols = cycle(style.SEED_SYMBOLS[:-1])  # five symbols, six colours: 12 rows all differ
    looks = dict(zip(rows, zip(cycle(style.SEED_COLOURS), symbols, strict=False), strict=False))
    is_many = len(rows) > MAX_NAMED
    if len(own) > len(rows):
        figure.add_scatter(
            x=own["uniformity"], y=own["alignment"], mode="markers", name="seeds",
            marker={"size": 5, "color": style.GREY, "opacity": 0.6},
            customdata=own["seed"].astype(int), text=own["row"].map(hover_name),
            hovertemplate="%{text}, seed %{customdata}: %{y:.4f}, %{x:.3f}<extra></extra>",
        )  # fmt: skip
    if is_many:
        add_points(figure, own, "rows (mean)", (style.BLUE, "circle"))
    else:
        for row in rows:
            add_points(figure, own[own["row"] == row], row, looks[row])
    add_points(figure, frame[frame["kind"] == "baseline"], "baselines", (style.GREY, "diamond-open"))
    add_points(figure, frame[frame["kind"] == "paper"], "as the paper prints", (style.ORANGE, "star-open"))
    figure.update_xaxes(title="uniformity (less is better)", nticks=7, tickfont={"color": style.INK})
    figure.update_yaxes(title="alignment (less is better)", nticks=7)
    return style.legend_below(style.plain(figure, height=460))


def add_points(figure: go.Figure, part: pd.DataFrame, name: str, look: tuple[str, str]) -> None:
    """Add a point at the mean of each row, in one colour and symbol."""
    if part.empty:
        return
    means = part.groupby("row", sort=False)[list(GEOMETRY)].mean()
    colour, symbol = look
    figure.add_scatter(
        x=means["uniformity"], y=means["alignment"], mode="markers", name=style.label_text(name, 40),
        text=[hover_name(row) for row in means.index], hovertemplate="%{text}: %{y:.4f}, %{x:.3f}<extra></extra>",
        marker={"size": 12, "color": colour, "symbol": symbol, "line": {"width": 2 if "open" in symbol else 0.5}},
    )  # fmt: skip


def hover_name(row: str) -> str:
    """Return a row's name in short lines."""
    return style.label_text(row, 40)


def attack_pairs_data(contents: Contents, cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row per attacked set, recipe and row, averaged over complete seeds.

    Columns: set, recipe, row, lost (points of accuracy), queries (mean per input), num_seeds.
    """
    rows = contents.evaluations[
        contents.evaluations["aggregation"].isin(ATTACK_PARTS)
        & contents.evaluations["task"].str.startswith(PREFIX)
    ]
    complete = cells[cells["status"] == "complete"].set_index("identity")["name"]
    rows = rows[rows["subject"].isin(complete.index)]
    keys = ["task", "preset", "subject"]
    wide = rows.pivot_table(index=keys, columns="aggregation", values="value")
    wide = wide.reindex(columns=list(ATTACK_PARTS)).dropna().reset_index()
    wide = wide.assign(
        set=wide["task"].str.removeprefix(PREFIX), recipe=wide["preset"], row=wide["subject"].map(complete),
        lost=wide["original_accuracy"] - wide["accuracy_under_attack"],
    )  # fmt: skip
    groups = wide.groupby(["set", "recipe", "row"], sort=False)
    table = groups.agg(lost=("lost", "mean"), queries=("queries", "mean"), num_seeds=("subject", "count"))
    order = {name: place for place, name in enumerate(dict.fromkeys(complete))}
    table = table.reset_index()
    return (
        table.assign(place=table["row"].map(order))
        .sort_values(["set", "recipe", "place"])[PAIRS_COLUMNS]
        .reset_index(drop=True)
    )


def draw_attack_pairs(frame: pd.DataFrame) -> go.Figure:
    """Draw the frame of one set: a colour per row, a symbol per recipe."""
    figure = go.Figure()
    rows, recipes = (list(dict.fromkeys(frame[name])) for name in ("row", "recipe"))
    symbols = {
        recipe: style.SEED_SYMBOLS[number % len(style.SEED_SYMBOLS)] for number, recipe in enumerate(recipes)
    }
    for _, part in frame.groupby("recipe", sort=False):
        if len(rows) > MAX_ROWS:
            break  # lines through so many would hide what they join
        figure.add_scatter(
            x=part["lost"], y=part["queries"], mode="lines", line={"color": style.FAINT, "width": 1.5},
            showlegend=False, hoverinfo="skip",
        )  # fmt: skip
    is_many = len(rows) > MAX_ROWS
    groups = [("rows", frame)] if is_many else [(row, frame[frame["row"] == row]) for row in rows]
    for number, (name, part) in enumerate(groups):
        texts = [
            f"{style.label_text(one.row, 40)} under {one.recipe}<br>{one.lost:.1f} points lost, "
            f"{one.queries:.1f} queries, {one.num_seeds} seeds"
            for one in part.itertuples()
        ]
        figure.add_scatter(
            x=part["lost"], y=part["queries"], mode="markers", name=style.label_text(name, 40), text=texts,
            hovertemplate="%{text}<extra></extra>", marker={"size": 7 if is_many else 12,
                "color": style.SEED_COLOURS[number], "symbol": part["recipe"].map(symbols)},
        )  # fmt: skip
    for recipe, symbol in symbols.items():
        look = {"size": 10, "color": style.GREY, "symbol": symbol}
        figure.add_scatter(x=[None], y=[None], name=style.label_text(recipe, 30), mode="markers", marker=look)
    figure.update_xaxes(title="accuracy lost, points", rangemode="tozero", nticks=7)
    figure.update_yaxes(title="mean queries an input", rangemode="tozero", nticks=7)
    return style.legend_below(style.plain(figure, height=440))


def cosines_data(contents: Contents) -> pd.DataFrame:
    """Return a row per row of the grid, kind of pairs and seed, then the paper's.

    Columns: row, pairs (positive, random), source (ours, the paper's), seed, value, mean. Only the last step of
    complete cells counts. The paper's rows stand apart, as it does not say how they map to ours beyond the
    normalisation. Empty where no cell reports cosines of its projections.
    """
    cells = contents.stage("grid")
    cells = cells[cells["status"] == "complete"]
    points = contents.diagnostics[contents.diagnostics["name"].isin(PAIRS)]
    last = points.sort_values("t").drop_duplicates(["cell", "name"], keep="last")
    frame = cells[["identity", "name", "trial", "seed"]].rename(columns={"name": "row"})
    frame = frame.merge(last, left_on="identity", right_on="cell").dropna(subset="value")
    if frame.empty:
        return pd.DataFrame(columns=COSINES_COLUMNS)
    frame = frame.assign(pairs=frame["name"].map(PAIRS), source=OURS).sort_values(["trial", "seed", "pairs"])
    table = read_table(COSINES_FIGURE).rename(columns={"column": "pairs"}).assign(source=THEIRS, seed=pd.NA)
    both = pd.concat([frame, table], ignore_index=True)
    mean = both.groupby(["source", "row", "pairs"])["value"].transform("mean")
    return both.assign(mean=mean)[COSINES_COLUMNS]


def draw_cosines(frame: pd.DataFrame) -> go.Figure:
    """Draw two bars per row at the mean of its seeds; the paper's are hatched, below."""
    figure = go.Figure()
    rows = list(dict.fromkeys(zip(frame["source"], frame["row"], strict=True)))
    names = [row if source == OURS else f"paper: {row}" for source, row in rows]
    ticks = style.row_ticks(names, 16)
    place = dict(zip(rows, range(len(rows)), strict=True))
    for source, shape in ((OURS, ""), (THEIRS, "/")):
        for pairs, colour in COLOURS.items():
            part = frame[(frame["source"] == source) & (frame["pairs"] == pairs)]
            if part.empty:
                continue
            means = part.drop_duplicates("row")
            figure.add_bar(
                x=means["mean"], y=[place[source, row] for row in means["row"]], name=f"{pairs}, {source}",
                orientation="h", offsetgroup=pairs, text=[style.label_text(row, 40) for row in means["row"]],
                textposition="none", marker={"color": colour, "pattern": {"shape": shape, "size": 6}},
                hovertemplate="%{text}: %{x:.4f}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    figure.update_xaxes(title="mean cosine", nticks=6)
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=ticks, range=[len(rows) - 0.4, -0.6], showgrid=False
    )
    height = 190 + style.rows_height(ticks, 30)
    return style.legend_below(style.plain(figure, height=height)).update_layout(barmode="group")


def plane_data(contents: Contents, cells: pd.DataFrame) -> pd.DataFrame:
    """Return places of sentences (version "") and one kind of versions, by panel.

    A panel is a kind of version and a model: the encoder before training, or a row's first complete seed.
    """
    first = cells[cells["status"] == "complete"].sort_values("seed").drop_duplicates("name").sort_index()
    names = {"start": BASELINES["start"], **dict(zip(first["identity"], first["name"], strict=True))}
    rows = contents.evaluations[contents.evaluations["preset"] == PLANE]
    parts = (
        rows[["subject", "value"]].join(rows["aggregation"].str.extract(AGGREGATION)).dropna(subset="axis")
    )
    keys = ["subject", "pair", "version"]
    wide = parts.pivot(index=keys, columns="axis", values="value").reset_index().astype({"pair": int})
    frames = [
        wide[(wide["subject"] == subject) & wide["version"].isin(("", kind))].assign(panel=f"{name}, {kind}")
        for kind in sorted({*wide["version"]} - {""}, reverse=True)
        for subject, name in names.items()
    ]
    return pd.concat([wide.assign(panel="")[:0], *frames]).reindex(columns=PLANE_COLUMNS)


def draw_plane(frame: pd.DataFrame) -> go.Figure:
    """Draw one panel: a line joins a sentence and its version."""
    figure, ends = go.Figure(), frame.pivot(index="pair", columns="version", values=["x", "y"])
    lines = {
        axis: [value for pair in ends[axis].to_numpy() for value in (*pair, None)] for axis in ("x", "y")
    }
    figure.add_scatter(**lines, mode="lines", line={"color": style.FAINT}, hoverinfo="skip", showlegend=False)
    for version, (colour, symbol) in zip(
        ends["x"], ((style.BLUE, "circle"), (style.ORANGE, "diamond")), strict=True
    ):
        figure.add_scatter(
            x=ends["x"][version], y=ends["y"][version], mode="markers", name=version or "sentence",
            marker={"size": 8, "color": colour, "symbol": symbol}, text=ends.index,
            hovertemplate="sentence %{text}<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    return style.legend_below(style.plain(figure, height=400))
