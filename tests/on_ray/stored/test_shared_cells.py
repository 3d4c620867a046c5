import pytest
import torch

from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells
from rse_study.on_ray.queue.stages import grid_cells
from rse_study.on_ray.stored import StudyFiles
from rse_study.on_ray.stored.shared_cells import bring_shared_cells, machine_of
from rse_study.results.bit_equality import SIMILARITY_DIGITS
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import (
    FILE_NAME,
    ITEMS_FILE,
    Point,
    Result,
    read_evaluations,
    write_evaluations,
    write_items,
    write_result,
)
from rse_study.results.files.schema import MODEL_FOLDER, cell_folder
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.spec import fingerprint_of
from rse_study.training.arithmetic import provenance
from tests.on_ray.world import checked_of, few, grid_of

ASKED = [few("builtin/test")]


@pytest.fixture
def checked(study_content):
    grid = {"axes": {"rho": [0.0, 0.5]}}
    return checked_of(grid_of(study_content, grid=grid, seeds=[0, 1], evaluations=["builtin/test"]))


@pytest.fixture
def ours(tmp_path):
    ledger = Ledger.open(tmp_path / "ours")
    ledger.freeze(StudyRecord(name="ours", objective=ObjectiveRecord(metric="dev")))
    return ledger


@pytest.fixture
def cells(checked, ours):
    made = grid_cells(checked, ours, lambda trial, seed: fingerprint_of([trial.identity(), seed]))
    ours.plan([cell.record() for cell in made])
    return made


@pytest.fixture
def leave(tmp_path):
    """What the study `theirs` leaves of a cell."""

    def left(cell, *, fingerprint=ASKED[0].fingerprint, model=True, status="complete", also=(), **where):
        there = cell_folder(tmp_path / "theirs", cell.identity)
        (there / MODEL_FOLDER if model else there).mkdir(parents=True)
        if model:
            (there / MODEL_FOLDER / "weights").write_bytes(b"theirs")
        score = {"task": "builtin", "split": "test", "value": 70.0, "num_examples": 9}
        row = EvaluationRow(subject=cell.identity, fingerprint=fingerprint, **score)
        others = [row.model_copy(update={"task": name}) for name in also]
        write_evaluations(there, [row, *others])
        came = {"history": (Point(t=3, metrics={"dev": 50.0}),), "final": {"dev": 50.0}, "status": status}
        here = provenance(torch.device("cpu")) | {"threads": 1} | where
        write_result(
            there, Result(identity=cell.identity, seed=cell.seed, config={}, provenance=here, **came)
        )
        return there

    return left


def brought(ledger, cells, *, with_models=True, machines=lambda cell: [machine_of(cell)]):
    """Names of studies by identity."""
    return dict(bring_shared_cells(ledger, cells, ASKED, machines, with_models=with_models))


@pytest.mark.parametrize(
    ("cards", "is_brought"),
    [(["A100"], True), (["A100", "A100"], True), (["H100"], False), (["A100", "H100"], False), ([], False)],
)
def test_a_cell_of_a_gpu_comes_where_all_workers_have_its_card_whatever_the_driver_has(
    cards, is_brought, cells, ours, leave
):
    on_gpu = {"device_type": "cuda", "device": "A100"}
    leave(cells[0], **on_gpu)
    machines = [machine_of(cells[0]) | on_gpu | {"device": card} for card in cards]
    assert bool(brought(ours, cells, machines=lambda cell: machines)) == is_brought


def files_here(ledger, cell):
    return {path.name for path in cell_folder(ledger.study_dir, cell.identity).glob("*")}


