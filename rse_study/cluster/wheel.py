"""The wheel of this version, by which jobs ship the code.

It is packed from the running packages, because an installed wheel has no sources to build from. The
same files give the same bytes.
"""

import base64
import hashlib
import io
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path

from rse_study.errors import InputError

DISTRIBUTION = "rse-study"
PACKAGES = ("rse_study", "analysis", "search_spaces", "clusters")
TAGS = b"Wheel-Version: 1.0\nGenerator: rse-study\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@dataclass(frozen=True)
class Wheel:
    """File name of a wheel, and the files in it."""

    name: str
    files: Mapping[str, bytes] = field(repr=False)

    @cached_property
    def content(self) -> bytes:
        """The files zipped, reproducibly."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, content in self.files.items():
                entry = zipfile.ZipInfo(name)  # of 1980: today's date would change the bytes every time
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, content, compresslevel=9)  # the archive's own level is ignored
        return stream.getvalue()


def wheel_of_this_version() -> Wheel:
    """Return the wheel of the running code; raise InputError without a version."""
    root = Path(__file__).parents[2]  # a checkout, or site-packages
    version, info = _version_and_metadata(root)
    stem = f"{DISTRIBUTION.replace('-', '_')}-{version}"
    paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*")) if path.is_file()]
    paths = [path for path in paths if "__pycache__" not in path.parts]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    files[f"{stem}.dist-info/METADATA"] = info.encode()
    files[f"{stem}.dist-info/WHEEL"] = TAGS
    files[f"{stem}.dist-info/entry_points.txt"] = b"[console_scripts]\nrse-study = rse_study.cli:main\n"
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join([*(_record_line(name, files[name]) for name in files), f"{record},,\n"]).encode()
    return Wheel(f"{stem}-py3-none-any.whl", files)


def _version_and_metadata(root: Path) -> tuple[str, str]:
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


def as_tar(files: Mapping[str, bytes]) -> bytes:
    """Return files as a .tar.xz, which is half as large as a wheel."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:xz", format=tarfile.GNU_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)  # without date and owner: the same bytes every time
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()
