"""What every storage keeps to, whatever it is made of; and how it is waited for."""

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rse_study.errors import InputError, Unavailable
from rse_study.storage import storage as of_storage
from rse_study.storage.folders import NodeCache, get_folder, has_folder, is_stored, put_folder, remove_folder
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


# Folders in a storage are whole or not there, whoever writes, reads or dies.


def folder_of(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def read(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_a_folder_comes_back_as_it_was_without_drafts(storage, tmp_path):
    put_folder(storage, "model", folder_of(tmp_path / "a", weights="w", sub__more="m", **{".draft": "d"}))
    assert get_folder(storage, "model", tmp_path / "b")
    assert read(tmp_path / "b") == {"weights": "w", "sub/more": "m"}


def test_a_new_one_takes_the_place_of_the_old_one_and_leaves_nothing_of_it(storage, tmp_path):
    put_folder(storage, "model", folder_of(tmp_path / "a", one="1", two="2"))
    put_folder(storage, "model", folder_of(tmp_path / "b", one="1b"))
    folder_of(tmp_path / "c", stale="s")
    assert get_folder(storage, "model", tmp_path / "c")
    assert read(tmp_path / "c") == {"one": "1b"}
    assert len(storage.keys("model")) == 1


def test_what_was_cut_off_is_not_there_and_what_was_there_stays(storage, tmp_path, monkeypatch):
    first = folder_of(tmp_path / "a", one="1", two="2")
    second = folder_of(tmp_path / "b", one="1b", two="2b")
    for before in (False, True):
        if before:
            put_folder(storage, "model", first)
        with monkeypatch.context() as dies:
            dies.setattr(type(storage), "write", _die)  # after the files, before the manifest
            with pytest.raises(KeyboardInterrupt):
                put_folder(storage, "model", second)
        assert get_folder(storage, "model", tmp_path / "c") is before
    assert read(tmp_path / "c") == {"one": "1", "two": "2"}


def test_a_reader_whose_files_are_replaced_under_it_finds_nothing_rather_than_a_mixture(storage, tmp_path):
    put_folder(storage, "model", folder_of(tmp_path / "a", one="1"))
    (file,) = storage.keys("model")
    storage.delete(file)
    assert has_folder(storage, "model")
    assert not get_folder(storage, "model", tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_changed_content_is_refused(storage, tmp_path):
    put_folder(storage, "model", folder_of(tmp_path / "a", one="1"))
    (file,) = storage.keys("model")
    storage.write(file, b"2")
    with pytest.raises(InputError, match="its content is not what was written"):
        get_folder(storage, "model", tmp_path / "b")


def test_what_is_stored_is_not_written_again_and_gone_when_it_is_removed(storage, tmp_path):
    put_folder(storage, "model", folder_of(tmp_path / "a", one="1"))
    before = storage.keys("")
    put_folder(storage, "model", folder_of(tmp_path / "b", one="1"))
    assert storage.keys("") == before
    put_folder(storage, "model", folder_of(tmp_path / "a", one="1"))
    remove_folder(storage, "model")
    assert not has_folder(storage, "model")
    assert storage.keys("model") == []


def test_a_node_takes_each_folder_once_however_many_ask(storage, tmp_path, monkeypatch):
    driver = NodeCache(tmp_path / "driver", storage)
    name = driver.put(folder_of(tmp_path / "corpus", ids="1 2 3"))
    assert is_stored(name)
    assert not is_stored(str(tmp_path))
    assert driver.put(folder_of(tmp_path / "copy" / "corpus", ids="1 2 3")) == name
    fetched = []
    download = type(storage).download
    monkeypatch.setattr(
        type(storage), "download", lambda self, key, path: (fetched.append(key), download(self, key, path))
    )
    node = NodeCache(tmp_path / "node", storage)
    with ThreadPoolExecutor(8) as pool:
        taken = set(pool.map(lambda _: node.take(name), range(8)))
    assert len(fetched) == 1
    assert [read(one) for one in taken] == [{"ids": "1 2 3"}]


def test_a_node_says_what_the_storage_lacks(storage, tmp_path):
    with pytest.raises(InputError, match=r"no shared/corpus-12.*Run the study again"):
        NodeCache(tmp_path, storage).take("storage:shared/corpus-12")


def _die(*_):
    raise KeyboardInterrupt


def test_two_writers_at_once_leave_one_whole_folder(storage, tmp_path):
    folders = [folder_of(tmp_path / str(n), one=f"{n}", two=f"{n}") for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda folder: put_folder(storage, "model", folder), folders))
    assert get_folder(storage, "model", tmp_path / "end")
    found = read(tmp_path / "end")
    assert found["one"] == found["two"]
