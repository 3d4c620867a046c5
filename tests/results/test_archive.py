"""A study as one file: read elsewhere, without models and texts; a stranger's file does no harm."""

import io
import shutil
import sqlite3
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
from rse_study.study.checking.validation import read_study
from tests.cases import cases

OLD = Path(__file__).parents[1] / "fixtures" / "earlier_study" / "studies" / "old_grid"


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
    assert {"ledger.sqlite", "study.json", "result.json", "cell.json", "items.json"} <= names
    pages = [write_report(store, tmp_path / f"{store.parent.name}.html") for store in (study, there)]
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_the_study_as_it_ran_lies_in_its_folder(packed, tmp_path):
    there = unpack_archive(packed, tmp_path / "there")
    checked = read_study(there / "old_grid.yaml")
    assert (checked.study.name, len(checked.rows) > 1) == ("old_grid", True)


def test_it_is_opened_by_its_path_and_unpacked_once(packed, study, tmp_path):
    opened = open_study(packed, tmp_path / "there")
    assert opened.cells.equals(open_study(study).cells)
    page = write_report(opened.folder)
    assert open_study(packed, tmp_path / "there").folder == opened.folder
    assert page.is_file()


def test_a_ledger_that_an_archive_lacks_is_rebuilt(study, tmp_path):
    known = set(open_study(study).cells["identity"])
    ledger_path(study).unlink()
    with tarfile.open(tmp_path / "old.tar", "w") as files:
        files.add(study, "./old_grid")
    assert set(open_study(tmp_path / "old.tar", tmp_path / "there").cells["identity"]) == known


def test_a_study_that_is_there_is_left_alone(packed, study, tmp_path):
    before = {path: path.read_bytes() for path in study.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="nothing is overwritten"):
        unpack_archive(packed, study.parent)
    assert {path: path.read_bytes() for path in study.rglob("*") if path.is_file()} == before


def test_a_place_that_cannot_be_written_is_named(study, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_archive(study, tmp_path / "no" / "old.tar.xz")


def with_member(member, content=b"{}"):
    def change(folder, archive):
        with tarfile.open(archive, "w") as files:
            files.add(folder, "old_grid")
            member.size = len(content) if member.isfile() else 0
            files.addfile(member, io.BytesIO(content) if member.isfile() else None)

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
        files.add(folder / "study.json", "old_grid/study.json")
        broken = tarfile.TarInfo("old_grid/ledger.sqlite")
        broken.size = 4000
        files.addfile(broken, io.BytesIO(b"x" * 4000))


HOSTILE = [
    (with_member(tarfile.TarInfo("old_grid/../../escaped/study.json")), "outside the destination"),
    (with_member(tarfile.TarInfo("second/study.json")), "two studies: old_grid and second"),
    (with_program, "holds what no ledger of this study holds"),
    (with_paths_as_identities, "holds what no ledger of this study holds"),
    (with_another_name, "holds what no ledger of this study holds"),
    (with_broken_ledger, "its files are damaged"),
    (cut_off, "is not an archive of a study"),
    (lambda folder, archive: archive.write_bytes(b"no archive"), "is not an archive of a study"),
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


def test_links_programs_and_unknown_files_are_not_taken(study, tmp_path):
    link, device = tarfile.TarInfo("old_grid/cells/result.json"), tarfile.TarInfo("old_grid/items.json")
    link.type, link.linkname, device.type = tarfile.SYMTYPE, "/etc/passwd", tarfile.CHRTYPE
    with tarfile.open(tmp_path / "x.tar", "w") as files:
        files.add(study, "old_grid")
        for member in (link, device, tarfile.TarInfo("old_grid/evil.py"), tarfile.TarInfo("/study.json")):
            files.addfile(member)
    there = unpack_archive(tmp_path / "x.tar", tmp_path / "there")
    assert not list(there.rglob("*.py")) and not list(there.rglob("*.safetensors"))
    assert all((path.is_file() and not path.is_symlink()) or path.is_dir() for path in there.rglob("*"))
    assert not (there / "items.json").exists()


def test_what_is_larger_than_a_study_is_refused_before_it_is_read(packed, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match="more than 200,000 files or"):
        unpack_archive(packed, tmp_path / "there")
