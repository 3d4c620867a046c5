"""A study as one file, and tar archives of strangers, read in little memory."""

import json
import lzma
import re
import sqlite3
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from gzip import BadGzipFile, GzipFile
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory

from rse_study.errors import InputError, first_line
from rse_study.results.files.atomic import drafted
from rse_study.results.files.connect import copy_of
from rse_study.results.files.schema import failure_of, ledger_path
from rse_study.results.reader import Reader
from rse_study.results.study_record import StudyRecord
from rse_study.spec import hash_file

CHUNK = 2**16
# Bytes of a member's headers before its own: long name, pax records. Ours have 0.6 KB, and 0.8 KB with a long name.
MOST_HEADER = 2**12
# Bytes of memory that an .xz file may ask for: `xz -9` asks for 65 MiB, the format allows 4 GiB.
MOST_DICTIONARY = 2**27
RECORD = re.compile(r"\n\d+ (path|size)=([^\n\0]*)")
# What `read_tar` raises, and the contents that it yields.
DAMAGE = (tarfile.TarError, lzma.LZMAError, zlib.error, BadGzipFile, EOFError)


def read_tar(packed: BufferedReader) -> Iterator[tuple[tarfile.TarInfo, Iterator[bytes]]]:
    """Yield each member of a plain, .gz or .xz tar, and its content to take or leave.

    Python's tarfile reads names, pax records and maps of sparse files of any size into memory, follows headers of
    headers by recursion, and takes a damaged header for the archive's end. Its `data` filter came with Python 3.11.4.
    """
    chunks, buffer = _unpacked(packed), bytearray()

    def read(size: int) -> bytes:
        while len(buffer) < size:
            if (chunk := next(chunks, None)) is None:
                raise EOFError("it is cut off")
            buffer.extend(chunk)
        content = bytes(buffer[:size])
        del buffer[:size]
        return content

    while (member := _next_member(read)) is not None:
        sizes = (min(CHUNK, member.size - start) for start in range(0, member.size, CHUNK))
        content = map(read, sizes)
        yield member, content
        for _ in content:
            pass
        read(-member.size % tarfile.BLOCKSIZE)
    next(chunks, b"")  # up to the checksum that comes after the last member


def _next_member(read: Callable[[int], bytes]) -> tarfile.TarInfo | None:
    """Read the headers of a member; None at the archive's end."""
    header = ""
    while any(block := read(tarfile.BLOCKSIZE)):
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if member.type not in b"xgLK":
            return _as_headers_say(member, header)
        if not 0 <= member.size < MOST_HEADER - len(header):
            raise tarfile.ReadError(f"a member's headers have more than {MOST_HEADER:,} bytes")
        record = read(member.size + -member.size % tarfile.BLOCKSIZE)
        block += (b"\n0 path=" if member.type == b"L" else b"\n") + record
        header += block.decode("utf-8", "surrogateescape")
    return None


def _as_headers_say(member: tarfile.TarInfo, header: str) -> tarfile.TarInfo:
    """Give a member the name and the size that headers before its own say."""
    records = dict(RECORD.findall(header))
    member.name, size = records.get("path", member.name), str(records.get("size", member.size))
    if member.type not in b"\x0001234567" or not size.isdecimal() or "GNU.sparse" in header:
        raise tarfile.ReadError(f"{member.name[:99]!r} is sparse, or of a type that tar does not define")
    member.size = int(size) if member.isreg() else 0
    return member


def _unpacked(packed: BufferedReader) -> Iterator[bytes]:
    start = packed.peek(6)
    if start.startswith(b"\xfd7zXZ\0"):
        xz = lzma.LZMADecompressor(memlimit=MOST_DICTIONARY)
        while not xz.eof and (not xz.needs_input or packed.peek(1)):
            yield xz.decompress(packed.read(CHUNK) if xz.needs_input else b"", CHUNK)
    else:
        stream = GzipFile(fileobj=packed) if start.startswith(b"\x1f\x8b") else packed
        yield from iter(lambda: stream.read(CHUNK), b"")


