"""Clusters started by `ray up`; their dashboard is reached through an ssh tunnel."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rse_study.cluster.job import Submission
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.local_backend import free_ports
from rse_study.cluster.program import CommandWords, call, follow, our_environment, shown
from rse_study.cluster.ray_backend import REMEDY, RayBackend, RayJobs, token_hint
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole

CONFIGURATION = "cluster.yaml"
TUNNEL_SECONDS = 60.0
DASHBOARD_PORT = 8265
NO_HEAD = "Head node of cluster"
"""Ray's message without a head; only then may a cluster be started"""


@dataclass(frozen=True)
class LauncherBackend(RayBackend):
    """A cluster of Ray's launcher, which outlives its jobs until `cluster down`."""

    spec: ClusterSpec

    @property
    def configuration(self) -> Path:
        """The file passed to `ray up`; missing if no cluster was started."""
        return self.home / CONFIGURATION

    def dashboard(self, report: JobReport) -> str:
        address = f"http://127.0.0.1:{DASHBOARD_PORT}"
        is_there = self.configuration.is_file()
        return f"{shown(self._tunnel(DASHBOARD_PORT))}, then {address}, {token_hint()}" if is_there else ""

    def submission(self, submission: Submission) -> list[CommandWords]:
        tunnel = self._tunnel(DASHBOARD_PORT)
        return [self._up(), tunnel, _ray_at(DASHBOARD_PORT).submission(submission)]

    def ending(self, reports: list[JobReport], is_last: bool) -> list[CommandWords]:
        stopping = _ray_at(DASHBOARD_PORT).stopping(reports)
        if is_last and self.configuration.is_file():
            return [("ray", "down", "--yes", str(self.configuration))]
        return [self._tunnel(DASHBOARD_PORT), *stopping] if stopping else []

    def end(self, reports: list[JobReport], is_last: bool) -> None:
        if not is_last:
            with self.ray() as ray:
                ray.stop(reports)
            return
        for command in self.ending(reports, is_last):
            if follow(command, remedy=REMEDY, folder=self.home):
                remedy = "Check your provider's console: running machines still cost money"
                raise InputError("the cluster was not ended", where=self.spec.name, remedy=remedy)
            self.configuration.unlink()

    def start(self, submission: Submission) -> None:
        wheel = submission.job.wheel
        write_whole(self.home / wheel.name, wheel.content)  # the configuration names it without a folder
        write_whole(self.configuration, (submission.folder / CONFIGURATION).read_bytes())
        if follow(self._up(), remedy=REMEDY, folder=self.home, env=_ray_at(DASHBOARD_PORT).env):
            rule, remedy = "Ray's launcher says above why", "`rse-study cluster down` ends what it started"
            raise InputError("the cluster did not start", where=self.spec.name, rule=rule, remedy=remedy)

    def _up(self) -> CommandWords:
        return ("ray", "up", "--yes", str(self.configuration))

    def is_up(self) -> bool:
        """Whether there is a head; if so, do not call `ray up`, which would restart Ray."""
        if not self.configuration.is_file():
            return False
        result = call(("ray", "get-head-ip", str(self.configuration)), remedy=REMEDY, folder=self.home)
        if result.code and NO_HEAD not in result.err + result.out:
            remedy = f"`ray get-head-ip {self.configuration}` shows more"
            what = f"its state is unknown: {result.complaint}"
            raise InputError(what, where=self.spec.name, remedy=remedy)
        return result.code == 0

    def _tunnel(self, port: int) -> CommandWords:
        return ("ray", "dashboard", "--port", str(port), str(self.configuration))

    @contextmanager
    def ray(self) -> Iterator[RayJobs]:
        """Open a tunnel to the dashboard for the duration of the context."""
        (port,) = free_ports(1)
        ray = _ray_at(port)
        tunnel = subprocess.Popen(
            self._tunnel(port),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd=self.home,
            env=our_environment(),
        )
        try:
            if not ray.answers_within(TUNNEL_SECONDS, tunnel):
                remedy = f"`ray attach {self.configuration}` shows what is wrong with the head"
                raise InputError("its dashboard cannot be reached", where=self.spec.name, remedy=remedy)
            yield ray
        finally:
            with suppress(ProcessLookupError):
                os.killpg(tunnel.pid, signal.SIGTERM)  # Ray's program and its ssh
            tunnel.wait()


def _ray_at(port: int) -> RayJobs:
    return RayJobs(f"http://127.0.0.1:{port}")
