"""Jobs of a Ray that answers before it can take any."""

import pytest

from rse_study.cluster import ray_job_backend
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.program import ProgramResult
from rse_study.cluster.ray_dashboard import RayDashboard
from rse_study.cluster.ray_job_backend import RayJobs
from rse_study.errors import InputError

BUSY = ProgramResult(
    1, "", "RuntimeError: Request failed with status code 500: No available agent to submit job"
)
RUNNING = JobReport("job", "job", "running", "RUNNING", 1)


@pytest.fixture
def asked(monkeypatch):
    """What was asked of `ray`; the answers are taken from a list, the last one again and again."""
    answers, commands = [], []

    def call(command, **how):
        commands.append(command)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    monkeypatch.setattr(ray_job_backend, "call", call)
    monkeypatch.setattr(ray_job_backend, "AGENT_PAUSE_SECONDS", 0.0)
    return answers, commands


def test_a_head_without_an_agent_is_asked_again(asked):
    answers, commands = asked
    answers += [BUSY, BUSY, ProgramResult(0, "", "")]
    RayJobs(RayDashboard("http://127.0.0.1:1")).stop([RUNNING])
    assert len(commands) == 3
    assert len(set(commands)) == 1


def test_what_ray_refuses_is_said_at_once(asked):
    asked[0].append(ProgramResult(1, "", "RuntimeError: no such job"))
    with pytest.raises(InputError, match="no such job"):
        RayJobs(RayDashboard("http://127.0.0.1:1")).stop([RUNNING])
    assert len(asked[1]) == 1
