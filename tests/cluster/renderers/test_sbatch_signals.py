"""How the batch script hears Slurm and answers it: the real script in a real bash.

Slurm's own programs are stand-ins of a line each; test_real_slurm.py has the real ones.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest

from rse_study.cluster.render import render
from tests.cluster.samples import job_on, shipped

PROGRAMS = {
    "scontrol": 'echo "$@" >> "$CALLS"; [ "$1" != show ] || echo localhost',
    "srun": 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
    "ray": "exec sleep 60",
}
# Ends as the study's driver does: 130 where it was interrupted.
DRIVER = """
import pathlib, sys, time
pathlib.Path(sys.argv[1]).touch()
try:
    time.sleep(float(sys.argv[2]))
except KeyboardInterrupt:
    sys.exit(130)
sys.exit(int(sys.argv[3]))
"""


@pytest.fixture
def batch(tmp_path):
    """Start the script of a job whose driver runs for so long and ends with this code; it has started on return."""
    started: list[subprocess.Popen[str]] = []

    def start(seconds: float = 60.0, code: int = 0, **changes: object) -> subprocess.Popen[str]:
        folder, programs = tmp_path / "shared", tmp_path / "bin"
        spec = shipped("slurm", f"folder={folder}", "environment.activate=[]", "head.cpus=16")
        spec = spec.model_copy(update=changes)
        (tmp_path / "driver.py").write_text(DRIVER)
        command = (
            sys.executable,
            str(tmp_path / "driver.py"),
            str(tmp_path / "runs"),
            str(seconds),
            str(code),
        )
        job = replace(job_on(spec), command=command)
        (folder / job.submission_id).mkdir(parents=True)
        (folder / job.submission_id / "study.yaml").write_text(job.study_yaml)
        (file,) = render(spec, job)
        # Neither code to unpack nor nodes to wait for.
        text = "\n".join(
            line.replace("python -m zipfile -e", "mkdir -p $work/code # ") if "zipfile" in line else line
            for line in file.text.splitlines()
            if "wait_for_nodes" not in line
        )
        programs.mkdir()
        for name, body in PROGRAMS.items():
            (programs / name).write_text(f"#!/bin/bash\n{body}\n")
            (programs / name).chmod(0o755)
        (tmp_path / "job.sbatch").write_text(text)
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "CALLS": str(tmp_path / "calls"),
            "SLURM_JOB_ID": f"9{os.getpid()}",
            "SLURM_JOB_NODELIST": "localhost",
            "SLURM_NNODES": "1",
            "SLURM_CPUS_PER_TASK": "16",
        }
        process = subprocess.Popen(
            ["bash", str(tmp_path / "job.sbatch")],
            env=environment,
            cwd=tmp_path,
            text=True,
            start_new_session=True,
            # Bash cannot trap what was ignored when it started, as it is in whatever a script runs in the background.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        wait_for(lambda: (tmp_path / "runs").exists() or process.poll() is not None)
        return process

    yield start
    for process in started:
        end_session(process.pid)


def end_session(leader: int) -> None:
    """What the script runs in the background are groups of processes of their own, in its session."""
    for number in psutil.pids():
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(number) == leader:
                os.kill(number, signal.SIGKILL)


def wait_for(happened):
    until = time.monotonic() + 30
    while not happened() and time.monotonic() < until:
        time.sleep(0.05)
    assert happened()


def requeued(tmp_path):
    calls = tmp_path / "calls"
    return (
        [line for line in calls.read_text().splitlines() if line.startswith("requeue")]
        if calls.exists()
        else []
    )


@pytest.mark.parametrize("code", [0, 3])
def test_the_jobs_exit_code_is_the_studys_and_nothing_is_left_on_the_nodes_disk(batch, tmp_path, code):
    assert batch(seconds=0.2, code=code).wait(timeout=30) == code
    assert not os.path.exists(f"/tmp/rse-{os.getuid()}-9{os.getpid()}-0")
    assert requeued(tmp_path) == []


@pytest.mark.parametrize(
    ("sent", "requeue", "comes_back"),
    [(signal.SIGUSR1, True, True), (signal.SIGUSR1, False, False), (signal.SIGTERM, True, False)],
    ids=["time is short", "must not come back", "cancelled"],
)
def test_a_study_stops_and_its_job_is_queued_again_where_time_alone_is_short(
    batch, tmp_path, sent, requeue, comes_back
):
    process = batch(requeue=requeue)
    process.send_signal(sent)
    assert process.wait(timeout=30) == 130
    assert requeued(tmp_path) == [f"requeue 9{os.getpid()}"] * comes_back


def test_a_study_that_ends_in_time_is_not_queued_again(batch, tmp_path):
    process = batch(seconds=1.0, warn_seconds=120)
    os.kill(process.pid, signal.SIGWINCH)  # a signal that nobody minds
    assert process.wait(timeout=30) == 0
    assert requeued(tmp_path) == []