LEDGER = ledger_path(Path()).name
# Folder in a study's folder with the trained weights that came with its archive, a file for each asset.
ASSETS, WEIGHTS = "assets", ".safetensors"
# File in an unpacked study's folder that identifies its archive.
ORIGIN = "archive.json"
# Of an archive: the largest in docs/results has 1,007 files and 20 MB; 10,000 cells have 40,000 files.
MOST_FILES, MOST_BYTES = 50_000, 4 * 2**30
# Of a file: the largest in docs/results are items.json with 0.4 MB, and the ledger of 500 trials with 4 MB. 16 MiB of
# JSON take up to 0.6 GB of memory to read.
MOST_OF = {".json": 2**24, ".sqlite": 2**28, WEIGHTS: MOST_BYTES}
LIMITS = f"at most {MOST_FILES:,} files and 4 GiB, 16 MiB in a JSON file, 256 MiB in a ledger"
# A study's files that hold numbers. Models, checkpoints, attacked texts and strange files are left out.
OWN = re.compile(
    r"([a-z0-9][a-z0-9_-]{0,63})/(ledger\.sqlite|assets/[a-z0-9-]+\.safetensors"
    r"|baselines/items\.json|cells/[0-9a-f]{16}/(result|evaluations|items)\.json)"
)


def write_archive(study_dir: Path, path: Path, assets: Iterable[Path] = ()) -> Path:
    """Write a study's ledger, results and resolved file to a .tar.xz; return its path.

    `assets` are folders of encoders and generators that the study's cells were trained with: their weights come
    along. Models of cells, checkpoints, tokenizers and attacked texts are left out: numbers alone may be passed on
    without asking anybody.
    """
    with Reader(study_dir) as reader:
        study = reader.ledger.frozen_study(str(study_dir))
    try:
        with (
            drafted(path) as draft,
            tarfile.open(draft, "w:xz", dereference=True) as archive,
            TemporaryDirectory() as folder,
        ):
            copy = Path(folder) / LEDGER  # as it is between two transactions, even while a driver writes it
            with closing(sqlite3.connect(ledger_path(study_dir))) as ledger:
                copy.write_bytes(copy_of(ledger))
            for name, file in _files_of(study_dir, study.name, copy, assets):
                archive.add(file, f"{study.name}/{name}")
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise InputError(what, where=str(path), remedy="Name another folder") from None
    except sqlite3.DatabaseError as error:
        raise failure_of(error, ledger_path(study_dir)) or error from None
    return path


def _files_of(
    study_dir: Path, study: str, ledger: Path, assets: Iterable[Path]
) -> Iterator[tuple[str, Path]]:
    """Yield the files of a study's archive by their place in it; InputError if they are too much."""
    files = {LEDGER: ledger}
    files |= {str(file.relative_to(study_dir)): file for file in sorted(study_dir.rglob("*.json"))}
    files |= {f"{ASSETS}/{asset.name}{WEIGHTS}": asset / f"model{WEIGHTS}" for asset in assets}
    files |= {f"{ASSETS}/{file.name}": file for file in (study_dir / ASSETS).glob("*")}
    own, num_bytes = [name for name in files if OWN.fullmatch(f"{study}/{name}")], 0
    for number, name in enumerate(own, 1):
        size = files[name].stat().st_size
        num_bytes += size
        if _is_too_much(name, size, number, num_bytes):
            what, remedy = f"{name} does not fit into an archive", "Copy the study's folder instead"
            raise InputError(what, where=str(study_dir), rule=LIMITS, remedy=remedy)
        yield name, files[name]


