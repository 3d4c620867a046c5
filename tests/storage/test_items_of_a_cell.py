"""Scores of single items, from the worker that measured them to a storage and back."""

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
from rse_study.study.definition.parts import Resources
from rse_study.training.trial import Trial

CELL = "f" * 64


def scored(task, *cosines):
    items = ItemScores.of(cosines, range(len(cosines)))
    about = {"subject": CELL, "task": task, "split": "test", "value": 70.0, "num_examples": len(cosines)}
    return EvaluationRow(**about, fingerprint=f"of {task}", items=items)


def test_items_of_a_cell_travel_to_a_storage_and_to_every_other_disk(storage, tmp_path, monkeypatch):
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path / "node"))
    drivers = [tmp_path / name / "little" for name in ("driver", "elsewhere")]
    files, others = (StudyFiles(one, storage, tmp_path / "cache") for one in drivers)
    payload = Payload(
        trial=Trial(), materials="", folder=files.cell(CELL), storage=storage.location, resources=Resources()
    )
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
