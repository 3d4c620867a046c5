"""Jobs of a Ray that answers before it can take any, of none, and of what is no Ray; and its token."""

import http.server
import threading
from collections.abc import Iterator

import pytest

from rse_study.cluster import ray_backend
from rse_study.cluster.job_report import JobReport
from rse_study.cluster.program import ProgramResult
from rse_study.cluster.ray_backend import NoAnswer, RayJobs
from rse_study.errors import InputError

NOBODY = RayJobs("http://127.0.0.1:9")
BUSY = ProgramResult(
    1, "", "RuntimeError: Request failed with status code 500: No available agent to submit job"
)
RUNNING = JobReport("job", "job", "running", "RUNNING")


@pytest.fixture
def asked(monkeypatch):
    """What was asked of `ray`; the answers are taken from a list, the last one again and again."""
    answers, commands = [], []

    def call(command, **how):
        commands.append(command)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    monkeypatch.setattr(ray_backend, "call", call)
    monkeypatch.setattr(ray_backend, "AGENT_PAUSE_SECONDS", 0.0)
    return answers, commands


def test_a_head_without_an_agent_is_asked_again(asked):
    answers, commands = asked
    answers += [BUSY, BUSY, ProgramResult(0, "", "")]
    NOBODY.stop([RUNNING])
    assert len(commands) == 3
    assert len(set(commands)) == 1


def test_what_ray_refuses_is_said_at_once(asked):
    asked[0].append(ProgramResult(1, "", "RuntimeError: no such job"))
    with pytest.raises(InputError, match="no such job"):
        NOBODY.stop([RUNNING])
    assert len(asked[1]) == 1


class Shop(http.server.BaseHTTPRequestHandler):
    """A server that is no dashboard of Ray: it has no such page."""

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


@pytest.fixture
def shop() -> Iterator[str]:
    server = http.server.HTTPServer(("127.0.0.1", 0), Shop)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_nobody_answers():
    assert not NOBODY.answers()
    with pytest.raises(NoAnswer, match=r"http://127\.0\.0\.1:9: no Ray cluster answers \(.*refused\)"):
        NOBODY.reports()


def test_somebody_else_answers(shop):
    assert RayJobs(shop).answers()
    with pytest.raises(InputError, match="HTTP 404: this is not a Ray dashboard"):
        RayJobs(shop).reports()


def test_the_environment_names_the_token(monkeypatch, tmp_path):
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert NOBODY.env["RAY_AUTH_TOKEN_PATH"] == str(tmp_path / ".ray" / "auth_token")
    assert NOBODY.env["RAY_AUTH_MODE"] == "token"
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", "/another")
    assert NOBODY.env["RAY_AUTH_TOKEN_PATH"] == "/another"
    monkeypatch.setenv("RAY_AUTH_TOKEN", "abc")
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH")
    assert "RAY_AUTH_TOKEN_PATH" not in NOBODY.env
