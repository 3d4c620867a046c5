"""What a study took: time by stage, what was lost, what early stopping saved."""

import pandas as pd

from analysis.contents import Contents
from analysis.formats import counted, show_duration

BRIEF = "below a second"
STAGES = {"grid": "grid", "search": "search", "confirm": "confirmation"}


def by_stage(contents: Contents) -> pd.DataFrame:
    """Return a row per stage: cells, device_s, median_s.

    Cells that ended, their time times their workers, and the time of one of them.
    """
    cells = contents.cells[contents.cells["duration_s"] > 0]
    workers = contents.attempts.sort_values("number").drop_duplicates("cell", keep="last")
    used = cells["identity"].map(workers.set_index("cell")["workers"]).fillna(1)
    frame = cells.assign(device_s=cells["duration_s"] * used.astype(float))
    groups = frame.groupby("stage", sort=False)
    table = groups.agg(
        cells=("identity", "count"), device_s=("device_s", "sum"), median_s=("duration_s", "median")
    )
    return table.reindex([stage for stage in STAGES if stage in table.index])


def lost_attempts(attempts: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the attempts that ended without a result, with their seconds.

    Parameters
    ----------
    attempts
        As `Reader.attempts` has them: the last one at a cell that was given up is "failed" there.
    cells
        Of the same study, with their `status` as the next run finds it: such a cell is planned again.
    """
    to_run = cells.loc[cells["status"] == "planned", "identity"]
    is_last_of_lost = (attempts["outcome"] == "failed") & attempts["cell"].isin(to_run)
    lost = attempts[(attempts["outcome"] == "lost") | is_last_of_lost]
    return lost.assign(seconds=seconds(lost["started"], lost["ended"]))


def seconds(started: pd.Series, ended: pd.Series) -> pd.Series:
    """Between two columns of times; NaN where one of them is missing."""
    since, until = (pd.to_datetime(times.replace("", None), utc=True) for times in (started, ended))
    return (until - since).dt.total_seconds()


def steps(contents: Contents) -> tuple[int, int]:
    """Return steps trained and steps planned, of the search's finished cells.

    (0, 0) while none of them is complete. The full budget is the one of the complete cells.
    """
    cells = contents.stage("search")
    complete = cells.loc[cells["status"] == "complete", "t"].dropna()
    ended = cells.loc[cells["status"].isin(["complete", "stopped_early"]), "t"].dropna()
    return (0, 0) if complete.empty else (int(ended.sum()), int(complete.max()) * len(ended))


def costs(contents: Contents) -> dict[str, str]:
    """The whole account, in words and numbers."""
    account, table = {}, by_stage(contents)
    for stage, row in table.iterrows():
        text = f"{show_duration(row['device_s'])}, {counted(int(row['cells']), 'cell')}"
        account[f"device time, {STAGES[str(stage)]}"] = f"{text}, median {show_duration(row['median_s'])}"
    if len(table) > 1:
        account["device time in all"] = show_duration(table["device_s"].sum())
    trained, planned = steps(contents)
    if contents.study.rungs and planned:
        saved = f"{1 - trained / planned:.0%} saved by stopping early"
        account["steps of the search"] = f"{trained} trained of {planned} planned: {saved}"
    lost = lost_attempts(contents.attempts, contents.cells)
    account["attempts"] = (
        f"{len(contents.attempts)}, {len(lost)} of them lost" if len(lost) else str(len(contents.attempts))
    )
    if len(lost):
        # Of an attempt whose driver died nobody saw the end: the next run closed it.
        account["time in lost attempts, at most"] = show_duration(lost["seconds"].sum()) or BRIEF
    if (contents.attempts["ended"] != "").any():
        account["first start to last end"] = show_duration(wall(contents.attempts)) or BRIEF
    return account


def wall(attempts: pd.DataFrame) -> float:
    """Return the seconds from the first start of an attempt to the last end of one.

    Breaks included.
    """
    started, ended = (
        pd.to_datetime(attempts[name].replace("", None), utc=True) for name in ("started", "ended")
    )
    return float((ended.max() - started.min()).total_seconds())