def test_what_a_neighbour_ran_is_entered_and_not_run_again(checked, cells, ours, leave):
    theirs = leave(cells[1], also=["STS12"])
    assert brought(ours, cells) == {cells[1].identity: "theirs"}
    assert list(iter(queue_of(checked, cells, ours).next_cell, None)) == [cells[0], *cells[2:]]
    assert ours.cell(cells[1].identity).status == "complete"
    assert [(row.subject, row.value) for row in ours.evaluations()] == [(cells[1].identity, 70.0)]
    here = cell_folder(ours.study_dir, cells[1].identity)
    assert (here / MODEL_FOLDER / "weights").read_bytes() == b"theirs"
    assert {row.task for row in read_evaluations(here)} == {"builtin"}, "as a ledger that is lost is rebuilt"
    assert {row.task for row in read_evaluations(theirs)} == {"builtin", "STS12"}


@pytest.mark.parametrize(
    "otherwise",
    [
        {"fingerprint": "of other data"},
        {"model": False},
        {"status": "failed"},
        {"threads": 2},
        {"workers": 2},
        {"device_type": "cuda"},
        {"packages": {"torch": "1.0"}},
        {SIMILARITY_DIGITS: None},
        {"kernels": "MMX"},
        {"processor": None},
        {"unlike": ["other CPU kernels: AVX2 here, AVX512 there"]},
    ],
    ids=str,
)
def test_what_ran_otherwise_stays_where_it_is(cells, ours, leave, otherwise):
    leave(cells[0], **otherwise)
    assert brought(ours, cells) == {}
    assert files_here(ours, cells[0]) == set()


def queue_of(checked, cells, ledger):
    files = StudyFiles(ledger.study_dir)
    return CellQueue(checked.study, "grid", FixedCells(cells, ledger), ledger, files, evaluations=ASKED)


def test_a_study_without_models_brings_none(cells, ours, leave):
    leave(cells[0])
    assert len(brought(ours, cells, with_models=False)) == 1
    assert not (cell_folder(ours.study_dir, cells[0].identity) / MODEL_FOLDER).exists()


def test_a_damaged_result_is_left(cells, ours, leave):
    path = leave(cells[0]) / FILE_NAME
    path.write_text(path.read_text().replace("50.0", "99.0"))
    assert brought(ours, cells) == {}


@pytest.mark.parametrize("begun", [FILE_NAME, "checkpoint", MODEL_FOLDER])
def test_a_cell_that_began_here_is_ours(cells, ours, leave, begun):
    leave(cells[0])
    (cell_folder(ours.study_dir, cells[0].identity) / begun).mkdir(parents=True)
    assert brought(ours, cells) == {}


def test_a_cell_that_failed_here_is_tried_again_here(checked, cells, ours, leave):
    """Beside a result that came from elsewhere it would stay failed."""
    queue = queue_of(checked, cells, ours)
    queue.finish(queue.next_cell(), "lost", for_good=True)
    assert ours.cell(cells[0].identity).status == "failed"
    leave(cells[0])
    assert brought(ours, cells) == {}


def test_a_full_disk_leaves_the_cell_to_be_run(cells, ours, leave, monkeypatch):
    leave(cells[0])

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rse_study.on_ray.stored.shared_cells.write_whole", refuse)
    assert brought(ours, cells) == {}
    monkeypatch.undo()
    assert list(brought(ours, cells)) == [cells[0].identity], "nothing of it stayed"


@pytest.mark.parametrize("keep_items", [True, False])
def test_item_scores_come_with_a_cell_unless_this_study_keeps_none(cells, ours, leave, keep_items):
    resolved = {"keep_items": keep_items}
    ours.freeze(
        StudyRecord(name="ours", objective=ObjectiveRecord(metric="dev"), resolved=resolved), "changed"
    )
    about = {"subject": cells[0].identity, "task": "STS-B", "split": "dev", "value": 1.0, "num_examples": 3}
    items = ItemScores.of([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    write_items(leave(cells[0]), [EvaluationRow(**about, items=items)])
    assert brought(ours, cells) == {cells[0].identity: "theirs"}
    assert (ITEMS_FILE in files_here(ours, cells[0])) == keep_items
