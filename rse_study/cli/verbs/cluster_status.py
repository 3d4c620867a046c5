"""What `cluster status` does: show a study's jobs, nodes, cells and cost."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from analysis.formats import show_duration
from rse_study.cli.cluster_arguments import StudyOnCluster, show_job, study_on_cluster
from rse_study.cli.json_output import json_of
from rse_study.cli.screen import announce
from rse_study.cli.verbs.status_content import StudyStatus, state_of
from rse_study.cli.verbs.status_text import summary_of
from rse_study.cluster.backend import NodeHours
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.spending import spent
from rse_study.errors import InputError
from rse_study.results.schema import ledger_path


def show_cluster_status(given: str, study: str, as_json: bool, store: Path) -> None:
    """Show where a study stands on a cluster.

    Parameters
    ----------
    given
        The cluster: a YAML file or the name of a shipped one.
    study
        A YAML file or a study's name.
    as_json
        Print JSON.
    store
        Folder that holds the studies' folders, and what is known of clusters.
    """
    where = study_on_cluster(given, study, store)
    nodes = where.backend.node_hours(where.jobs)
    ledger = ledger_folder(where)
    state = _state_in(ledger) if ledger else None
    announce(
        json_of(_content(where, nodes, state)) if as_json else "\n".join(_lines(where, nodes, state, ledger))
    )


def ledger_folder(where: StudyOnCluster) -> Path | None:
    """Return the folder with the newest ledger of a study, or a copy of it.

    None where this machine sees none.
    """
    storage = where.record.storage if where.record else where.spec.storage
    candidates = [Path(where.spec.store) / where.study]
    if storage and "://" not in storage:
        candidates.append(Path(storage) / where.study)
    there = [folder for folder in candidates if ledger_path(folder).is_file()]
    return max(there, key=lambda folder: ledger_path(folder).stat().st_mtime, default=None)


def _state_in(ledger: Path) -> StudyStatus | None:
    try:
        return state_of(ledger)
    except InputError:  # a run that has begun a moment ago has entered no study yet
        return None


def _lines(
    where: StudyOnCluster, nodes: list[NodeHours], state: StudyStatus | None, ledger: Path | None
) -> Iterator[str]:
    yield f"{where.study} on {where.spec.name} ({where.spec.kind})"
    for report in where.jobs:
        yield f"job: {_named(report)} {show_job(report)}{_times(report)}"
    yield f"nodes: {_nodes(nodes)}"
    yield f"{summary_of(state)} ({ledger})" if state else "cells: no ledger or copy of it is in sight yet"
    hours = sum(each.hours for each in nodes)
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
    return ", ".join(f"{each.num_nodes}{f' {each.group}' if each.group else ''}" for each in nodes)
