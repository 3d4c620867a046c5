"""Named bytes in one place, whole or not there: in a folder, or behind a URL."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pyarrow import fs, memory_map

from rse_study.results.atomic import write_whole

PIECE_BYTES = (
    64 << 20
)  # read at a time; one stream read to its end is seventy times slower (docs/results/clusters.md)
MARKER = "rse-study-storage.txt"


@runtime_checkable
class Objects(Protocol):
    """Bytes by key; keys are paths with slashes.

    Every method raises OSError where the place does not answer, and FileNotFoundError where there is no such key.
    """

    def prepare(self) -> None:
        """Make the place where there is none yet: the driver's part, once."""

    def read(self, key: str) -> bytes:
        """All bytes of an object."""

    def write(self, key: str, content: bytes) -> None:
        """Write an object; readers see all of it or what was there before."""

    def download(self, key: str, path: Path) -> None:
        """Read an object into a local file."""

    def upload(self, path: Path, key: str) -> None:
        """Write a local file as an object, whole like `write`."""

    def keys(self, prefix: str) -> list[str]:
        """Keys below a prefix, sorted; none where there is nothing."""

    def delete(self, key: str) -> None:
        """Delete an object; one that is not there is no error."""


class FolderObjects:
    """Objects as files below a folder, which all nodes see.

    A file marks the folder: where the disk is not mounted it is missing, and nothing is read or written.

    Parameters
    ----------
    root : Path
        The folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def prepare(self) -> None:
        write_whole(self._root / MARKER, "the storage of rse_study's studies\n")

    def read(self, key: str) -> bytes:
        path = self._path(key)
        if path.is_dir():  # what is left of keys below it: no object
            raise FileNotFoundError(str(path))
        return path.read_bytes()

    def write(self, key: str, content: bytes) -> None:
        path = self._path(key)
        try:
            write_whole(path, content)
        except FileNotFoundError as error:  # unmounted in the meantime: no answer, and no missing object
            raise OSError(f"{self._root} went away: is it mounted? ({error.strerror})") from None

    def download(self, key: str, path: Path) -> None:
        path.write_bytes(self.read(key))

    def upload(self, path: Path, key: str) -> None:
        self.write(key, path.read_bytes())

    def keys(self, prefix: str) -> list[str]:
        found = (path for path in self._path(prefix).rglob("*") if path.is_file())
        visible = (path for path in found if not path.name.startswith("."))  # others are drafts
        return sorted(path.relative_to(self._root).as_posix() for path in visible)

    def delete(self, key: str) -> None:
        path = self._path(key)
        if not path.is_dir():
            path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        if not (self._root / MARKER).is_file():
            raise OSError(f"{self._root} holds no storage here: is it mounted?")
        return self._root / key


class ArrowObjects:
    """Objects in a file system of pyarrow, such as S3.

    Parameters
    ----------
    filesystem : pyarrow.fs.FileSystem
        How they are reached.
    root : str
        Bucket and prefix.
    """

    def __init__(self, filesystem: fs.FileSystem, root: str) -> None:
        self._fs, self._root = filesystem, root.rstrip("/")

    def prepare(self) -> None:
        """Nothing: a bucket is made by whoever pays for it."""

    def read(self, key: str) -> bytes:
        with self._fs.open_input_file(self._path(key)) as source:
            return b"".join(_pieces(source))

    def write(self, key: str, content: bytes) -> None:
        # From memory: an exception between two writes would end in an object that holds the first of them.
        with self._fs.open_output_stream(self._path(key)) as stream:
            stream.write(content)

    def download(self, key: str, path: Path) -> None:
        with self._fs.open_input_file(self._path(key)) as source, path.open("wb") as target:
            for piece in _pieces(source):
                target.write(piece)

    def upload(self, path: Path, key: str) -> None:
        if path.stat().st_size == 0:  # nothing can be mapped
            self.write(key, b"")
            return
        with memory_map(str(path)) as source:
            content = source.read_buffer()
            with self._fs.open_output_stream(self._path(key)) as stream:
                stream.write(content)

    def keys(self, prefix: str) -> list[str]:
        below = fs.FileSelector(self._path(prefix), recursive=True, allow_not_found=True)
        files = (info.path for info in self._fs.get_file_info(below) if info.type == fs.FileType.File)
        return sorted(path.removeprefix(f"{self._root}/") for path in files)

    def delete(self, key: str) -> None:
        try:
            self._fs.delete_file(self._path(key))
        except FileNotFoundError:
            return

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}" if key else self._root


def _pieces(source: Any) -> Iterator[bytes]:
    size = source.size()
    for at in range(0, size, PIECE_BYTES):
        yield source.read_at(min(PIECE_BYTES, size - at), at)
