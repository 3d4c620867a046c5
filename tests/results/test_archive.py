"""A study as one file: read elsewhere, without models and texts; a stranger's file does no harm."""

import gzip
import io
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from analysis.report import write_report
from rse_study import open_study
from rse_study.errors import InputError
from rse_study.results import archive as archives
from rse_study.results.archive import unpack_archive, write_archive
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from tests.cases import cases

ROOT = Path(__file__).parents[2]
OLD = ROOT / "tests" / "fixtures" / "earlier_study" / "studies" / "old_grid"


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "here" / "old_grid"
    shutil.copytree(OLD, folder)
    (cell, *_) = folder.glob("cells/*")
    for name in ("model/model.safetensors", "attacks/mr-pwws.jsonl"):
        (cell / name).parent.mkdir(exist_ok=True)
        (cell / name).write_text("a text that may not be passed on")
    (cell / "items.json").write_text("{}")
    return folder


@pytest.fixture
def packed(study, tmp_path):
    return write_archive(study, tmp_path / "old.tar.xz")


def test_its_report_is_the_same_elsewhere_and_only_numbers_travel(study, tmp_path):
    with Ledger.open(study):  # its driver is still at work
        archive = write_archive(study, tmp_path / "old.tar.xz")
    there = unpack_archive(archive, tmp_path / "there")
    names = {path.name for path in there.rglob("*") if path.is_file()}
    assert not any("a text" in path.read_text(errors="ignore") for path in there.rglob("*.*"))
    assert {"ledger.sqlite", "result.json", "items.json"} <= names
    pages = [write_report(store, tmp_path / f"{store.parent.name}.html") for store in (study, there)]
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_it_is_opened_by_its_path_and_unpacked_once(packed, study, tmp_path):
    opened = open_study(packed, tmp_path / "there")
    assert opened.cells.equals(open_study(study).cells)
    page = write_report(opened.folder)
    assert open_study(packed, tmp_path / "there").folder == opened.folder
    assert page.is_file()


def test_an_archive_without_a_ledger_is_refused(study, tmp_path):
    ledger_path(study).unlink()
    with tarfile.open(tmp_path / "old.tar", "w") as files:
        files.add(study, "./old_grid")
    with pytest.raises(InputError, match="it holds no ledger"):
        open_study(tmp_path / "old.tar", tmp_path / "there")


def test_a_study_that_is_there_is_left_alone(packed, study, tmp_path):
    before = {path: path.read_bytes() for path in study.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="nothing is overwritten"):
        unpack_archive(packed, study.parent)
    assert {path: path.read_bytes() for path in study.rglob("*") if path.is_file()} == before


def with_member(name, content=b"{}", kind=tarfile.REGTYPE, **given):
    def change(folder, archive):
        member = tarfile.TarInfo(name)
        member.type, member.size, member.linkname = kind, len(content), "/etc/passwd"
        for field, value in given.items():
            setattr(member, field, value)
        with tarfile.open(archive, "w") as files:
            files.add(folder, "old_grid")
            files.addfile(member, io.BytesIO(content))

    return change


def with_program(folder, archive):
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        ledger.execute("CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM cell; END")
        ledger.commit()
    write_archive(folder, archive)


def with_paths_as_identities(folder, archive):
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        ledger.execute("UPDATE cell SET identity = '../../' || substr(identity, 7)")
        ledger.commit()
    write_archive(folder, archive)


def with_another_name(folder, archive):
    moved = folder.rename(folder.with_name("other"))
    with tarfile.open(archive, "w") as files:
        files.add(moved, "other")


def cut_off(folder, archive):
    archive.write_bytes(write_archive(folder, archive).read_bytes()[:-4000])


def with_broken_ledger(folder, archive):
    with tarfile.open(archive, "w") as files:
        broken = tarfile.TarInfo("old_grid/ledger.sqlite")
        broken.size = 4000
        files.addfile(broken, io.BytesIO(b"x" * 4000))


