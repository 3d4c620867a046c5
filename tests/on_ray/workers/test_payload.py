"""What a process is given of a cell or a baseline, and the plain mapping that Tune and Train pass on."""

import json
from pathlib import Path

from rse_study.on_ray.queue import Cell
from rse_study.on_ray.stored import MaterialsCache, Payloads, StudyFiles
from rse_study.on_ray.workers import CellPayload
from rse_study.on_ray.workers.workplace import workplace
from rse_study.study.definition.parts import Resources
from rse_study.training.trial import Trial

TRIAL = Trial(report_every=10)
CELL = Cell(3, 1, "f" * 64, TRIAL, resources=Resources(workers=2, threads=4, gpus=1), continues=True)


def payloads(folder, materials):
    return Payloads(StudyFiles(folder), MaterialsCache(lambda trial: materials), "coordinator-1")


def test_a_cell_comes_back_from_its_mapping_as_it_was(tmp_path, materials):
    payload = payloads(tmp_path, materials).of_cell(CELL, attempt=2, rungs=(5, 10))
    config = json.loads(json.dumps(payload.as_config()))
    assert not any(isinstance(value, dict) for value in config.values())  # Tune would look for a space in it
    assert CellPayload.from_config(config) == payload
    assert (payload.cell, payload.attempt, payload.rungs) == (CELL.identity, 2, (5, 10))
    assert (payload.resources, payload.device) == (CELL.resources, "cuda")


def test_materials_are_read_from_the_studys_folder(tmp_path, materials):
    of_study = payloads(tmp_path, materials)
    for payload in (of_study.of_cell(CELL), of_study.of_baseline("start", TRIAL, Resources())):
        assert Path(payload.materials).parent == tmp_path / "materials"
        assert Path(payload.folder).is_relative_to(tmp_path)
        with workplace(payload) as here:
            assert here.materials.fingerprints == materials.fingerprints
            assert here.folder == Path(payload.folder)
