"""The body of `cluster status`: a study's jobs, nodes, cells and cost."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.formats import show_duration
from rse_study.cli import parameters
from rse_study.cli.terminal.json_output import json_of
from rse_study.cli.terminal.next_step import command, in_store, suggest
from rse_study.cli.terminal.screen import announce
from rse_study.cli.verbs.cluster.study_on_cluster import StudyOnCluster, show_job, study_on_cluster
from rse_study.cli.verbs.status.content import StudyStatus, state_of
from rse_study.cli.verbs.status.text import summary_of
from rse_study.cluster.backend import NodeHours
from rse_study.cluster.completeness import ledger_copy
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.spending import spent
from rse_study.errors import InputError, Unavailable
from rse_study.results.files.schema import ledger_path

NEXT = {
    "waiting": ("logs", "-f"),
    "running": ("logs", "-f"),
    "complete": ("fetch",),
    "failed": ("logs",),
    "stopped": ("submit",),
}
"""command that follows each state of a job"""
START_SECONDS = 600.0
"""time that a job may take to start Ray and its first cell"""


def show_cluster_status(
    cluster: parameters.ClusterArgument,
    study: parameters.StudyArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Show a study's job, its nodes and cells, and its cost so far."""
    where = study_on_cluster(cluster, study, store)
    nodes = where.backend.node_hours(where.jobs)
    state, source = cells_of(where)
    if as_json:
        print(json_of(_content(where, nodes, state)), flush=True)
        return
    announce("\n".join(_lines(where, nodes, state, source)))
    suggest(command("cluster", *NEXT[where.jobs[-1].state], cluster, study, *in_store(store)))


def cells_of(where: StudyOnCluster) -> tuple[StudyStatus | None, str]:
    """Return a study's state and where its ledger lies; None and why without one.

    It is the driver's own ledger where this machine sees it, else the copy in the storage.
    """
    storage = where.record.storage if where.record else where.spec.storage
    folder = Path(where.record.spec["store"] if where.record else where.spec.store) / where.study
    try:
        # A relative store is below the job's folder on the head: one of that name here is another's.
        if folder.is_absolute() and ledger_path(folder).is_file():
            return state_of(folder), str(folder)
        if storage:
            return _state_of_copy(storage, where), f"the copy in {storage}"
    except (InputError, Unavailable) as error:
        job = where.jobs[-1]
        if job.is_active and job.hours * 3600 < START_SECONDS:  # neither storage nor ledger may be there yet
            return None, "no cell has started yet"
        return None, f"unknown ({error})"
    return None, "unknown (the study has no storage from which to read its ledger)"


def _state_of_copy(storage: str, where: StudyOnCluster) -> StudyStatus:
    with ledger_copy(storage, where.study) as store:
        state = state_of(store / where.study)
    # Who holds the ledger stands beside it, on the driver's disk: here the job says whether anybody does.
    job = where.jobs[-1]
    return state.model_copy(update={"holder": {"job": job.handle} if job.is_active else None})


def _lines(
    where: StudyOnCluster, nodes: list[NodeHours], state: StudyStatus | None, source: str
) -> Iterator[str]:
    yield f"{where.study} on {where.spec.name} ({where.spec.kind})"
    for report in where.jobs:
        yield f"job: {_named(report)} {show_job(report)}{_times(report)}"
    yield f"nodes: {_nodes(nodes)}"
    if dashboard := where.backend.dashboard():
        yield f"Ray's dashboard: {dashboard}"
    yield f"{summary_of(state)} ({source})" if state else f"cells: {source}"
    hours = sum((each.hours for each in nodes), 0.0)
    yield f"spent so far: {spent(where.spec, nodes):.2f} (about {hours:.2f} node hours, at the prices of the spec)"


def _content(where: StudyOnCluster, nodes: list[NodeHours], state: StudyStatus | None) -> dict[str, Any]:
    return {
        "cluster": where.spec.name,
        "kind": where.spec.kind,
        "study": where.study,
        "jobs": [vars(report) for report in where.jobs],
        "nodes": [vars(each) for each in nodes],
        "node_hours": sum(each.hours for each in nodes),
        "spent": spent(where.spec, nodes),
        "cells": state.counts if state else None,
    }


def _named(report: JobReport) -> str:
    same = report.handle == report.submission_id
    return report.submission_id if same else f"{report.handle} ({report.submission_id})"


def _times(report: JobReport) -> str:
    if report.started is None:
        return ""
    began = datetime.fromtimestamp(report.started).strftime("%Y-%m-%d %H:%M:%S")
    return f", since {began}, for {show_duration(report.hours * 3600) or '0 s'}"


def _nodes(nodes: list[NodeHours]) -> str:
    if not nodes:
        return "none"
    return ", ".join(f"{each.num_nodes} {each.group or 'workers'}" for each in nodes)