CELL = "old_grid/cells/0123456789abcdef"
STRANGE = [
    "old_grid/../../escaped/study.json",
    "../escaped/study.json",
    "/escaped/study.json",
    ".//escaped/study.json",
    f"{CELL}/../result.json",
    "../" * 300 + "escaped/study.json",
]
KINDS = (b"1", b"2", b"3", b"4", b"6", b"7")  # links, devices, a pipe, contiguous
HOSTILE = [
    *((with_member(name), "or leads out of the study's folder") for name in STRANGE),
    (with_member("old_grid/a/../..", b"", tarfile.DIRTYPE), "leads out"),
    *((with_member(f"{CELL}/result.json", b"", kind), "is a link or a device") for kind in KINDS),
    (with_member(f"{CELL}/x", b"", tarfile.SYMTYPE), "is a link or a device"),
    (with_member("old_grid/items.json", kind=tarfile.GNUTYPE_SPARSE), "is sparse"),
    (with_member(f"{CELL}/result.json", b" " * (2**24 + 1)), "is too large, .* 16 MiB in a JSON file"),
    (with_member("a" * 5000), "headers have more than 4,096 bytes"),
    (with_member("x", pax_headers={"comment": "a" * 5000}), "headers have more than 4,096 bytes"),
    (with_member("second/ledger.sqlite"), "two studies: old_grid and second"),
    (with_program, "holds what no ledger of this study holds"),
    (with_paths_as_identities, "holds what no ledger of this study holds"),
    (with_another_name, "holds what no ledger of this study holds"),
    (with_broken_ledger, "its files are damaged"),
    (cut_off, "is not an archive of a study"),
    (lambda folder, archive: archive.write_bytes(b"no archive"), "is not an archive of a study"),
    (lambda folder, archive: archive.write_bytes(b""), "it is cut off"),
    (lambda folder, archive: archive.symlink_to("/dev/zero"), "it is no file"),
    (lambda folder, archive: os.mkfifo(archive), "it is no file"),
    (lambda folder, archive: archive.mkdir(), "it is no file"),
    (lambda folder, archive: tarfile.open(archive, "w").close(), "holds no file of a study"),
    (lambda folder, archive: None, "No such file"),
]


