import multiprocessing
import os
import signal
import time

import pytest

from rse_study.assets.store import asset_path, build

KEY = {"corpus": "c", "size": 3}


def write(draft, text="built"):
    draft.mkdir()
    (draft / "weights").write_text(text)
    (draft / "meta.json").write_text("{}")


def test_built_once_and_found_by_its_key(tmp_path):
    built = []

    def builder(draft):
        built.append(draft)
        write(draft)

    first = build(tmp_path, "tiny", KEY, builder)
    assert build(tmp_path, "tiny", dict(reversed(KEY.items())), builder) == first
    assert first == asset_path(tmp_path, "tiny", KEY)
    assert first.name.startswith("tiny-")
    assert build(tmp_path, "tiny", {**KEY, "size": 4}, builder) != first
    assert len(built) == 2


def test_a_failed_build_leaves_nothing_that_counts(tmp_path):
    def fail(draft):
        draft.mkdir()
        (draft / "weights").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        build(tmp_path, "tiny", KEY, fail)
    assert not asset_path(tmp_path, "tiny", KEY).exists()
    final = build(tmp_path, "tiny", KEY, write)
    assert (final / "weights").read_text() == "built"
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == [final.name]


def _slow(root, marker):
    def builder(draft):
        with marker.open("a") as stream:
            stream.write("built\n")
        time.sleep(0.3)
        write(draft)

    build(root, "tiny", KEY, builder)


def test_processes_wait_for_the_one_that_builds(tmp_path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_slow, args=(tmp_path, tmp_path / "log")) for _ in range(3)]
    [worker.start() for worker in workers]
    [worker.join(20) for worker in workers]
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert (tmp_path / "log").read_text() == "built\n"


def _killed(root):
    def builder(draft):
        draft.mkdir()
        (draft / "weights").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)

    build(root, "tiny", KEY, builder)


def test_a_killed_build_is_cleared_away(tmp_path):
    worker = multiprocessing.get_context("fork").Process(target=_killed, args=(tmp_path,))
    worker.start()
    worker.join(20)
    assert worker.exitcode == -signal.SIGKILL
    final = build(tmp_path, "tiny", KEY, write)
    assert (final / "weights").read_text() == "built"
    assert [p.name for p in tmp_path.iterdir() if p.is_dir()] == [final.name]
