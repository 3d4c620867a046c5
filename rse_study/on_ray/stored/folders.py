"""The folders of a study."""

from dataclasses import dataclass
from pathlib import Path

from rse_study.data.location import cache_dir


@dataclass(frozen=True)
class StudyFolders:
    """The folders that a run of a study uses, below the study's own."""

    study: Path
    """holds the ledger; an absolute path, for workers have another working directory"""

    @property
    def materials(self) -> Path:
        """Files that say what trials are trained on, for workers to read."""
        return self.study / "materials"

    @property
    def ray(self) -> Path:
        """Ray's own notes: disposable."""
        return self.study / "ray"

    @property
    def train_runs(self) -> Path:
        """Notes of Ray Train: disposable."""
        return self.ray / "train"


def storage_cache() -> Path:
    """Return this machine's folder for copies from storages."""
    return cache_dir().absolute() / "storage"
