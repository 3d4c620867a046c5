"""Downloads from a server with the addresses of the hub and of GitHub."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rse_study.data.download import PART, download, download_from_hub, on_github, on_hub
from rse_study.errors import InputError
from tests.cases import cases
from tests.hub import COMMIT, ask_only, serve

CONTENT = b"".join(b"%d\n" % number for number in range(50_000))
NUM_SENT = 100_000


@pytest.fixture
def server(tmp_path, monkeypatch):
    for folder in ("datasets/some/set", f"github/some/code/{COMMIT}"):
        (tmp_path / "served" / folder).mkdir(parents=True)
        (tmp_path / "served" / folder / "a text.txt").write_bytes(CONTENT)
    with serve(tmp_path / "served") as server:
        ask_only(server, tmp_path / "cache", monkeypatch)
        yield server


@cases("home", ["hub", "github"])
def test_a_download_that_was_cut_off_goes_on_where_it_was(server, tmp_path, home):
    find = {
        "hub": lambda: on_hub("some/set", "a text.txt"),
        "github": lambda: on_github("some/code", COMMIT, "a text.txt", tmp_path / "downloads"),
    }[home]
    assert find().size == len(CONTENT)
    server.cut["a text.txt"] = NUM_SENT
    with pytest.raises(InputError, match=r"a text.txt: cannot be fetched \(.*same command again"):
        download(find())
    part = find().place.with_name(find().place.name + PART)
    assert part.read_bytes() == CONTENT[:NUM_SENT]
    seen = []
    place = download(find(), lambda done, total: seen.append((done, total)))
    assert place.read_bytes() == CONTENT and not part.exists()
    assert seen[0][0] > NUM_SENT and seen[-1] == (len(CONTENT), len(CONTENT))
    assert [wanted for verb, _, wanted in server.asked if verb == "GET"][-2:] == [None, f"bytes={NUM_SENT}-"]
    download(find())
    assert [verb for verb, *_ in server.asked][-1] == "HEAD"  # it is here


@cases("sent", [NUM_SENT, 2 * len(CONTENT)], ids=["no ranges", "longer than the file"])
def test_what_cannot_go_on_begins_again(server, tmp_path, sent):
    remote = on_github("some/code", COMMIT, "a text.txt", tmp_path / f"downloads-{sent}")
    server.knows_ranges = False
    remote.place.parent.mkdir()
    remote.place.with_name(remote.place.name + PART).write_bytes(b"x" * sent)
    assert download(remote).read_bytes() == CONTENT


def test_two_that_want_a_file_at_a_time_download_it_once(server, tmp_path):
    remote = on_github("some/code", COMMIT, "a text.txt", tmp_path / "shared")
    with ThreadPoolExecutor(2) as pool:
        places = list(pool.map(download, [remote, remote]))
    assert [place.read_bytes() for place in places] == [CONTENT] * 2
    assert [verb for verb, *_ in server.asked].count("GET") == 1
    assert list(remote.place.parent.iterdir()) == [remote.place]


def test_the_hubs_client_finds_what_was_downloaded_and_needs_no_connection_then(server, monkeypatch):
    found = download_from_hub("some/set", "a text.txt", lambda done, total: None)
    assert (found.name, found.read_bytes()) == ("a text.txt", CONTENT)
    assert [verb for verb, *_ in server.asked].count("GET") == 1
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert on_hub("some/set", "a text.txt").place == found
    assert download_from_hub("some/set", "a text.txt", lambda done, total: None) == found


def test_what_is_not_there_or_cannot_be_written_is_said(server, tmp_path):
    with pytest.raises(InputError, match=rf"some/code@{COMMIT[:8]}/b.txt: cannot be fetched \(.*404"):
        on_github("some/code", COMMIT, "b.txt", tmp_path)
    with pytest.raises(InputError, match=r"some/set/b.txt: cannot be fetched"):
        on_hub("some/set", "b.txt")
    Path(tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        download(on_github("some/code", COMMIT, "a text.txt", tmp_path / "file"))
