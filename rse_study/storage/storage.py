"""Objects (named bytes) in a folder or behind a URL, and access with retries."""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import uuid4

from pyarrow import fs, memory_map

from rse_study.errors import GOES_ON, InputError, Unavailable, first_line
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


PATIENCE = "RSE_STUDY_STORAGE_PATIENCE"
"""Environment variable: seconds to wait for an unresponsive storage, 300 by default."""
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 10.0
NOTICE_SECONDS = 5.0
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""A full disk, of the storage or of this machine, which waiting does not help."""
Answer = TypeVar("Answer")


def study_key(name: str) -> str:
    """Return the prefix of everything that belongs to one study."""
    return f"studies/{name}"


def ledger_key(name: str) -> str:
    """Return the key of the copy of a study's ledger."""
    return f"{study_key(name)}/ledger.sqlite"


class Storage:
    """Reads and writes objects at a location, retrying until it responds.

    Pickling keeps location and patience only: each process opens its own connection. Methods raise Unavailable when
    the patience (seconds; None: from the environment) is used up.
    """

    def __init__(self, location: str, patience_s: float | None = None) -> None:
        self.location = location
        self.patience_s = float(os.environ.get(PATIENCE) or 300) if patience_s is None else patience_s
        self._opened: Objects | None = None
        self._tell: Callable[[str], None] | None = None
        self._is_silent = False

    def report_silence_to(self, tell: Callable[[str], None]) -> None:
        """Call `tell` when this process starts and stops waiting for the storage."""
        self._tell = tell

    def require(self, *, is_new: bool = True) -> None:
        """Test writing, reading and deleting; a storage used before must not be missing."""
        probe = f"probe-{uuid4().hex[:12]}"  # several drivers may do this at once
        try:
            if is_new:
                self._objects.prepare()
            self._objects.write(probe, b"rse-study")
            self._objects.read(probe)
            self._objects.delete(probe)
        except OSError as error:
            remedy = "Check name, endpoint, region and the credentials in the environment"
            rule = "a study's storage can be read and written from here"
            raise InputError(
                first_line(error), where=f"storage {self.location}", rule=rule, remedy=remedy
            ) from None

    def read(self, key: str) -> bytes:
        return self._waiting(lambda: self._objects.read(key))

    def find(self, key: str) -> bytes | None:
        try:
            return self.read(key)
        except FileNotFoundError:
            return None

    def write(self, key: str, content: bytes) -> None:
        self._waiting(lambda: self._objects.write(key, content))

    def download(self, key: str, path: Path) -> None:
        self._waiting(lambda: self._objects.download(key, path))

    def upload(self, path: Path, key: str) -> None:
        self._waiting(lambda: self._objects.upload(path, key))

    def keys(self, prefix: str) -> list[str]:
        return self._waiting(lambda: self._objects.keys(prefix))

    def delete(self, key: str) -> None:
        self._waiting(lambda: self._objects.delete(key))

    @property
    def _objects(self) -> Objects:
        if self._opened is None:
            self._opened = open_objects(self.location)
        return self._opened

    def _waiting(self, ask: Callable[[], Answer]) -> Answer:
        """Retry until there is a response; every operation may be repeated."""
        begun, wait = time.monotonic(), FIRST_WAIT_SECONDS
        while True:
            try:
                answer = ask()
            except FileNotFoundError:
                raise
            except OSError as error:
                if error.errno in NO_ROOM:
                    what = (
                        f"nothing can be written between storage {self.location} and {socket.gethostname()}"
                    )
                    remedy = f"Make room on whichever disk it is; {GOES_ON}"
                    raise Unavailable(f"{what} ({first_line(error)})", remedy) from None
                self._note_silence(time.monotonic() - begun)
                left = begun + self.patience_s - time.monotonic()
                if left <= 0:
                    what = f"storage {self.location} did not answer for {self.patience_s:g} s"
                    remedy = f"What was committed is kept; {GOES_ON} once it answers"
                    raise Unavailable(f"{what} ({first_line(error)})", remedy) from None
                time.sleep(min(wait, left))
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
            else:
                self._note_answer()
                return answer

    def _note_silence(self, seconds: float) -> None:
        if self._tell is not None and not self._is_silent and seconds >= NOTICE_SECONDS:
            self._is_silent = True
            self._tell(f"storage {self.location} does not answer: waiting up to {self.patience_s:g} s")

    def _note_answer(self) -> None:
        if self._tell is not None and self._is_silent:
            self._is_silent = False
            self._tell(f"storage {self.location} answers again")

    def __getstate__(self) -> dict[str, Any]:
        connection = {"_opened": None, "_tell": None, "_is_silent": False}
        return {"location": self.location, "patience_s": self.patience_s, **connection}
