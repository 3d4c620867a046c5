"""The cost of a study: time by stage, lost attempts and savings by stopping early."""

import pandas as pd

from analysis.contents import Contents
from analysis.formats import counted, show_duration
from rse_study.frames.study_results import times
from rse_study.results.device_time import device_seconds, gpus_per_worker, num_devices
from rse_study.results.reader import is_lost
from rse_study.search.state import STAGES

BRIEF = "less than a second"


def by_stage(contents: Contents) -> pd.DataFrame:
    """Return a row per stage: device_s, cells, alone_s, median_s.

    `device_s` is the device time of all attempts (NaN without any on record); the others count finished cells, their
    training and scoring time alone, and its median.
    """
    cells = contents.cells
    stages = contents.attempts["cell"].map(cells.set_index("identity")["stage"])
    ended = cells[cells["duration_s"] > 0].assign(alone_s=alone_seconds(contents))
    table = ended.groupby("stage").agg(
        cells=("identity", "count"), alone_s=("alone_s", "sum"), median_s=("duration_s", "median")
    )
    has_ended = contents.attempts["ended"] != ""
    device_s = attempt_seconds(contents)[has_ended].groupby(stages[has_ended]).sum().rename("device_s")
    table = table.join(device_s, how="outer").fillna({"alone_s": 0.0, "cells": 0})
    return table.reindex([stage for stage in STAGES if stage in table.index])


def device_time(contents: Contents) -> float:
    """Return a study's device time in seconds, as `device_time.INCLUDED` says."""
    return float(attempt_seconds(contents).sum())


def time_text(contents: Contents) -> str:
    """Return the device time in words; that of the cells alone without attempts."""
    if (contents.attempts["ended"] != "").any():
        return f"{show_duration(device_time(contents)) or BRIEF} of device time"
    return f"{show_duration(float(alone_seconds(contents).sum())) or BRIEF} of training and scoring alone"


def attempt_seconds(contents: Contents) -> pd.Series:
    """Return the device time of each attempt, in seconds."""
    gpus = gpus_per_worker(contents.cells["provenance"], contents.provenance)
    return device_seconds(contents.attempts, gpus)


def alone_seconds(contents: Contents) -> pd.Series:
    """Return each cell's seconds of training and scoring alone, times its devices."""
    newest = contents.attempts.sort_values("number").drop_duplicates("cell", keep="last").set_index("cell")
    devices = num_devices(newest, gpus_per_worker(contents.cells["provenance"], contents.provenance))
    return contents.cells["duration_s"] * contents.cells["identity"].map(devices).astype(float).fillna(1.0)


def lost_attempts(attempts: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the attempts without a result, with their seconds; also those given up."""
    statuses = dict(zip(cells["identity"], cells["status"], strict=True))
    ended = zip(attempts["outcome"], attempts["cell"], strict=True)
    are_lost = [is_lost(outcome, statuses.get(cell, "running")) for outcome, cell in ended]
    lost = attempts[pd.Series(are_lost, attempts.index, dtype=bool)]
    return lost.assign(seconds=seconds(lost["started"], lost["ended"]))


def seconds(started: pd.Series, ended: pd.Series) -> pd.Series:
    """Return the seconds between two columns of times; NaN where one is missing."""
    return (times(ended) - times(started)).dt.total_seconds()


def steps(contents: Contents) -> tuple[int, int]:
    """Return (steps trained, planned) of ended cells; (0, 0) until one is complete."""
    cells = contents.stage("search")
    complete = cells.loc[cells["status"] == "complete", "t"].dropna()
    ended = cells.loc[cells["status"].isin(["complete", "stopped_early"]), "t"].dropna()
    return (0, 0) if complete.empty else (int(ended.sum()), int(complete.max()) * len(ended))


def costs(contents: Contents) -> dict[str, str]:
    """Return the whole account in words and numbers."""
    account, table = {}, by_stage(contents)
    for stage, row in table.dropna(subset="device_s").iterrows():
        account[f"device time, {STAGES[stage]}"] = show_duration(row["device_s"]) or BRIEF
    if table["device_s"].count() > 1:
        account["device time in all"] = show_duration(device_time(contents)) or BRIEF
    for stage, row in table[table["cells"] > 0].iterrows():
        text = f"{show_duration(row['alone_s'])}, {counted(int(row['cells']), 'cell')}"
        account[f"training and scoring alone, {STAGES[stage]}"] = (
            f"{text}, median {show_duration(row['median_s'])}"
        )
    trained, planned = steps(contents)
    if contents.study.rungs and planned:
        saved = f"{1 - trained / planned:.0%} saved by stopping early"
        account["steps of the search"] = f"{trained:,} trained of {planned:,} planned: {saved}"
    lost, num = lost_attempts(contents.attempts, contents.cells), len(contents.attempts)
    told = str(num) if num or table.empty else "not recorded"
    account["attempts"] = f"{num}, {len(lost)} of them lost" if len(lost) else told
    if len(lost):
        # The end of an attempt whose driver died was not seen: the next run closed it.
        account["time in lost attempts, at most"] = show_duration(lost["seconds"].sum()) or BRIEF
    if (contents.attempts["ended"] != "").any():
        account["first start to last end"] = show_duration(wall(contents.attempts)) or BRIEF
    return account


def wall(attempts: pd.DataFrame) -> float:
    """Return the seconds from the first start to the last end, breaks included."""
    return float((times(attempts["ended"]).max() - times(attempts["started"]).min()).total_seconds())
