"""The wheel of this version: the code as a job ships it.

It is packed from the files of the packages that are running, in a checkout and in an installation alike: an
installed wheel has no sources to build from, and a build backend is no dependency of ours. Needs no network, and
the same files give the same bytes.
"""

import base64
import hashlib
import io
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path, PurePosixPath

from rse_study.errors import InputError

DISTRIBUTION = "rse-study"
PACKAGES = ("rse_study", "analysis", "search_spaces", "clusters")
TAGS = b"Wheel-Version: 1.0\nGenerator: rse-study\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
EARLIEST = (1980, 1, 1, 0, 0, 0)  # what zip can say; a date of today would make other bytes every time


@dataclass(frozen=True)
class Wheel:
    """A wheel: its file name and its bytes."""

    name: str
    content: bytes = field(repr=False)


def wheel_of_this_version() -> Wheel:
    """Return the wheel of the code that is running.

    Raises InputError where nothing says its version.
    """
    root = Path(__file__).parents[2]
    version, info = _version_and_metadata(root)
    return packed(root, version, info)


def as_tar(wheel: Wheel) -> bytes:
    """Return the files of a wheel as a .tar.xz, for places with little room.

    It is half as large: its files are compressed together, not one by one. `python -m tarfile -e` unpacks it.
    """
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(wheel.content)) as files,
        tarfile.open(fileobj=stream, mode="w:xz", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for entry in files.infolist():
            member = tarfile.TarInfo(
                entry.filename
            )  # of no date and nobody: the same files give the same bytes
            member.size = entry.file_size
            archive.addfile(member, files.open(entry))
    return stream.getvalue()


def packed(root: Path, version: str, info: str) -> Wheel:
    """Return a wheel of the packages below `root`.

    Parameters
    ----------
    root
        The folder that holds the packages: a checkout, or site-packages.
    version
        Of the distribution.
    info
        Its METADATA.
    """
    stem = f"{DISTRIBUTION.replace('-', '_')}-{version}"
    files = dict(_files(root))
    files[f"{stem}.dist-info/METADATA"] = info.encode()
    files[f"{stem}.dist-info/WHEEL"] = TAGS
    files[f"{stem}.dist-info/entry_points.txt"] = b"[console_scripts]\nrse-study = rse_study.cli:main\n"
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join([*(_record_line(name, files[name]) for name in files), f"{record},,\n"]).encode()
    return Wheel(f"{stem}-py3-none-any.whl", zipped(files.items()))


def _files(root: Path) -> Iterator[tuple[str, bytes]]:
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield PurePosixPath(path.relative_to(root)).as_posix(), path.read_bytes()


def _version_and_metadata(root: Path) -> tuple[str, str]:
    """Of a checkout as pyproject.toml says, else of the installed distribution."""
    if (root / "pyproject.toml").is_file():
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        lines = ["Metadata-Version: 2.1", f"Name: {DISTRIBUTION}", f"Version: {project['version']}"]
        lines.append(f"Requires-Python: {project['requires-python']}")
        lines += [f"Requires-Dist: {dependency}" for dependency in project["dependencies"]]
        return project["version"], "\n".join(lines) + "\n"
    try:
        distribution = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        rule, remedy = "the code has neither metadata nor a pyproject.toml", "Install it: pip install ."
        raise InputError("no wheel can be made", where=str(root), rule=rule, remedy=remedy) from None
    return distribution.version, distribution.read_text("METADATA") or ""


def _record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return files, by name, as a zip that is the same for the same files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content, compresslevel=9)  # the archive's own is not asked
    return stream.getvalue()
