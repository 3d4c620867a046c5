"""A study as one file: read elsewhere, without models and texts."""

import shutil
import tarfile
from pathlib import Path

import pytest

from analysis.report import write_report
from rse_study.errors import InputError
from rse_study.results.archive import write_archive
from rse_study.results.files.ledger import Ledger
from rse_study.yaml12 import read_yaml

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


def test_its_report_is_the_same_elsewhere_and_only_numbers_travel(study, tmp_path):
    with Ledger.open(study):  # its driver is still at work
        archive = write_archive(study, tmp_path / "old.tar.xz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "there", filter="data")
    names = {path.name for path in (tmp_path / "there").rglob("*") if path.is_file()}
    assert not any("a text" in path.read_text(errors="ignore") for path in (tmp_path / "there").rglob("*.*"))
    assert {"ledger.sqlite", "study.json", "result.json", "cell.json", "items.json"} <= names
    pages = [
        write_report(store, tmp_path / f"{store.parent.name}.html") for store in (study, unpacked(tmp_path))
    ]
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_the_study_as_it_ran_lies_beside_it(study, tmp_path):
    with tarfile.open(write_archive(study, tmp_path / "old.tar.xz")) as files:
        files.extractall(tmp_path / "there", filter="data")
    (file,) = (tmp_path / "there").glob("*.yaml")
    assert {"name", "question", "base", "grid", "seeds"} <= read_yaml(file).keys()


def test_a_place_that_cannot_be_written_is_named(study, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_archive(study, tmp_path / "no" / "old.tar.xz")


def unpacked(tmp_path):
    (ledger,) = (tmp_path / "there").rglob("ledger.sqlite")
    return ledger.parent
