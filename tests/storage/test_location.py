"""What may stand under `storage:`."""

import pytest

from rse_study.errors import InputError
from rse_study.storage import absolute, check_location, is_url
from tests.cases import cases

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
