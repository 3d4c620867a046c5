"""Repositories' files: from a mirror on this machine, the hub, or GitHub."""

from dataclasses import dataclass
from pathlib import Path

from rse_study.activity import ProgressCallback
from rse_study.data.catalogue import FileHome, Home, TableHome
from rse_study.data.download import RemoteFile, download, download_from_hub, on_github, on_hub
from rse_study.errors import InputError

DOWNLOADS = ".downloads"  # in the data folder: what is not whole yet


@dataclass(frozen=True)
class Source:
    """A mirror, the hub or GitHub, from which repositories' files are read."""

    data_dir: Path
    mirror: Path | None
    on_progress: ProgressCallback = lambda done, total: None

    def has_copy_of(self, home: Home) -> bool:
        return self.mirror is not None and (self.mirror / home.repository).is_dir()

    def describe(self, home: Home, path: str) -> RemoteFile:
        if isinstance(home, FileHome) and home.commit:
            return on_github(home.repository, home.commit, path, self.data_dir / DOWNLOADS)
        if isinstance(
            home, TableHome
        ):  # the hub's own library downloads it, and keeps it in a cache of its own
            return RemoteFile(home.repository, "", 0, Path(home.repository))
        return on_hub(home.repository, path)

    def release(self, path: Path) -> None:
        """Delete a file that was downloaded for its content alone."""
        if path.parent == self.data_dir / DOWNLOADS:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()

    def file(self, home: Home, path: str) -> Path:
        """Return a file on this machine, downloaded if there is no copy of its repository."""
        if self.mirror is not None and self.has_copy_of(home):
            local = self.mirror / home.repository
            name = path or "archive.tar.gz"
            if (local / name).is_file():
                return local / name
            rule, remedy = (
                "a mirror folder must hold every file that is needed",
                "Add it, or remove the folder",
            )
            raise InputError(f"holds no {name}", where=str(local), rule=rule, remedy=remedy)
        if isinstance(home, FileHome) and home.commit:
            return download(self.describe(home, path), self.on_progress)
        return download_from_hub(home.repository, path, self.on_progress)
