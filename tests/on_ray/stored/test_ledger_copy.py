"""A study whose workers see a storage and nothing of the driver's disk: same ledger, nothing lost."""

import json
import shutil
import socket
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from rse_study.errors import InputError, Unavailable
from rse_study.on_ray.driver import run_study
from rse_study.on_ray.stored import ledger_copy
from rse_study.on_ray.stored.ledger_copy import DriverLease, bring_ledger, bring_study
from rse_study.results.files.backup import rebuild
from rse_study.results.files.connect import copy_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import cell_folder, ledger_path
from rse_study.results.reader import Reader
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.storage.folders import bring_model
from rse_study.storage.storage import Storage, ledger_key
from tests.cases import cases
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of
from tests.slow import mostly_slow

GRID = {"axes": {"optimizer.lr": [1e-5, 1e-4]}, "rows": {"base": {"optimizer.lr": 3e-5}}, "baseline": "base"}


def study_of(content: dict, storage: str = ""):
    return checked_of(grid_of(content, grid=GRID, evaluations=["builtin/test"], storage=storage))


def results_of(folder: Path) -> tuple[list, list, list]:
    with Ledger.open(folder) as ledger:
        cells = [(one.identity, one.status) for one in ledger.cells()]
        histories = [ledger.history(identity) for identity, _ in cells]
        scores = sorted((row.subject, row.metric, row.value) for row in ledger.evaluations())
    return cells, histories, scores


@pytest.fixture(scope="module")
def stored(study_content, materials, tmp_path_factory, cluster):
    """(checked, storage, folder of the driver, diary) of a study that ran with a storage."""
    root = tmp_path_factory.mktemp("stored")
    checked = study_of(study_content, str(root / "storage"))
    diary = Listener()
    folder = run_study(checked, root / "driver" / "little", lambda _: materials, few, diary, address=cluster)
    return checked, Storage(str(root / "storage"), 0.0), folder, diary


@pytest.mark.xdist_group("ray")
def test_what_workers_leave_is_in_the_storage_and_models_are_brought_when_wanted(stored):
    _, storage, folder, _ = stored
    with Reader(folder) as reader:
        identities = list(reader.cells()["identity"])
    for identity in identities:
        key = f"studies/little/{cell_folder(Path(), identity)}"
        assert storage.find(f"{key}/result.json") is not None
        assert storage.find(f"{key}/evaluations.json") is not None
        assert (
            storage.find(f"{key}/items.json") == (cell_folder(folder, identity) / "items.json").read_bytes()
        )
        assert not storage.keys(f"{key}/checkpoint")
    model = cell_folder(folder, identities[0]) / "model"
    assert not model.exists()
    assert bring_model(folder, identities[0])
    assert (model / "config.json").is_file()


@pytest.mark.xdist_group("ray")
def test_a_driver_on_another_disk_goes_on_and_runs_nothing_twice(stored, materials, tmp_path):
    checked, _, folder, _ = stored
    diary, elsewhere = Listener(), tmp_path / "little"
    run_study(checked, elsewhere, lambda _: materials, few, diary)
    assert diary.events == [("message", "goes on with the ledger that lies in the storage"), ("found", 3)]
    assert results_of(elsewhere) == results_of(folder)


@pytest.mark.xdist_group("ray")
def test_a_study_is_brought_from_its_storage_with_all_it_came_to(stored, tmp_path):
    _, storage, folder, _ = stored
    brought = tmp_path / "little"
    assert bring_study(storage, brought)
    assert results_of(brought) == results_of(folder)  # the ledger's copy is the ledger
    ledger_path(brought).unlink()
    rebuild(brought)  # its backup came, too
    assert results_of(brought) == results_of(folder)
    with pytest.raises(InputError, match=r"no study 'unheard'.*Submit it"):
        bring_study(storage, tmp_path / "unheard")


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_a_damaged_result_in_the_storage_is_set_aside_there_too(stored, materials, tmp_path, cluster):
    checked, storage, folder, _ = stored
    copy = tmp_path / "storage"
    shutil.copytree(storage.location, copy)
    again = study_of(json.loads(checked.study.model_dump_json()), str(copy))
    (damaged, *_) = sorted(copy.glob("studies/little/cells/*/result.json"))
    damaged.write_text(damaged.read_text().replace('"complete"', '"complett"'))
    (copy / ledger_key("little")).unlink()
    diary, elsewhere = Listener(), tmp_path / "little"
    run_study(again, elsewhere, lambda _: materials, few, diary, address=cluster)
    assert len(diary.started_cells) == 1
    assert results_of(elsewhere)[:2] == results_of(folder)[:2]
    assert damaged.with_name("result.json.damaged").is_file()


def copy_of_file(folder: Path) -> bytes:
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        return copy_of(ledger)


@pytest.fixture
def storage(tmp_path):
    made = Storage(str(tmp_path / "storage"), 0.0)
    made.require()
    return made


def test_the_ledger_that_is_further_wins_and_the_other_is_kept(storage, tmp_path):
    folder = tmp_path / "little"
    with Ledger.open(folder) as ledger:
        ledger.freeze(StudyRecord(name="little", objective=ObjectiveRecord(metric="dev")))
        ledger.add_provenance({"run": "first"})
        storage.write(ledger_key("little"), copy_of_file(folder))
        assert not bring_ledger(storage, folder)  # as far as ours: ours stays
        ledger.add_provenance({"run": "second"})
        assert not bring_ledger(storage, folder)
        further = copy_of_file(folder)
    behind = tmp_path / "elsewhere" / "little"
    behind.mkdir(parents=True)
    ledger_path(behind).write_bytes(storage.read(ledger_key("little")))
    storage.write(ledger_key("little"), further)
    assert bring_ledger(storage, behind)
    with Ledger.open(behind) as ledger:
        assert ledger.last_provenance() == {"run": "second"}
    assert len(list(behind.glob("ledger.sqlite.*Z"))) == 1


