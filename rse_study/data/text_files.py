"""Strict reading of UTF-8 text files, plain or gzip; errors name the line."""

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from rse_study.errors import InputError, MissingFile
from rse_study.registry import did_you_mean

SET_DATA = (
    "Set RSE_STUDY_DATA to your data folder, or fetch what is missing: rse-study data fetch --for STUDY"
)
MAX_LINE = 100_000  # characters; a longer line means a file without line ends
MAX_LINES = 10_000_000  # of one file, blank and repeated ones too: read in seconds
MAX_BYTES = 2_000_000_000  # of one file, unpacked
MAX_WHOLE = 200_000_000  # bytes of JSON; SQuAD has 30 million
_MAX_BYTES_PER_CHARACTER = 4
# float() also takes "1_0" and the digits of other scripts.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NO_TEXT = {
    "\r": ("a carriage return in the line", "LF or CRLF ends a line", "Convert it: tr '\\r' '\\n' < FILE"),
    "\0": ("a NUL character", "text has none: this is binary, or UTF-16", "Save it as text in UTF-8"),
}


def find_file(path: str | Path, *folders: Path) -> Path:
    """Find `path` or `path.gz` in the first folder that has it."""
    places = places_of(path, *folders)
    for wanted in places:
        for candidate in (wanted, wanted.with_name(wanted.name + ".gz")):
            if candidate.is_file():
                return candidate
    for wanted in filter(Path.is_dir, places):
        remedy = "Name the file in it, or write {dataset: FOLDER} for a folder in the hub's layout"
        raise InputError("is a folder", where=str(wanted), rule="a text file is expected", remedy=remedy)
    hints = [_hint(wanted, folder) for wanted, folder in places.items()]
    remedy = next((hint for hint in hints if hint.startswith("Did you mean")), hints[-1])
    if len(places) == 1:
        raise MissingFile("no such file", where=str(*places), remedy=remedy)
    raise MissingFile("no such file", where=str(path), rule=looked_for_in(*folders), remedy=remedy)


def find_set_file(below: str, data_dir: Path) -> Path:
    """Find a file of the catalogue; MissingFile says the layout."""
    try:
        return find_file(below, data_dir)
    except MissingFile as error:
        rule = f"the layout is {below} (plain or .gz) in the data folder"
        raise MissingFile(error.what, where=error.where, rule=rule, remedy=SET_DATA) from None


def places_of(path: str | Path, *folders: Path) -> dict[Path, Path]:
    """Return candidate paths, each with its folder; absolute and `~` paths give one."""
    return {folder / os.path.expanduser(path): folder for folder in folders}


def looked_for_in(*folders: Path) -> str:
    """List the folders that were searched in a phrase."""
    *others, last = dict.fromkeys(map(str, folders))
    return f"looked for in {', '.join(others)} and {last}" if others else f"looked for in {last}"


def read_lines(path: Path, most_bytes: int | None = None) -> Iterator[str]:
    """Yield lines without LF or CRLF and byte order mark; nothing else ends a line."""
    with _opened(path) as stream:
        for number, raw in enumerate(_raw_lines(stream, path, most_bytes or MAX_BYTES), start=1):
            line = _decode(raw, path, number).rstrip("\r\n")
            yield line.removeprefix("\ufeff") if number == 1 else line


def read_own_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a user's own file; InputError for CR and binary content."""
    for number, line in enumerate(read_lines(path), start=1):
        for character, (what, rule, remedy) in _NO_TEXT.items():
            if character in line:
                raise InputError(what, where=f"{path}:{number}", rule=rule, remedy=remedy)
        yield line


def number_of(text: str) -> float:
    """Return the number that a field holds in plain digits; NaN for anything else."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else float("nan")


def read_whole(path: Path) -> bytes:
    """Return the content of a JSON file, decompressed; a larger one is cut off."""
    with _opened(path) as stream:
        return stream.read(MAX_WHOLE)


@contextmanager
def _opened(path: Path) -> Iterator[BufferedIOBase]:
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            yield stream
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"broken gzip file ({error})", where=str(path), remedy="Fetch it again") from None
    except PermissionError:
        raise InputError("may not be read", where=str(path), remedy="Check its permissions") from None


def _raw_lines(stream: BufferedIOBase, path: Path, most_bytes: int) -> Iterator[bytes]:
    limit = MAX_LINE * _MAX_BYTES_PER_CHARACTER + 2
    number = size = 0
    while raw := stream.readline(limit):
        number, size = number + 1, size + len(raw)
        if number > MAX_LINES or size > most_bytes:
            what = f"holds more than {MAX_LINES:,} lines, or {most_bytes:,} bytes when unpacked"
            remedy = "Split it into several files, or take fewer sentences"
            raise InputError(what, where=str(path), rule="blank and repeated lines count", remedy=remedy)
        if len(raw) == limit and not raw.endswith(b"\n"):
            raise _too_long(path, number)
        yield raw


def _decode(raw: bytes, path: Path, number: int) -> str:
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        what, rule = f"byte {error.start + 1} is not UTF-8", "text files must be UTF-8"
        remedy = "Convert the file with iconv, or unpack it: of packed files, .gz alone is read"
        if number == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            what, remedy = "the file is UTF-16", "Convert the file: iconv -f UTF-16 -t UTF-8"
        raise InputError(what, where=f"{path}:{number}", rule=rule, remedy=remedy) from None
    if len(line.rstrip("\r\n")) > MAX_LINE:
        raise _too_long(path, number)
    return line


def _too_long(path: Path, number: int) -> InputError:
    rule = f"one sentence a line, at most {MAX_LINE:,} characters"
    remedy = "Split it into sentences, each of which ends with LF or CRLF"
    return InputError("the line is too long", where=f"{path}:{number}", rule=rule, remedy=remedy)


def _hint(wanted: Path, folder: Path) -> str:
    """Suggest the most similar name, or how to get the data folder if it is missing."""
    is_below = wanted.is_relative_to(folder)
    if is_below and not folder.is_dir():
        return f"There is no {folder}. {SET_DATA}"
    return _near(wanted, f". {SET_DATA}" if is_below else "")


def _near(wanted: Path, advice: str) -> str:
    """Return the most similar name in the deepest existing folder of the path."""
    parent, name = wanted.parent, wanted.name
    while not parent.is_dir() and parent != parent.parent:
        parent, name = parent.parent, parent.name
    names = sorted(entry.name for entry in parent.iterdir() if not entry.name.startswith("."))
    if not names:
        return f"{parent} is empty{advice}"
    hint = did_you_mean(name, names[:50])
    return f"{hint} (in {parent})"
