"""wandb offline, by its own records: groups, values, folders that were sent or not."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial

import pytest

from rse_study.errors import InputError
from rse_study.trackers.wandb import WandbTracker
from tests.results.world import HERE, result_of, score_of
from tests.trackers.backends import WandbBackend, copy_once
from tests.trackers.small_study import COMPLETE, FAILED, RUNNING, STOPPED, begin, made
from tests.trackers.test_trackers import require_equal
from tests.trackers.wandb_file import records_of

pytestmark = pytest.mark.xdist_group("trackers")
copy = partial(copy_once, WandbBackend)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return made(tmp_path_factory.mktemp("studies") / "halving", begin)


@pytest.fixture
def folder(source, tmp_path):
    return shutil.copytree(source, tmp_path / "studies" / "halving")


@pytest.fixture
def place(folder, tmp_path):
    copy(folder, tmp_path / "tracked")
    return tmp_path / "tracked"


def files_of(place, cell):
    return sorted(place.glob(f"wandb/*run-*/run-halving-{cell.identity[:16]}.wandb"))


def record_of(file, kind):
    (record,) = [record for record in records_of(file) if record.WhichOneof("record_type") == kind]
    return getattr(record, kind)


def test_a_cell_is_a_run_in_the_group_of_its_study_with_every_number(place):
    (file,) = files_of(place, FAILED)
    run = record_of(file, "run")
    assert (run.project, run.run_group, run.job_type) == ("rse-study", "halving", "search")
    assert (run.run_id, run.display_name) == (f"halving-{FAILED.identity[:16]}", "trial 1 seed 0")
    assert run.resume
    config = {update.key: json.loads(update.value_json) for update in run.config.update}
    assert (config["rho"], config["seed"], config["trial"]) == (0.1, 0, {"blend": {"rho": 0.1}})
    assert config["study"]["question"] == "Does rho matter?"
    assert config["cell"]["code"] == "abc123"
    assert record_of(file, "exit").exit_code == 1
    numbers = WandbBackend.read(place)[RUNNING.identity[:16]].numbers
    assert set(numbers) == {("dev", 10, "nan"), ("loss", 10, "inf"), ("delta/norm", 10, "-inf")}
    (file,) = files_of(place, COMPLETE)
    kinds = {record.WhichOneof("record_type") for record in records_of(file)}
    assert not kinds & {"stats", "output", "output_raw", "files", "environment"}
    assert sorted(path.name for path in (file.parent / "files").iterdir()) == []


def test_a_folder_that_was_not_finished_is_written_anew(place, folder):
    (file,) = files_of(place, COMPLETE)
    (file.parent / "copied.json").unlink()
    file.write_bytes(file.read_bytes()[:-300])
    copy(folder, place)
    require_equal(folder, WandbBackend, place)


def sent(place):
    """As `wandb sync` leaves the folders."""
    for file in place.glob("wandb/*/*.wandb"):
        file.with_suffix(".wandb.synced").touch()


def test_beside_a_folder_that_was_sent_another_one_of_the_run_holds_what_is_new(place, folder):
    sent(place)

    def measure(ledger):
        ledger.record_evaluations([score_of(COMPLETE.identity, 30.25, split="dev")])

    assert copy(made(folder, measure), place).num_numbers == 1
    first, second = files_of(place, COMPLETE)
    assert not [record for record in records_of(second) if record.WhichOneof("record_type") == "history"]
    assert record_of(second, "run").resume
    assert (record_of(first, "run").run_id, first.name) == (record_of(second, "run").run_id, second.name)
    assert copy(folder, place).num_cells == 0
    assert Counter(path.parent.name for path in place.glob("wandb/offline-run-*/*.wandb")).total() == 6


def test_what_was_sent_and_is_otherwise_in_the_ledger_is_refused(place, folder):
    sent(place)

    def run_again(ledger):
        ledger.start(STOPPED.identity, **HERE)
        ledger.record_result(result_of(STOPPED, [41.0]))

    with pytest.raises(InputError, match=rf"Delete the run halving-{STOPPED.identity[:16]} on the server"):
        copy(made(folder, run_again), place)


@pytest.mark.slow
def test_a_key_makes_it_online(monkeypatch, tmp_path):
    monkeypatch.delenv("WANDB_MODE")
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    code = "from rse_study.trackers.wandb import WandbTracker; print(WandbTracker('')._mode)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "online"


def test_a_mode_that_writes_nothing_is_refused_and_without_a_key_it_stays_offline(monkeypatch, tmp_path):
    monkeypatch.setenv("WANDB_MODE", "disabled")
    with pytest.raises(InputError, match="WANDB_MODE: disabled: nothing would be written"):
        WandbTracker("")
    monkeypatch.delenv("WANDB_MODE")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    tracker = WandbTracker(str(tmp_path))
    assert tracker.next_step == f"wandb login; wandb sync {tmp_path}/wandb"