@cases("content", [b"", b"<html>503</html>" * 99, b"SQLite format 3\0" + bytes(84)])
def test_a_damaged_copy_of_the_ledger_is_refused_and_the_one_here_stays(tmp_path_factory, content):
    root = tmp_path_factory.mktemp("damaged")
    storage, folder = Storage(str(root / "storage"), 0.0), root / "little"
    storage.require()
    with Ledger.open(folder) as ledger:
        ledger.freeze(StudyRecord(name="little", objective=ObjectiveRecord(metric="dev")))
    before = copy_of_file(folder)
    storage.write(ledger_key("little"), content)
    with pytest.raises(InputError, match=r"copy of the ledger is damaged\. Delete it there"):
        bring_ledger(storage, folder)
    assert copy_of_file(folder) == before


def test_another_study_of_that_name_in_a_storage_is_refused_and_nothing_of_either_is_lost(storage, tmp_path):
    born = {}
    for owner in ("theirs", "ours"):
        folder = tmp_path / owner / "little"
        with Ledger.open(folder) as ledger:
            ledger.freeze(StudyRecord(name="little", objective=ObjectiveRecord(metric="dev")))
        with sqlite3.connect(ledger_path(folder)) as connection:
            connection.execute("UPDATE revision SET at = ?", (f"of {owner}",))
        born[owner] = copy_of_file(folder)
    storage.write(ledger_key("little"), born["theirs"])
    with pytest.raises(InputError, match=r"another study 'little'.*Give this study another name"):
        bring_ledger(storage, tmp_path / "ours" / "little")
    assert storage.read(ledger_key("little")) == born["theirs"]
    assert copy_of_file(tmp_path / "ours" / "little") == born["ours"]


@pytest.fixture
def quick_lease(monkeypatch):
    monkeypatch.setattr(ledger_copy, "SILENCE_SECONDS", 2.0)
    monkeypatch.setattr(ledger_copy, "BEAT_SECONDS", 0.2)
    monkeypatch.setattr(ledger_copy, "LOOK_SECONDS", 0.1)


GONE = 2**22 + 1
"""a number that no process has"""


def note_of_another_host(storage: Storage, beats: int) -> None:
    note = {"holder": "other", "host": "other-host", "pid": 7, "beats": beats}
    storage.write("studies/x/driver.json", json.dumps(note).encode())


def test_a_driver_that_is_alive_elsewhere_is_respected(storage, quick_lease):
    note_of_another_host(storage, 1)
    beat = threading.Timer(0.5, lambda: note_of_another_host(storage, 2))
    beat.start()
    said = []
    with pytest.raises(InputError, match=r"the driver 7 on other-host runs this study\. Wait for its end"):
        DriverLease(storage, "x").take(said.append)
    beat.join()
    assert said == ["the driver 7 on other-host may still run this study: waiting 2 s for a sign of life"]


def test_a_dead_drivers_study_is_taken_over_and_the_dead_one_that_wakes_ends(storage, quick_lease):
    first = DriverLease(storage, "x")
    first.take(lambda text: None)
    note = json.loads(storage.read("studies/x/driver.json"))
    storage.write("studies/x/driver.json", json.dumps(note | {"host": "other-host"}).encode())
    second = DriverLease(storage, "x")
    second.take(lambda text: None)
    time.sleep(0.3)
    with pytest.raises(Unavailable, match="has taken this study over"):
        first.renew()
    second.renew()
    second.release()
    begun = time.monotonic()
    DriverLease(storage, "x").take(lambda text: None)
    assert time.monotonic() - begun < 1


def test_a_driver_that_died_on_this_machine_is_not_waited_for(storage, quick_lease):
    write_note(storage, {"pid": GONE})
    begun = time.monotonic()
    DriverLease(storage, "x").take(lambda text: None)
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("machine", [[socket.gethostname(), "another start", "pid:[1]"], None])
def test_process_numbers_of_another_machine_of_this_name_say_nothing(storage, quick_lease, machine):
    write_note(storage, {"pid": GONE, "machine": machine})
    said, host = [], socket.gethostname()
    DriverLease(storage, "x").take(said.append)
    assert said == [f"the driver {GONE} on {host} may still run this study: waiting 2 s for a sign of life"]


@pytest.mark.parametrize("content", mostly_slow([b"", b"{", b"[]", b"{}"], fast=[b"{"]))
def test_a_damaged_note_is_waited_for_and_taken_over(storage, quick_lease, content):
    storage.write("studies/x/driver.json", content)
    said = []
    lease = DriverLease(storage, "x")
    lease.take(said.append)
    assert said == ["a driver may still run this study: waiting 2 s for a sign of life"]
    lease.release()
    assert storage.find("studies/x/driver.json") is None


def write_note(storage: Storage, changed: dict[str, object]) -> None:
    """What a driver of this machine leaves, with some of it changed."""
    DriverLease(storage, "x").take(lambda text: None)
    note = json.loads(storage.read("studies/x/driver.json"))
    storage.write("studies/x/driver.json", json.dumps(note | changed).encode())
