"""Records of submissions: `<store>/.clusters/<cluster>/<study>.json`."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from rse_study.cluster.job_report import JobReport
from rse_study.errors import InputError, first_line
from rse_study.results.files.atomic import write_whole

FOLDER = ".clusters"


@dataclass(frozen=True)
class SubmissionRecord:
    """A local record of a study on a cluster, which may have forgotten it."""

    study: str
    storage: str
    store: str = "studies"
    """folder of the driver's ledgers"""
    price_per_hour: float = 0.0
    """of a device; 0 if it is free or the study has no price"""
    reports: tuple[JobReport, ...] = ()

    def with_reports(self, reports: Iterable[JobReport]) -> "SubmissionRecord":
        """Update with new reports; jobs that the cluster forgot stay, active ones as over."""
        merged = {each.handle: _as_forgotten(each) for each in self.reports}
        return replace(self, reports=tuple((merged | {each.handle: each for each in reports}).values()))


_RECORDS = TypeAdapter(SubmissionRecord)


def _as_forgotten(before: JobReport) -> JobReport:
    if not before.is_active:
        return before
    reason = "the cluster no longer knows it"
    return replace(before, state="stopped", native="GONE", ended=time.time(), reason=reason)


def cluster_home(store: Path, cluster: str) -> Path:
    """Return the local folder of a cluster's records."""
    return store / FOLDER / cluster


def read_record(home: Path, study: str) -> SubmissionRecord | None:
    """Read the record of a study on a cluster; None if there is none."""
    path = _path(home, study)
    try:
        return _RECORDS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        remedy = "Move it away: the cluster still knows its jobs"
        raise InputError(f"damaged: {first_line(error)}", where=str(path), remedy=remedy) from None


def write_record(home: Path, record: SubmissionRecord) -> None:
    """Write the record atomically."""
    write_whole(_path(home, record.study), _RECORDS.dump_json(record, indent=1))


def _path(home: Path, study: str) -> Path:
    return home / f"{study}.json"