@cases(("change", "said"), HOSTILE)
def test_a_file_that_is_no_archive_of_ours_is_refused_and_leaves_nothing(change, said, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("hostile")
    folder, store = tmp_path / "old_grid", tmp_path / "deep" / "store"
    shutil.copytree(OLD, folder)
    change(folder, tmp_path / "x.tar.xz")
    with pytest.raises(InputError, match=said) as refused:
        unpack_archive(tmp_path / "x.tar.xz", store)
    assert refused.value.where.endswith("x.tar.xz")
    assert not store.exists() or not list(store.iterdir())
    assert not list(tmp_path.rglob("escaped"))


def test_strange_files_are_not_taken(study, tmp_path):
    names = [
        "evil.py",
        "cells/evil.py",
        "cells/ABC/result.json",
        "other/result.json",
        "assets/a/b.safetensors",
    ]
    names += [
        "assets/..safetensors",
        "study.json/x",
        "STUDY.JSON",
        "ledger.sqlite-wal",
        "a/" * 1000 + "result.json",
    ]
    with tarfile.open(tmp_path / "x.tar", "w") as files:
        files.add(study, "old_grid")
        for name in [f"old_grid/{name}" for name in names] + ["README", ".hidden/study.json", "Ä/study.json"]:
            files.addfile(tarfile.TarInfo(name))
    there = unpack_archive(tmp_path / "x.tar", tmp_path / "there")
    own = {path.relative_to(study) for path in study.rglob("*") if path.is_file()}
    taken = {path.relative_to(there) for path in there.rglob("*") if path.is_file()}
    assert {str(path) for path in taken - own} == {"old_grid.yaml", "archive.json"}
    assert {path.name for path in own - taken} == {
        "model.safetensors",
        "mr-pwws.jsonl",
        "study.json",
        "cell.json",
        "evaluations.json",  # of baselines
    }
    assert [path.name for path in there.parent.iterdir()] == ["old_grid"]


def test_mode_and_owner_are_our_own(study, tmp_path):
    def changed(member):
        member.mode, member.uid, member.gid = 0o6777, 12345, 12345
        return member

    with tarfile.open(tmp_path / "x.tar", "w") as files:
        files.add(study, "old_grid", filter=changed)
    before = os.umask(0o027)
    try:
        there = unpack_archive(tmp_path / "x.tar", tmp_path / "there")
    finally:
        os.umask(before)
    found = {
        (path.is_dir(), path.stat().st_mode & 0o7777, path.stat().st_uid)
        for path in (there, *there.rglob("*"))
    }
    assert found == {(True, 0o750, os.getuid()), (False, 0o640, os.getuid())}


@pytest.mark.parametrize(
    ("limit", "most"), [("MOST_FILES", 10), ("MOST_BYTES", 1000), ("MOST_OF", {".json": 999})]
)
def test_a_study_beyond_a_limit_is_neither_read_nor_written(
    packed, study, tmp_path, monkeypatch, limit, most
):
    monkeypatch.setattr(archives, limit, most)
    with pytest.raises(InputError, match=r"too large.*: at most [\d,]+ files"):
        unpack_archive(packed, tmp_path / "there")
    assert not (tmp_path / "there" / "old_grid").exists()
    with pytest.raises(InputError, match=r"does not fit into an archive: at most.*Copy the study's folder"):
        write_archive(study, tmp_path / "new.tar.xz")
    assert not (tmp_path / "new.tar.xz").exists()


LEFT_OUT = ("study.json", "cell.json", "baselines/evaluations.json")
"""files of earlier versions, whose content is in the ledger, too"""


def test_shipped_archives_are_taken_whole(tmp_path):
    shipped = [path for path in ROOT.glob("docs/results/**/*.tar.xz") if path.stat().st_size < 300_000]
    assert len(shipped) > 10
    for path in shipped:
        there = unpack_archive(path, tmp_path)
        with tarfile.open(path) as files:
            kept = [one for one in files if one.isfile() and not one.name.endswith(LEFT_OUT)]
            wanted = {one.name: one.size for one in kept}
        found = {str(one.relative_to(tmp_path)): one.stat().st_size for one in there.rglob("*")}
        assert wanted.items() <= found.items()


WALK = """
import sys
from pathlib import Path
from rse_study.errors import InputError
from rse_study.results.archive import unpack_archive

def kilobytes(kind):
    return int(Path("/proc/self/status").read_text().split(kind)[1].split()[0])

for archive in sys.argv[1:]:
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM counts from here
    before = kilobytes("VmRSS:")
    try:
        unpack_archive(Path(archive), Path(archive + ".store"))
        said = "taken"
    except InputError as error:
        said = error.rule
    print((kilobytes("VmHWM:") - before) // 1000, said, sep="\\t")
"""
SIZE = 3 * 10**8


def filled(unit):
    """Return SIZE bytes as 30 equal members of a gzip file, which are made in no time."""
    return gzip.compress(unit * (10**7 // len(unit)), 1) * 30


def header(kind, name="old_grid/baselines/items.json", size=SIZE, content=b""):
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


SPARSE = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
STUDY = (OLD / "ledger.sqlite").read_bytes()
STUDY_FILE = header(b"0", "old_grid/ledger.sqlite", len(STUDY), STUDY)
MORE_OF_MAP = (b"00000000001\0" * 42 + b"\1").ljust(512, b"\0")


def map_that_goes_on():
    block = bytearray(header(b"S"))
    block[482], block[148:156] = 1, b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


BOMBS = [
    (header(b"L"), b"a", "headers have more than 4,096 bytes"),
    (header(b"x"), b"10 abc=de\n", "headers have more than 4,096 bytes"),
    (header(b"g"), b"10 abc=de\n", "headers have more than 4,096 bytes"),
    (b"", header(b"x", size=0), "headers have more than 4,096 bytes"),
    (b"", header(b"L", size=2, content=b"a"), "headers have more than 4,096 bytes"),
    (header(b"0"), b" ", "is too large"),
    (STUDY_FILE + header(b"0", f"{CELL}/result.json"), b"[" * 512, "is too large"),
    (STUDY_FILE + header(b"0", "old_grid/ledger.sqlite"), b" ", "is too large"),
    (map_that_goes_on(), MORE_OF_MAP, "is sparse"),
    (header(b"x", size=len(SPARSE), content=SPARSE) + header(b"0"), b"1\n", "is sparse"),
    (STUDY_FILE + header(b"0", "old_grid/cells/strange"), bytes(1), "taken"),
    (STUDY_FILE + header(b"0", "old_grid/assets/tiny-0.safetensors"), bytes(1), "taken"),
]


def test_no_hostile_archive_takes_memory(tmp_path):
    for number, (start, unit, _) in enumerate(BOMBS):
        end = bytes(-SIZE % 512 + 1024)
        (tmp_path / f"{number}.tar.gz").write_bytes(gzip.compress(start) + filled(unit) + gzip.compress(end))
    archives = [str(tmp_path / f"{number}.tar.gz") for number in range(len(BOMBS))]
    walk = subprocess.run([sys.executable, "-c", WALK, *archives], capture_output=True, text=True, check=True)
    found = [line.split("\t") for line in walk.stdout.splitlines()]
    assert [said for (_, said), (*_, wanted) in zip(found, BOMBS, strict=True) if wanted not in said] == []
    assert max(int(megabytes) for megabytes, _ in found) < 30
