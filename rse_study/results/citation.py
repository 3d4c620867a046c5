"""One-line citation of a study: versions and fingerprints."""

from collections.abc import Iterable, Mapping
from typing import Any

from rse_study.results.reader import Reader
from rse_study.results.study_record import StudyRecord
from rse_study.spec import fingerprint_of

SHOWN = 12  # digits of a fingerprint


def citation(reader: Reader) -> str:
    """Return the citation below a report and in every exported file."""
    revision = int(reader.revisions()["number"].iloc[-1])
    return citation_of(reader.study(), revision, reader.provenance() or reader.cells()["provenance"])


def citation_of(study: StudyRecord, revision: int, runs: Iterable[Mapping[str, Any]]) -> str:
    """Return the citation by the newest run, without unknown fingerprints.

    If no run is on record, the newest cell stands for it.
    """
    newest: Mapping[str, Any] = next(reversed(list(runs)), {})
    packages = newest.get("packages", {})
    prints = {"study": study.resolved, "data": study.fingerprints, "materials": newest.get("materials")}
    shown = [f"{name} {fingerprint_of(content)[:SHOWN]}" for name, content in prints.items() if content]
    parts = [
        f"rse_study {packages.get('rse-study', 'of unknown version')}",
        *([f"code {newest['code']}"] if newest.get("code") else ()),
        *([f"torch {packages['torch']}"] if "torch" in packages else ()),
        f"study {study.name!r}, revision {revision}",
        *([f"sha256 of {', '.join(shown)}"] if shown else ()),
    ]
    return "; ".join(parts) + "."
