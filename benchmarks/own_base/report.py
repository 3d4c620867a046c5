"""Shows what a folder of `benchmarks.own_base` holds: table, decision, files.

python -m benchmarks.own_base.report FOLDER [--tables DIR] [--figures DIR]

Only the folder is read, and no torch is needed: rows may be missing, and others may be made meanwhile.
"""

import argparse
import math
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev

import pandas as pd
import typer

from analysis.formats import show_number, show_signed, show_spread
from analysis.phrases import show_duration
from benchmarks.own_base.decision import decide, seed_scores
from benchmarks.own_base.figures import write_own_base_figures
from benchmarks.own_base.frames import loss_frame, score_frame
from benchmarks.own_base.plan import OwnBasePlan, read_plan
from benchmarks.own_base.rows import read_rows
from benchmarks.own_base.settings import add_report_options
from rse_study.cli.errors import guarded
from rse_study.cli.screen import announce, print_rows
from rse_study.cli.writable import require_folder

HEADINGS = (
    "encoder",
    "sentences",
    "seed",
    "masked",
    "unigram",
    "steps",
    "time",
    "dev",
    "after SimCSE",
    "gain",
)
DROPPABLE = ("time", "steps", "unigram")
SCORES, LOSSES = "own_base.parquet", "own_base_losses.parquet"


def main(arguments: list[str] | None = None) -> None:
    """Report the folder that the command line names."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.own_base.report")
    made.add_argument("folder", type=Path, help="--out of python -m benchmarks.own_base")
    add_report_options(made)
    options = made.parse_args(arguments)
    try:
        guarded(report)(options.folder, options.tables, options.figures)
    except typer.Exit as ended:
        raise SystemExit(ended.exit_code) from None


def report(folder: Path, tables: Path | None, figures: Path | None) -> None:
    """Print table and decision, and write the files.

    Parameters
    ----------
    folder
        Of plan and rows.
    tables
        For Parquet; None: the folder itself.
    figures
        For PNG; None: none is drawn.
    """
    require_targets(tables, figures)
    plan, rows = read_plan(folder), read_rows(folder)
    scores, losses = score_frame(plan, rows), loss_frame(rows)
    announce(describe_text(plan))
    print_rows(HEADINGS, table_rows(scores), "--tables", droppable=DROPPABLE)
    for line in learning_lines(plan, scores):
        announce(line)
    announce(f"A base of our own is {decide(list(seed_scores(plan, rows)), rows.num_missing(plan))}")
    target = tables or folder
    target.mkdir(parents=True, exist_ok=True)
    for frame, name in ((scores, SCORES), (losses, LOSSES)):
        frame.to_parquet(target / name, index=False)
        announce(f"written: {target / name}")
    if figures is not None:
        for path in write_own_base_figures(scores, losses, figures):
            announce(f"written: {path}")


def require_targets(tables: Path | None, figures: Path | None) -> None:
    """Raise InputError where a folder that was named cannot be written."""
    for path, where in ((tables, "--tables"), (figures, "--figures")):
        if path is not None:
            require_folder(path, where=where)


def describe_text(plan: OwnBasePlan) -> str:
    """What the text is, and what was left out of it."""
    whole, text = plan.text.whole, plan.text
    return (
        f"text: {whole.num_sentences:,} sentences, {whole.num_wikipedia:,} of them Wikipedia's, the others WordNet's; "
        f"{whole.num_words:,} words; left out: {text.num_duplicates:,} repeated, "
        f"{text.num_excluded:,} of STS-B; fingerprint {whole.text[:12]}"
    )


def table_rows(scores: pd.DataFrame) -> list[list[str]]:
    """A row of texts for each encoder: the mean over SimCSE's seeds, with its spread."""
    groups = scores.groupby(["encoder", "num_sentences", "seed"], sort=False, dropna=False)
    return [_cells(str(encoder), part) for (encoder, _, _), part in groups]


def learning_lines(plan: OwnBasePlan, scores: pd.DataFrame) -> list[str]:
    """What more text brings, by the first seed, and what is lacking at its end."""
    own = scores[(scores["encoder"] == "own") & (scores["seed"] == plan.seeds[0])]
    means = own.groupby("num_sentences")["dev_after"].mean().dropna()
    lines = [
        f"{few:,} -> {many:,} sentences: {show_signed(means[many] - means[few])} after SimCSE"
        for few, many in pairwise(means.index)
    ]
    floors = {"token overlap": plan.token_overlap}
    untrained = scores[scores["encoder"] == "untrained"]
    if len(untrained):
        floors["the untrained encoders"] = untrained["dev_before"].mean()
        floors["the same after SimCSE"] = untrained["dev_after"].mean()
    if len(means):
        ends = [f"{show_signed(means.iloc[-1] - floor)} against {name}" for name, floor in floors.items()]
        lines.append(f"{means.index[-1]:,} sentences: {', '.join(ends)}")
    return lines


def _cells(encoder: str, part: pd.DataFrame) -> list[str]:
    first, after = part.iloc[0], part["dev_after"].dropna().tolist()
    before, has_base = float(first["dev_before"]), pd.notna(first["num_steps"])
    spread = stdev(after) if len(after) > 1 else math.nan
    num_lost = int(part["failure"].fillna("").ne("").sum())
    return [
        {"own": "our own", "token_overlap": "token overlap"}.get(encoder, encoder),
        "" if pd.isna(first["num_sentences"]) else f"{first['num_sentences']:,}",
        "" if pd.isna(first["seed"]) else str(first["seed"]),
        f"{first['masked_accuracy']:.1%}" if has_base else "",
        f"{first['unigram_accuracy']:.1%}" if has_base else "",
        f"{first['num_steps']:,}" if has_base else "",
        show_duration(first["base_seconds"]) if has_base else "",
        show_number(before),
        (show_spread(show_number(mean(after)), spread) if after else "")
        + (f" ({num_lost} lost)" if num_lost else ""),
        show_signed(mean(after) - before) if after else "",
    ]


if __name__ == "__main__":
    main()
