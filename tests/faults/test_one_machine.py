"""A study on this machine, with a Ray of its own: who can reach it, who can read what, and a disk that fails it."""

import ipaddress
import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from tests.faults.conftest import SMALL_GRID
from tests.faults.drivers import ROOT, assert_equal, contents

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
GUARDED = """
import sys
from rse_study.cli.terminal.errors import _run
from tests.faults.run_here import main
sys.exit(_run(lambda: main(*sys.argv[1:])))
"""
GRID = SMALL_GRID | {
    "name": "machine",
    "grid": {"axes": {"rho": [0.0, 1.0]}},
    "resources": {"max_concurrent": 1},
    "baselines": [],
}
SECRET = "a-key-that-nobody-may-read"


@dataclass
class Ended:
    code: int
    lines: list[str]


def run(scene, folder, act=None, **environment):
    """Run as a user does, and `act` on the driver's process once, when its first cell has made a point."""
    home = scene.home / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    file = scene.home / "machine.json"
    file.write_text(json.dumps(scene.study), encoding="utf-8")
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as ray_folder:
        told = {"HOME": str(home), "RAY_TMPDIR": ray_folder, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", GUARDED, str(file), str(scene.world), str(folder)]
        driver = subprocess.Popen(
            command,
            cwd=ROOT,
            env=kept | told | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines, has_acted, logs = [], act is None, set()
        for line in driver.stdout:
            lines.append(line.rstrip())
            logs |= set(Path(ray_folder).rglob("logs/*"))  # they go with the driver
            assert not files_with_secret(Path(ray_folder))
            if line.startswith("progressed 0/0 1") and not has_acted:
                has_acted = True
                act(psutil.Process(driver.pid))
        code = driver.wait(timeout=120)
        assert has_acted and logs, "\n".join(lines)
        return Ended(code, lines)


def files_with_secret(folder):
    found = []
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file() and SECRET.encode() in path.read_bytes():
                found.append(path)
    return found


@pytest.fixture(scope="module")
def here(scene):
    return replace(scene, study=GRID)


@pytest.fixture(scope="module")
def undisturbed(here):
    """A run that nothing happened to: its folder, and the addresses at which its processes listened."""
    addresses = {}

    def look(driver):
        for process in (driver, *driver.children(recursive=True)):
            for one in process.net_connections(kind="inet"):
                if one.status == psutil.CONN_LISTEN:
                    addresses.setdefault(one.laddr.ip.removeprefix("::ffff:"), []).append(process.name())

    folder = here.folder("machine")
    ended = run(here, folder, look, AWS_ACCESS_KEY_ID="a-name", AWS_SECRET_ACCESS_KEY=SECRET)
    assert ended.code == 0, "\n".join(ended.lines)
    return folder, addresses


def test_every_process_listens_on_the_loopback_alone(undisturbed):
    _, addresses = undisturbed
    assert {"gcs_server", "raylet"} <= {name for names in addresses.values() for name in names}
    assert {ip for ip in addresses if not ipaddress.ip_address(ip).is_loopback} == set(), addresses


def test_nobody_else_reads_the_token_or_the_storages_key(undisturbed, here):
    folder, _ = undisturbed
    assert (here.home / "home" / ".ray" / "auth_token").stat().st_mode & 0o777 == 0o600
    assert files_with_secret(folder) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a disk of its own is mounted")
def test_a_disk_that_is_full_ends_the_run_in_one_line_and_the_same_command_goes_on(
    here, undisturbed, tmp_path
):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", tmp_path], check=True)
    try:
        folder, filler = tmp_path / "machine", tmp_path / "filler"
        ended = run(here, folder, lambda driver: fill(filler))
        assert ended.code == 3, "\n".join(ended.lines)
        assert ended.lines[-1].startswith("gave up: no room left in ")
        assert ended.lines[-1].endswith("Make room; the same command resumes the run")
        filler.unlink()
        again = run(here, folder)
        assert again.code == 0, "\n".join(again.lines)
        assert_equal(contents(folder), contents(undisturbed[0]))
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


def fill(path):
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"0" * 4096)
