"""JSON queries to a Ray dashboard; `ray job list` prints Python objects instead."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.cluster.program import our_environment
from rse_study.errors import InputError

SECONDS, PAUSE_SECONDS = 20.0, 0.5
TOKEN = "~/.ray/auth_token"
"""used unless RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH is set, as in Ray"""
REFUSED = (401, 403)


def token_hint() -> str:
    """Return where the token is that a dashboard asks for."""
    if "RAY_AUTH_TOKEN" in os.environ:
        return "which asks for the token in RAY_AUTH_TOKEN"
    return f"which asks for the token: cat {os.environ.get('RAY_AUTH_TOKEN_PATH') or TOKEN}"


@dataclass(frozen=True)
class RayDashboard:
    """The dashboard of one cluster."""

    address: str

    @property
    def env(self) -> dict[str, str]:
        told = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(Path(TOKEN).expanduser())}
        if "RAY_AUTH_TOKEN" in os.environ:
            told.pop("RAY_AUTH_TOKEN_PATH")
        # Otherwise Ray colours its output and asks its own server for newer versions.
        return told | {"RAY_USAGE_STATS_ENABLED": "0"} | our_environment()

    def jobs(self) -> list[dict[str, Any]]:
        return self._get("/api/jobs/")

    def nodes(self) -> list[dict[str, Any]]:
        """Return all nodes, including dead ones."""
        return self._get("/api/v0/nodes?detail=1&limit=10000")["data"]["result"]["result"]

    def answers(self) -> bool:
        """Whether a server responds at the address, even with an error."""
        try:
            self._get("/api/version")
        except InputError as error:
            return not isinstance(error, NoAnswer)
        return True

    def answers_within(self, seconds: float, process: subprocess.Popen[Any]) -> bool:
        """Wait until a server responds; False if time is up or its process has ended."""
        until = time.monotonic() + seconds
        while not self.answers():
            if process.poll() is not None or time.monotonic() > until:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def _get(self, path: str) -> Any:
        request = urllib.request.Request(f"{self.address.rstrip('/')}{path}")
        token, source = self._token()
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            # Without the environment's proxy, which cannot resolve a cluster's hosts.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            what, rule, remedy = f"{path}: HTTP {error.code}", "this is not a Ray dashboard", ""
            if error.code in REFUSED:
                what = f"the cluster refuses the token in {source}" if token else f"no token in {source}"
                rule = "a cluster lets in whoever has its token"
                remedy = (
                    "Copy the file that the head has (~/.ray/auth_token), or name it in RAY_AUTH_TOKEN_PATH"
                )
            raise InputError(what, where=self.address, rule=rule, remedy=remedy) from None
        except (OSError, ValueError) as error:
            what = f"no Ray cluster answers ({getattr(error, 'reason', error)})"
            remedy = (
                "Is the cluster up, and this its dashboard? `rse-study cluster status` says what was started"
            )
            raise NoAnswer(what, where=self.address, remedy=remedy) from None

    def _token(self) -> tuple[str, str]:
        """Return the token, empty if there is none, and where it comes from."""
        if given := os.environ.get("RAY_AUTH_TOKEN"):
            return given, "RAY_AUTH_TOKEN"
        file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or TOKEN).expanduser()
        return file.read_text(encoding="utf-8").strip() if file.is_file() else "", str(file)


class NoAnswer(InputError):
    """No server responds at an address."""
