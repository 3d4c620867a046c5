"""Folders in a storage are whole or not there, whoever writes, reads or dies."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rse_study.errors import InputError
from rse_study.storage.folders import NodeCache, get_folder, has_folder, is_stored, put_folder, remove_folder

pytestmark = pytest.mark.xdist_group("s3")


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