def unpack_archive(archive: Path, store: Path) -> Path:
    """Unpack a study's archive into the store, and return the study's folder.

    A study that was unpacked from the same file before is left as it is. An archive may come from a stranger: only
    plain files of a study are taken from it, and none leads out of its folder. Raises InputError if the file is no
    archive of a study, if it is too large, or if another study has its place.
    """
    try:
        if archive.exists() and not (archive.is_file() and archive.stat().st_size <= MOST_BYTES):
            raise _refused(archive, f"it is no file, or too large: {LIMITS}")
        origin = hash_file(archive)
        store.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".unpacked-", dir=store) as folder:
            name = _extract(archive, Path(folder), store)
            draft, final = Path(folder) / name, store / name
            if not final.exists():
                resolved = _checked_study(draft, archive).resolved
                (draft / f"{name}.yaml").write_text(json.dumps(resolved, indent=2, ensure_ascii=False))
                (draft / ORIGIN).write_text(origin)
                draft.rename(final)
            elif not (final / ORIGIN).is_file() or (final / ORIGIN).read_text() != origin:
                rule = f"{final} holds another state of this study, and nothing is overwritten"
                remedy = "Name that folder to read it, or unpack this one elsewhere: --store DIR"
                raise InputError("cannot be unpacked", where=str(archive), rule=rule, remedy=remedy)
    except OSError as error:
        what = f"cannot be unpacked into {store}: {error.strerror}"
        remedy = "Name an archive that can be read, and --store"
        raise InputError(what, where=str(archive), remedy=remedy) from None
    return final


def _extract(archive: Path, folder: Path, store: Path) -> str:
    """Extract the archive's one study, unless the store has it; return its name."""
    name, num_bytes = "", 0
    try:
        with archive.open("rb") as packed:
            for number, (member, content) in enumerate(read_tar(packed), 1):
                num_bytes += member.size
                path = member.name.removeprefix("./").removesuffix("/" * member.isdir())
                own, is_plain = OWN.fullmatch(path), member.isdir() or member.type in b"0\0"
                if not is_plain or (path != "." and {"", ".", ".."} & set(path.split("/"))):
                    why = "is a link or a device, or leads out of the study's folder"
                    raise _refused(archive, f"{member.name[:99]!r} {why}")
                if _is_too_much(path if own else "", member.size, number, num_bytes):
                    raise _refused(archive, f"{member.name[:99]!r} is too large, or one too many: {LIMITS}")
                if own is None or member.isdir():
                    continue
                if own[1] != (name := name or own[1]):
                    raise _refused(archive, f"it holds two studies: {name} and {own[1]}")
                if (store / name).exists():
                    break
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                with (folder / path).open("wb") as file:
                    file.writelines(content)
    except DAMAGE as error:
        raise _refused(archive, f"it is damaged, or no tar, .gz or .xz: {first_line(error)}") from None
    if not name:
        raise _refused(archive, "it holds no file of a study")
    return name


def _is_too_much(path: str, size: int, number: int, num_bytes: int) -> bool:
    return number > MOST_FILES or num_bytes > MOST_BYTES or size > MOST_OF.get(Path(path).suffix, MOST_BYTES)


def _checked_study(draft: Path, archive: Path) -> StudyRecord:
    """Return the unpacked study; refuse a ledger that holds programs or paths."""
    if not (draft / LEDGER).is_file():
        raise _refused(archive, "it holds no ledger")
    try:
        with Reader(draft) as reader, closing(sqlite3.connect(draft / LEDGER)) as as_it_came:
            study = reader.ledger.frozen_study(str(archive))
            names = [cell.identity for cell in reader.ledger.cells()]
            kinds = {kind for (kind,) in as_it_came.execute("SELECT type FROM sqlite_master")}
    except (InputError, sqlite3.Error, ValueError) as error:
        raise _refused(archive, f"its files are damaged: {first_line(error)}") from None
    if study.name != draft.name or not kinds <= {"table", "index"} or not all(map(str.isalnum, names)):
        raise _refused(archive, "its ledger holds what no ledger of this study holds")
    return study


def _refused(archive: Path, why: str) -> InputError:
    remedy = "Ask for it again: rse-study archive STUDY writes one"
    return InputError("is not an archive of a study", where=str(archive), rule=why, remedy=remedy)
