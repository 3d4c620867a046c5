"""Scores of single items, from the worker that measured them to a storage and back."""

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.stored import StudyFiles
from rse_study.on_ray.workers import Payload
from rse_study.on_ray.workers.workplace import workplace
from rse_study.results.files.result_file import (
    EVALUATIONS_FILE,
    FILE_NAME,
    ITEMS_FILE,
    Result,
    read_items,
    with_items,
    write_evaluations,
    write_items,
    write_result,
)
from rse_study.results.files.schema import cell_folder
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow
from rse_study.storage import absolute, check_location, is_url
from rse_study.study.definition.parts import Resources
from tests.cases import cases

CELL = "f" * 64


def scored(task, *cosines):
    items = ItemScores.of(cosines, range(len(cosines)))
    about = {"subject": CELL, "task": task, "split": "test", "value": 70.0, "num_examples": len(cosines)}
    return EvaluationRow(**about, fingerprint=f"of {task}", items=items)


def test_items_of_a_cell_travel_to_a_storage_and_to_every_other_disk(storage, tmp_path, monkeypatch):
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path / "node"))
    drivers = [tmp_path / name / "little" for name in ("driver", "elsewhere")]
    files, others = (StudyFiles(one, storage, tmp_path / "cache") for one in drivers)
    payload = Payload(materials="", folder=files.cell(CELL), storage=storage.location, resources=Resources())
    dev, test = scored("STS-B", 0.1, 0.5, 0.3), scored("SICK-R", -0.25, 1.0)
    with workplace(payload) as worker:
        write_result(
            worker.folder,
            Result(identity=CELL, seed=0, config={}, status="complete", history=(), final={}, provenance={}),
        )
        write_items(worker.folder, [dev])
        worker.publish(ITEMS_FILE)
        worker.publish(FILE_NAME)
    with workplace(payload, [ITEMS_FILE]) as worker:  # which scores the model, perhaps on another machine
        write_evaluations(worker.folder, [test])
        written = (worker.folder / ITEMS_FILE).read_bytes()
        for name in (ITEMS_FILE, EVALUATIONS_FILE):
            worker.publish(name)
    files.bring_result(CELL)
    others.bring_results()
    for driver in drivers:
        folder = cell_folder(driver, CELL)
        assert (folder / ITEMS_FILE).read_bytes() == written
        assert len(read_items(folder)) == 2
        bare = [row.model_copy(update={"items": None}) for row in (dev, test)]
        assert [row.items for row in with_items(folder, bare)] == [dev.items, test.items]


# What may stand under `storage:`.


WRONG = {
    "s4://bucket/x": r"s4://: must be a folder, or a URL.*Known: abfs, file, gs",
    "s3://": "Name the bucket",
    "s3://key:secret@bucket/x": "a user name or a key before @: holds no secrets",
    "s3://bucket/x?access_key=a&secret_key=b": "access_key=...: holds no secrets",
    "s3://bucket/x?endpoint_override=http://user:secret@host": "a user name or a key before @ in endpoint_overr",
    "s3://bucket/x?endpoint_override=user%3Asecret%40host": "a user name or a key before @ in endpoint_override=",
    "s3://bucket/x?endpoint=http://here": "endpoint=: options of s3:// are endpoint_override",
}


@pytest.mark.parametrize("location", WRONG)
def test_wrong_locations_are_refused_without_repeating_a_secret(location):
    with pytest.raises(InputError, match=WRONG[location]) as refused:
        check_location(location)
    assert "secret@" not in str(refused.value)


@cases("location", ["", "/mnt/all", "data/here", "file:///mnt", "gs://bucket/x", "s3://bucket?region=x"])
def test_folders_and_urls_are_taken(location):
    check_location(location)


def test_a_folder_is_named_for_processes_that_work_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute("shared") == str(tmp_path / "shared")
    assert absolute("s3://bucket/x") == "s3://bucket/x"
    assert [is_url(one) for one in ("shared", "file:///x", "s3://b")] == [False, False, True]
