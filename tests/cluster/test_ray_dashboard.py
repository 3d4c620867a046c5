"""A dashboard that is not there, or is none, is said in one line; tokens go to nobody else."""

import http.server
import threading
from collections.abc import Iterator

import pytest

from rse_study.cluster.ray_dashboard import NoAnswer, RayDashboard
from rse_study.errors import InputError


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
    dashboard = RayDashboard("http://127.0.0.1:9")
    assert not dashboard.answers()
    with pytest.raises(NoAnswer, match=r"http://127\.0\.0\.1:9: no Ray cluster answers \(.*refused\)"):
        dashboard.jobs()


def test_somebody_else_answers(shop):
    dashboard = RayDashboard(shop)
    assert dashboard.answers()
    with pytest.raises(InputError, match="HTTP 404: this is not a Ray dashboard"):
        dashboard.jobs()


def test_the_environment_names_the_token(monkeypatch, tmp_path):
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    dashboard = RayDashboard("http://127.0.0.1:9")
    assert dashboard.env["RAY_AUTH_TOKEN_PATH"] == str(tmp_path / ".ray" / "auth_token")
    assert dashboard.env["RAY_AUTH_MODE"] == "token"
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", "/another")
    assert dashboard.env["RAY_AUTH_TOKEN_PATH"] == "/another"
    monkeypatch.setenv("RAY_AUTH_TOKEN", "abc")
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH")
    assert "RAY_AUTH_TOKEN_PATH" not in dashboard.env
