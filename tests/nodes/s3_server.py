"""A real S3-compatible server on a node, which can be gone for a while.

    python -m tests.nodes.s3_server ADDRESS PORT BUCKET

Its objects are in its memory: it stays the same process while it refuses connections.
"""

import signal
import sys
import time
import urllib.request
from threading import Thread
from urllib.parse import quote

from tests.nodes.namespaces import Node, send

PORT = 9000
BUCKET = "studies"
ACCESS = {
    "AWS_ACCESS_KEY_ID": "of-the-tests",
    "AWS_SECRET_ACCESS_KEY": "of-the-tests-too",
    "AWS_EC2_METADATA_DISABLED": "true",  # else every first call waits for a service that clouds have
}
"""what a client of the server needs in its environment"""
READY, CLOSED = "ready", "closed"


class S3Server:
    """The server on a node; `url(prefix)` is what a study's `storage:` says."""

    def __init__(self, node: Node) -> None:
        self._node, self._log = node, node.disk / "s3.log"
        command = [sys.executable, "-m", "tests.nodes.s3_server", node.address, str(PORT), BUCKET]
        self._process = node.start(command, env=ACCESS, log=self._log)
        self._wait_for(READY, 1)

    def url(self, prefix: str) -> str:
        """Where objects with this prefix are."""
        endpoint = quote(f"http://{self._node.address}:{PORT}", safe="")
        return f"s3://{BUCKET}/{prefix}?endpoint_override={endpoint}&region=us-east-1"

    def pause(self) -> None:
        """Refuse connections, with every object kept."""
        self._tell(signal.SIGUSR1, CLOSED)

    def resume(self) -> None:
        """Be there again."""
        self._tell(signal.SIGUSR2, READY)

    def _tell(self, number: signal.Signals, answer: str) -> None:
        times = self._count(answer)
        send(self._process, number)
        self._wait_for(answer, times + 1)

    def _count(self, word: str) -> int:
        return self._log.read_text(encoding="utf-8").split().count(word)

    def _wait_for(self, word: str, times: int, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not self._log.exists() or self._count(word) < times:
            assert self._process.poll() is None and time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.05)


def main(address: str, port: str, bucket: str) -> None:
    """Serve until killed; SIGUSR1 closes the port, SIGUSR2 opens it again."""
    import logging

    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application = DomainDispatcherApplication(create_backend_app)
    signals = {signal.SIGUSR1, signal.SIGUSR2}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    made = False
    while True:
        server = make_server(address, int(port), application, threaded=True)
        Thread(target=server.serve_forever, daemon=True).start()
        if not made:
            _make_bucket(f"http://{address}:{port}/{bucket}")
            made = True
        print(READY, flush=True)
        _wait_for_signal(signals, signal.SIGUSR1)
        server.shutdown()
        server.server_close()
        print(CLOSED, flush=True)
        _wait_for_signal(signals, signal.SIGUSR2)


def _wait_for_signal(signals: set[signal.Signals], wanted: signal.Signals) -> None:
    while signal.sigwait(signals) != wanted:
        pass


def _make_bucket(url: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=30):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
