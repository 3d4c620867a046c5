"""Objects (named bytes), written atomically in a folder or behind a URL."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pyarrow import fs, memory_map

from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole
from rse_study.storage import FORM, absolute, check_location, is_url

# Read at a time; one stream read to its end is seventy times slower (docs/results/clusters.md).
PIECE_BYTES = 64 << 20
MARKER = "rse-study-storage.txt"


class FolderObjects:
    """Files below a folder, whose marker file tells it from an unmounted disk.

    Keys are paths with slashes. Every method raises OSError if the place does not respond, and FileNotFoundError if the
    key does not exist; what is written or uploaded is seen as a whole, or as it was before. Behind a URL, too.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def prepare(self) -> None:
        """Create the place if needed, which only the driver does, once."""
        write_whole(self._root / MARKER, "the storage of rse_study's studies\n")

    def read(self, key: str) -> bytes:
        path = self._path(key)
        if path.is_dir():  # left over from keys below it, not an object
            raise FileNotFoundError(str(path))
        return path.read_bytes()

    def write(self, key: str, content: bytes) -> None:
        path = self._path(key)
        try:
            write_whole(path, content)
        except FileNotFoundError as error:  # unmounted meanwhile: no response, rather than a missing object
            raise OSError(f"{self._root} went away: is it mounted? ({error.strerror})") from None

    def download(self, key: str, path: Path) -> None:
        path.write_bytes(self.read(key))

    def upload(self, path: Path, key: str) -> None:
        self.write(key, path.read_bytes())

    def keys(self, prefix: str) -> list[str]:
        """Return the keys below a prefix, sorted."""
        found = (path for path in self._path(prefix).rglob("*") if path.is_file())
        visible = (path for path in found if not path.name.startswith("."))  # hidden files are drafts
        return sorted(path.relative_to(self._root).as_posix() for path in visible)

    def delete(self, key: str) -> None:
        """Delete an object; a missing one is no error."""
        path = self._path(key)
        if not path.is_dir():
            path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        if not (self._root / MARKER).is_file():
            raise OSError(f"{self._root} holds no storage here: is it mounted?")
        return self._root / key


class ArrowObjects:
    """Objects in a pyarrow file system such as S3; the root is bucket and prefix."""

    def __init__(self, filesystem: fs.FileSystem, root: str) -> None:
        self._fs, self._root = filesystem, root.rstrip("/")

    def prepare(self) -> None:
        """Do nothing: users create their own buckets."""

    def read(self, key: str) -> bytes:
        with self._fs.open_input_file(self._path(key)) as source:
            return b"".join(_pieces(source))

    def write(self, key: str, content: bytes) -> None:
        # From memory: an exception between two writes would leave an object with only the first.
        with self._fs.open_output_stream(self._path(key)) as stream:
            stream.write(content)

    def download(self, key: str, path: Path) -> None:
        with self._fs.open_input_file(self._path(key)) as source, path.open("wb") as target:
            for piece in _pieces(source):
                target.write(piece)

    def upload(self, path: Path, key: str) -> None:
        if path.stat().st_size == 0:  # an empty file cannot be mapped
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


Objects = FolderObjects | ArrowObjects
CONNECT_SECONDS, REQUEST_SECONDS = 5.0, 30.0
MAX_REQUESTS = 3  # per operation, by the client itself; after that `Storage` waits


def open_objects(location: str) -> Objects:
    """Open the objects at a location; raise InputError if it cannot be a storage."""
    check_location(location)
    parts = urlsplit(location)
    if not is_url(location):
        return FolderObjects(Path(unquote(parts.path) if parts.scheme else absolute(location)).resolve())
    try:
        if parts.scheme == "s3":
            return ArrowObjects(_s3(dict(parse_qsl(parts.query))), f"{parts.netloc}{unquote(parts.path)}")
        return ArrowObjects(*fs.FileSystem.from_uri(location))
    except (OSError, ValueError, ImportError) as error:
        raise InputError(str(error).split("\n")[0], where=f"storage {location}", rule=f"is {FORM}") from None


def _s3(options: Mapping[str, str]) -> fs.S3FileSystem:
    endpoint = options.get("endpoint_override", "")
    scheme, _, host = endpoint.rpartition("://")
    return fs.S3FileSystem(
        endpoint_override=host or None,
        scheme=scheme or options.get("scheme", "https"),
        region=options.get("region"),
        connect_timeout=CONNECT_SECONDS,
        request_timeout=REQUEST_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=MAX_REQUESTS),
    )
