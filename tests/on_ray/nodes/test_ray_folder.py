"""Ray's temporary folder: who may enter it, how long it stays, and what is wrong with its place."""

import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from rse_study.errors import Unavailable
from rse_study.on_ray.nodes.launcher_check import check_launcher_file
from rse_study.on_ray.nodes.ray_folder import LONGEST, SOCKET, ray_folder
from rse_study.yaml12 import parse_yaml
from tests.cluster.golden_files import rendered

ENTER = """
from rse_study.on_ray.nodes.ray_folder import ray_folder
with ray_folder() as folder:
    print(folder.parent, flush=True)
    input()
"""
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def place(monkeypatch):
    """A folder with a short path."""
    with TemporaryDirectory(prefix="t", dir="/tmp") as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        yield Path(folder)


def test_it_lies_in_a_folder_of_this_user_alone_which_goes_with_it(place):
    with ray_folder() as folder:
        assert folder.parent.parent == place
        folder.chmod(0o777)  # as Ray does
        assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert list(place.iterdir()) == []


@is_root
def test_another_user_cannot_connect_to_a_socket_in_it(place):
    place.chmod(0o777)
    with ray_folder() as folder:
        for where, is_reached in ((place, True), (folder, False)):
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(where / "socket"))
                (where / "socket").chmod(0o777)
                listener.listen()
                assert nobody_connects(where / "socket") == (0 if is_reached else errno.EACCES)


def nobody_connects(path):
    """The error's number with which the user `nobody` connects to a socket: 0 if he can, 255 if he does not try."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = 255
    try:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with socket.socket(socket.AF_UNIX) as connection:
            found = connection.connect_ex(str(path))
    finally:
        os._exit(found)


def test_it_goes_with_a_driver_that_is_killed(place):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", ENTER], text=True, **pipes) as driver:
        folder = Path(driver.stdout.readline().strip())
        os.kill(driver.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while folder.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def listens_in(folder):
    """Whether a socket of Ray's longest path can be made; that path's bytes."""
    path = folder / SOCKET.split("/r/")[1]
    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
    return len(str(path))


def test_the_longest_place_has_room_for_a_socket(place, monkeypatch):
    monkeypatch.setenv("RAY_TMPDIR", str(place / ("x" * (LONGEST - len(str(place)) - 1))))
    with ray_folder() as folder:
        assert folder.is_relative_to(place)
        assert listens_in(folder) == 107


@pytest.mark.parametrize("name", ["y" * 23, "y" * 120, "\u00fc"])
@pytest.mark.parametrize("variable", ["RAY_TMPDIR", "TMPDIR"])
def test_a_place_that_ray_cannot_take_is_reached_by_a_link(place, monkeypatch, variable, name):
    long = place / name
    long.mkdir()
    monkeypatch.delenv("RAY_TMPDIR")
    monkeypatch.setenv(variable, str(long))
    temporary, before = os.environ.get("TMPDIR"), tempfile.gettempdir()
    with ray_folder() as folder:
        assert folder.parent.parent == Path("/tmp") and folder.parent.stat().st_mode & 0o777 == 0o700
        assert folder.resolve().is_relative_to(long) and listens_in(folder) <= 107
        if variable == "TMPDIR":
            assert Path(os.environ["TMPDIR"]).resolve() == long and len(os.environ["TMPDIR"]) <= LONGEST
            assert tempfile.gettempdir() == os.environ["TMPDIR"]
    assert (os.environ.get("TMPDIR"), tempfile.gettempdir()) == (temporary, before)
    assert list(long.iterdir()) == [] and not folder.parent.exists()


@pytest.mark.parametrize("variable", ["RAY_TMPDIR", "TMPDIR"])
@pytest.mark.parametrize("where", ["/proc/none", "/dev/null", "/dev/null/x"])
def test_a_place_that_takes_no_folder_is_named_with_the_cause(monkeypatch, variable, where):
    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    monkeypatch.setenv(variable, where)
    said = rf"^Ray cannot keep its files in {where}: \w.* name another folder with RAY_TMPDIR"
    with pytest.raises(Unavailable, match=said), ray_folder():
        raise AssertionError


@is_root
@pytest.mark.parametrize(("options", "said"), [("size=1m", "less than 16 MiB are free"), ("ro", "Read-only")])
def test_a_disk_without_room_is_named_with_the_cause(place, options, said):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
    try:
        with pytest.raises(Unavailable, match=said), ray_folder():
            raise AssertionError
    finally:
        subprocess.run(["umount", place], check=True)


# Files of Ray's launcher are read by Ray's own validators; each catches what the other misses.


VARIANTS = ("onprem", "aws-gpu", "gcp-gpu", "azure-gpu")


def content_of(variant):
    return parse_yaml(rendered(variant)["cluster.yaml"], where="")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_rendered_file_has_no_problem(variant):
    assert [str(problem) for problem in check_launcher_file(content_of(variant), where="s")] == []


def changed(content, path, value):
    """The content with another value at a path of keys; None takes away what stands there."""
    for key in path[:-1]:
        content = content[key]
    content[path[-1]] = value
    if value is None:
        del content[path[-1]]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("idle_timeout_minute", 5, "idle_timeout_minute: no such field of Ray's launcher. Did you mean 'id"),
        ("available_node_types.gpu.min_worker", 1, "available_node_types.gpu.min_worker: no such field"),
        ("max_workers", "8", "max_workers: '8' is not of type 'integer'"),
        ("head_node_type", "heads", "must be one of `available_node_types`.: Ray's launcher refuses"),
        ("provider", {"type": "amazon"}, "Ray's launcher refuses the file"),
        ("provider.head_ip", None, "head_ip"),  # machines of one's own need a head
    ],
)
def test_a_wrong_field_is_refused(path, value, said):
    content = content_of("aws-gpu" if value else "onprem")
    changed(content, path.split("."), value)
    (problem,) = check_launcher_file(content, where="s")
    assert said in str(problem)
