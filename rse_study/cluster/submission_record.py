"""Records of submissions: `<store>/.clusters/<cluster>/<study>.json`."""

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rse_study.cluster.job_report import JobReport
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole

FOLDER = ".clusters"


@dataclass(frozen=True)
class SubmissionRecord:
    """A local record of a study on a cluster, which may have forgotten it."""

    study: str
    submission_id: str
    handle: str
    submitted: str
    """ISO 8601 in UTC"""
    storage: str
    spec: dict[str, Any]
    reports: tuple[JobReport, ...] = ()

    def with_reports(self, reports: Iterable[JobReport]) -> "SubmissionRecord":
        """Update with new reports; jobs that the cluster forgot stay, active ones as over."""
        now = {report.handle: report for report in reports}
        merged = {each.handle: _merged(each, now.get(each.handle)) for each in self.reports}
        new = {handle: report for handle, report in now.items() if handle not in merged}
        return replace(self, reports=(*merged.values(), *new.values()))


def _merged(before: JobReport, now: JobReport | None) -> JobReport:
    if now is not None:
        # Nodes of an ending job are released one by one.
        return replace(now, num_nodes=max(before.num_nodes, now.num_nodes))
    if before.is_active:
        reason = "the cluster no longer knows it"
        return replace(before, state="stopped", native="GONE", ended=time.time(), reason=reason)
    return before


def cluster_home(store: Path, cluster: str) -> Path:
    """Return the local folder of a cluster's records."""
    return store / FOLDER / cluster


def read_record(home: Path, study: str) -> SubmissionRecord | None:
    """Read the record of a study on a cluster; None if there is none."""
    path = _path(home, study)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        reports = tuple(JobReport(**report) for report in content["reports"])
        return SubmissionRecord(**{**content, "reports": reports})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        remedy = "Move it away: the cluster still knows its jobs"
        raise InputError(f"damaged: {error}", where=str(path), remedy=remedy) from None


def write_record(home: Path, record: SubmissionRecord) -> None:
    """Write the record atomically."""
    write_whole(_path(home, record.study), json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")


def _path(home: Path, study: str) -> Path:
    return home / f"{study}.json"
