"""What every storage keeps to, whatever it is made of; and how it is waited for."""

import pickle
import threading
import time
from pathlib import Path

import pytest

from rse_study.errors import InputError, Unavailable
from rse_study.storage import storage as of_storage
from rse_study.storage.storage import Storage

pytestmark = pytest.mark.xdist_group("s3")


def test_what_is_written_is_read_replaced_listed_and_deleted(storage):
    storage.write("a/b/one", b"1")
    storage.write("a/two", b"")
    assert storage.read("a/b/one") == b"1"
    assert storage.read("a/two") == b""
    assert storage.keys("a") == ["a/b/one", "a/two"]
    assert storage.keys("a/b") == ["a/b/one"]
    storage.delete("a/b/one")
    assert storage.keys("a") == ["a/two"]
    storage.write("x", b"before")
    storage.write("x", b"now")
    assert storage.read("x") == b"now"
    storage.write("x", b"1")
    again = pickle.loads(pickle.dumps(storage))
    assert (again.location, again.patience_s, again.read("x")) == (storage.location, 0.0, b"1")


def test_what_is_not_there_is_said_at_once_and_deleted_without_a_word(storage):
    begun = time.monotonic()
    with pytest.raises(FileNotFoundError):
        Storage(storage.location, patience_s=60.0).read("nothing")
    assert storage.find("nothing") is None
    assert storage.keys("nothing") == []
    storage.delete("nothing")
    assert time.monotonic() - begun < 30


def test_what_is_left_of_a_removed_folder_is_no_object(storage):
    storage.write("folder/file", b"1")
    storage.delete("folder")
    assert storage.read("folder/file") == b"1"
    storage.delete("folder/file")
    storage.delete("folder")
    assert storage.find("folder") is None
    assert storage.keys("folder") == []


def test_files_go_up_and_down_in_pieces(storage, tmp_path, monkeypatch):
    monkeypatch.setattr(of_storage, "PIECE_BYTES", 7)
    content = bytes(range(256)) * 3
    (tmp_path / "up").write_bytes(content)
    storage.upload(tmp_path / "up", "big")
    storage.download("big", tmp_path / "down")
    assert (tmp_path / "down").read_bytes() == storage.read("big") == content


@pytest.mark.slow
def test_a_server_that_is_silent_for_a_while_is_waited_for(s3, monkeypatch):
    monkeypatch.setattr("rse_study.storage.storage.REQUEST_SECONDS", 1.0)
    monkeypatch.setattr("rse_study.storage.storage.CONNECT_SECONDS", 1.0)
    patient = Storage(s3.location("waits"), patience_s=60.0)
    patient.write("x", b"kept")
    s3.pause()
    timer = threading.Timer(6.0, s3.resume)
    timer.start()
    begun = time.monotonic()
    assert patient.read("x") == b"kept"
    timer.join()
    assert time.monotonic() - begun > 4


def test_a_storage_that_is_gone_for_good_is_said_with_its_name_and_time(s3, monkeypatch):
    monkeypatch.setattr("rse_study.storage.storage.REQUEST_SECONDS", 1.0)
    monkeypatch.setattr("rse_study.storage.storage.CONNECT_SECONDS", 1.0)
    gone = Storage("s3://bucket/gone?endpoint_override=http://127.0.0.1:9&region=us-east-1", patience_s=2.0)
    with pytest.raises(Unavailable, match=r"storage s3://bucket/gone\S* did not answer for 2 s \(.*connect"):
        gone.write("x", b"1")


def test_a_disk_that_is_not_mounted_is_no_empty_storage(tmp_path):
    disk = tmp_path / "disk"
    storage = Storage(str(disk), patience_s=0.0)
    storage.require()
    storage.write("x", b"1")
    disk.rename(tmp_path / "elsewhere")
    disk.mkdir()
    for ask in (lambda: storage.read("x"), lambda: storage.keys(""), lambda: storage.write("y", b"2")):
        with pytest.raises(Unavailable, match="is it mounted"):
            ask()
    assert not any(disk.iterdir())


def test_a_storage_nobody_may_use_is_refused_before_anything_runs(s3, monkeypatch):
    monkeypatch.setattr("rse_study.storage.storage.REQUEST_SECONDS", 1.0)
    wrong = s3.location("x").replace("s3://bucket", "s3://no-such-bucket")
    with pytest.raises(InputError, match=r"storage s3://no-such-bucket.*Check name, endpoint, region"):
        Storage(wrong, patience_s=60.0).require()


def test_a_full_disk_is_said_at_once_and_not_waited_for(storage):
    storage.write("x", b"1")
    patient = Storage(storage.location, patience_s=60.0)
    begun = time.monotonic()
    with pytest.raises(
        Unavailable, match=r"nothing can be written .* \(.*No space left on device.*Make room"
    ):
        patient.download("x", Path("/dev/full"))
    assert time.monotonic() - begun < 30


def test_a_silence_and_its_end_are_said_once(tmp_path, monkeypatch):
    monkeypatch.setattr("rse_study.storage.storage.NOTICE_SECONDS", 0.2)
    disk, said = tmp_path / "disk", []
    storage = Storage(str(disk), patience_s=30.0)
    storage.require()
    storage.write("x", b"1")
    storage.report_silence_to(said.append)
    disk.rename(tmp_path / "away")
    back = threading.Timer(1.5, (tmp_path / "away").rename, [disk])
    back.start()
    assert storage.read("x") == b"1"
    back.join()
    assert said == [f"storage {disk} does not answer: waiting up to 30 s", f"storage {disk} answers again"]
