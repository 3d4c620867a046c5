"""A real S3-compatible server on loopback, in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "nobody", "AWS_EC2_METADATA_DISABLED": "true"}
"""What clients need in their environment; without the last every first call waits for a metadata service."""
BUCKET = "bucket"
START_SECONDS = 60.0


class S3Server:
    """A server that can fall silent and come back."""

    def __init__(self, process: subprocess.Popen, port: int) -> None:
        self._process, self._port = process, port

    def location(self, prefix: str) -> str:
        return f"s3://{BUCKET}/{prefix}?endpoint_override=http://127.0.0.1:{self._port}&region=us-east-1"

    def pause(self) -> None:
        """Connections are taken and never answered."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)


@contextmanager
def s3_server() -> Iterator[S3Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            _wait_for(port)
            _make_bucket(port)
            yield S3Server(process, port)
        finally:
            os.kill(process.pid, signal.SIGCONT)
            process.kill()


def in_environment(keys: Mapping[str, str] = KEYS) -> Iterator[None]:
    """Keys for this process and those it starts."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in keys.items():
            patch.setenv(name, value)
        yield


def _wait_for(port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
        except OSError:
            assert time.monotonic() < until, "the S3 server did not start"
            time.sleep(0.1)
        else:
            return


def _make_bucket(port: int) -> None:
    from pyarrow import fs

    where = {"endpoint_override": f"127.0.0.1:{port}", "scheme": "http", "region": "us-east-1"}
    keys = {"access_key": KEYS["AWS_ACCESS_KEY_ID"], "secret_key": KEYS["AWS_SECRET_ACCESS_KEY"]}
    fs.S3FileSystem(**where, **keys, allow_bucket_creation=True).create_dir(BUCKET)
