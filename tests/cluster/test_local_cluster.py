"""Jobs of a real Ray cluster on this machine: submitted, refused, shown, stopped; and a study from the command line."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rse_study.cli.status_content import state_of
from rse_study.cluster.job import Job, JobReport
from rse_study.cluster.ray_backend import STATE, LocalBackend
from rse_study.cluster.spec import read_cluster
from rse_study.cluster.submit import write_job
from rse_study.cluster.wheel import Wheel
from rse_study.errors import InputError
from tests.cluster.samples import TINY_GRID

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A folder with a short path: Ray's sockets lie below it."""
    folder = Path(tempfile.mkdtemp(prefix="rse-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def spec_file(home: Path) -> Path:
    prices = "head: {price_per_hour: 1}\nworkers: {cpu: {max_nodes: 1, price_per_hour: 2}}\n"
    (home / "spec.yaml").write_text(f"extends: local\nname: try\n{prices}", encoding="utf-8")
    return home / "spec.yaml"


@pytest.fixture(scope="module")
def backend(home: Path, spec_file: Path) -> Iterator[LocalBackend]:
    """Starts with the first job; whatever a test leaves is ended."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_MODE"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(home))
        patch.setenv("RSE_STUDY_CACHE", str(home / "cache"))
        spec = read_cluster(str(spec_file))
        running = LocalBackend(home / "studies" / ".clusters" / spec.name, spec)
        yield running
        running.end([], is_last=True)


def test_a_job_runs_the_code_of_its_wheel_and_its_id_is_used_once(backend: LocalBackend, capfd):
    submit(backend, "rse-code-0123456789ab", "print('code:', __file__)")
    report = wait_until_over(backend, "rse-code-0123456789ab")
    assert report.state == "complete"
    backend.show_log(report, is_followed=True)
    folder = backend.folder_of("rse-code-0123456789ab")
    assert f"code: {folder}/code/rse_study/__main__.py" in capfd.readouterr().out
    with pytest.raises(InputError, match="rse-code-0123456789ab already exists"):
        submit(backend, "rse-code-0123456789ab", "pass")


def test_nobody_else_reaches_it(backend: LocalBackend):
    listening = {
        (one.laddr.ip.removeprefix("::ffff:"), process.name())
        for process in processes_of(backend)
        for one in process.net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    }
    assert {"gcs_server", "raylet"} <= {name for _, name in listening}
    assert {ip for ip, _ in listening} == {"127.0.0.1"}, listening
    assert ray_folder(backend).stat().st_mode & 0o777 == 0o700


def test_a_job_that_fails_says_how(backend: LocalBackend):
    submit(backend, "rse-bad-0123456789ab", "raise SystemExit(7)")
    report = wait_until_over(backend, "rse-bad-0123456789ab")
    assert report.state == "failed" and "exit code 7" in report.reason


def test_a_job_is_stopped_and_the_cluster_stays_for_others(backend: LocalBackend):
    submit(backend, "rse-long-0123456789ab", "import time; time.sleep(600)")
    running = report_of(backend, "rse-long-0123456789ab")
    assert running.is_active
    backend.end([running], is_last=False)
    assert wait_until_over(backend, "rse-long-0123456789ab").state == "stopped"


def test_a_wrong_token_is_refused_by_name(backend: LocalBackend, home: Path, monkeypatch):
    (home / "another").write_text("0" * 64, encoding="utf-8")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(home / "another"))
    with pytest.raises(InputError, match=r"the cluster refuses the token in .*another"):
        backend.jobs()
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(home / "none"))
    with pytest.raises(InputError, match=r"no token in .*none"):
        backend.jobs()


def test_a_study_goes_to_its_end_and_the_cluster_ends(backend: LocalBackend, home: Path, spec_file: Path):
    study = TINY_GRID.format(name="tiny-grid", amount=12, every=6, seeds=[0])
    (home / "grid.yaml").write_text(study, encoding="utf-8")
    assert "submitted rse-tiny-grid-" in command(home, "submit")
    assert "nothing to do" in command(home, "submit")
    assert "[2 of 2]" in command(home, "logs", "--follow")
    assert "Ray's dashboard: http://127.0.0.1:" in command(home, "status")
    status = json.loads(command(home, "status", "--json"))
    assert [job["state"] for job in status["jobs"]] == ["complete"]
    assert status["cells"]["complete"] == 2
    hours = state_of(home / "studies" / "tiny-grid").device_s / 3600
    assert status["spent"] == pytest.approx(hours * (1 + 2)), "one worker of one CPU, and the head"

    folder, processes = ray_folder(backend), processes_of(backend)
    assert "kill " in command(home, "down", "--yes")
    assert backend.jobs() == []
    _, left = psutil.wait_procs(processes, timeout=60)
    assert left == [] and not folder.exists()
    assert "nothing to do: tiny-grid is complete" in command(home, "submit")
    assert backend.jobs() == [], "a cluster was started for a study that is complete"


def processes_of(backend: LocalBackend) -> list[psutil.Process]:
    script = psutil.Process(json.loads((backend.home / STATE).read_text(encoding="utf-8"))["pid"])
    return [script, *script.children(recursive=True)]


def ray_folder(backend: LocalBackend) -> Path:
    named = (process.environ().get("RAY_TMPDIR") for process in processes_of(backend))
    return Path(next(filter(None, named)))


def submit(backend: LocalBackend, submission_id: str, code: str) -> None:
    """Submit a line of Python as the program of a job's wheel."""
    files = {"rse_study/__init__.py": b"", "rse_study/__main__.py": code.encode()}
    job = Job("code", submission_id, "name: code\n", "", (), Wheel("code.whl", files))
    write_job(backend.spec, job, backend.folder_of(submission_id))
    backend.submit(job)


def report_of(backend: LocalBackend, submission_id: str) -> JobReport:
    return next(report for report in backend.jobs() if report.submission_id == submission_id)


def wait_until_over(backend: LocalBackend, submission_id: str, seconds: float = 180.0) -> JobReport:
    deadline = time.monotonic() + seconds
    while (report := report_of(backend, submission_id)).is_active:
        assert time.monotonic() < deadline, f"{submission_id} does not end"
        time.sleep(0.5)
    return report


def command(home: Path, verb: str, *options: str) -> str:
    """Give a command of ours in a process of its own; what it printed."""
    words = [sys.executable, "-m", "rse_study", "cluster", verb, f"{home}/spec.yaml", f"{home}/grid.yaml"]
    words += ["--store", f"{home}/studies", *options]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "timeout": 900}
    done = subprocess.run(words, **how, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout
