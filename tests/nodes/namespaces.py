"""Several machines on one: a network namespace each, a bridge between them, and a disk of their own.

Nothing of it is left in the machine's own network. It takes root, iproute2 and procps.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from tests import needs

PROJECT = Path(__file__).parents[2]
TOOLS = ("ip", "nsenter", "ps", "setpriv", "unshare")
LOCKS = Path("/run/lock")
MORTAL = ("setpriv", "--pdeathsig=KILL")
"""ends with the process that started it, however that one ends"""
PREFIX = "rse-nodes"
MOST = 64  # sets of nodes at once on one machine
SHARED = Path("/tmp/shared")
"""where a folder that all nodes see is found on each of them"""

# What pid 1 of a node does: its own mounts, then nothing but to reap what its children left.
INIT = """
set -e
exec </dev/null
hostname "$NAME"
mount --bind "$DISK/hosts" /etc/hosts
mount -t tmpfs tmpfs /dev/shm
keep() {  # seen on the node although it lies in the folder that is replaced
    case "$1" in /tmp/*) mkdir -p "$DISK$1"; mount --bind "$1" "$DISK$1";; esac
}
for folder in $VISIBLE; do keep "$folder"; done
if [ -n "$COMMON" ]; then mkdir -p "$DISK/tmp/shared"; mount --bind "$COMMON" "$DISK/tmp/shared"; fi
mount --bind "$PROJECT" "$PROJECT"
mount -o remount,bind,ro "$PROJECT"
case "$PROJECT" in /tmp/*) mount -o remount,bind,ro "$DISK$PROJECT";; esac
mount --rbind "$DISK/tmp" /tmp
touch /tmp/.ready
sleep infinity &
while :; do wait || true; done
"""


@cache
def reason_without() -> str:
    """Why this machine cannot have nodes; empty where it can."""
    if missing := needs.reason_without(*TOOLS):
        return missing
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    probe = subprocess.run(
        ["unshare", "--net", "--mount", "--pid", "--fork", "--uts", "--ipc", "true"], capture_output=True
    )
    return "" if probe.returncode == 0 else "needs a kernel that allows namespaces"


needs_nodes = needs.skip_for(reason_without())


class Node:
    """One machine: an address, a host name, processes and a disk."""

    def __init__(self, nodes: "Nodes", number: int) -> None:
        self.number = number
        self.name = f"rn{number}"
        self.address = f"10.77.0.{number}"
        self.disk = nodes.home / self.name
        """its disk as the test sees it; `disk/tmp` is the node's /tmp"""
        self._nodes = nodes
        self._space = f"{nodes.prefix}-{number}"
        self._port = f"port{number}"
        self._init: subprocess.Popen | None = None
        bridge = nodes.bridge
        _ip("netns", "add", self._space)
        _ip("-n", bridge, "link", "add", self._port, "type", "veth", "peer", "eth0", "netns", self._space)
        _ip("-n", bridge, "link", "set", self._port, "master", "br0", "up")
        _ip("-n", self._space, "address", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", self._space, "link", "set", device, "up")

    def run(
        self,
        command: str | Sequence[str],
        env: Mapping[str, str] | None = None,
        check: bool = True,
        timeout: float | None = 300.0,
        **options: Any,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the node to its end; its output is in the answer, errors among it.

        Parameters
        ----------
        command
            a list of words, or one line of bash
        env
            variables beside the node's own
        check
            fail, with the output, where the command does
        timeout
            seconds, after which the command is killed and TimeoutExpired raised
        options
            for subprocess.run
        """
        merged = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} | options
        done = subprocess.run(self._inside(command, env or {}), text=True, timeout=timeout, **merged)
        assert not check or done.returncode == 0, f"{self.name}: {command}: {done.returncode}\n{done.stdout}"
        return done

    def start(
        self, command: str | Sequence[str], log: Path, env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """Start a command on the node, whose output goes to a file of the test's. It ends when its Popen is killed."""
        with log.open("a", encoding="utf-8") as sink:
            return subprocess.Popen(
                self._inside(command, env or {}),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                text=True,
            )

    @property
    def env(self) -> dict[str, str]:
        """What every process of the node finds in its environment."""
        return {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HOME": "/tmp/home",
            "RSE_STUDY_CACHE": "/tmp/cache",
            "PYTHONPATH": str(PROJECT),
            "OMP_NUM_THREADS": "1",
            **self._nodes.env,
        }

    def kill(self) -> None:
        """End every process of the node."""
        if self._init is not None:
            self._init.kill()
            self._init.wait()

    def _boot(self) -> None:
        (self.disk / "tmp" / "home").mkdir(parents=True, exist_ok=True)
        (self.disk / "tmp").chmod(0o1777)
        (self.disk / "hosts").write_text(self._nodes.hosts, encoding="utf-8")
        ready = self.disk / "tmp" / ".ready"
        isolated = ["--mount", "--pid", "--uts", "--ipc", "--mount-proc", "--fork", "--kill-child=KILL"]
        self._init = subprocess.Popen(
            [*MORTAL, "nsenter", f"--net=/run/netns/{self._space}", "unshare", *isolated, "bash", "-c", INIT],
            env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "NAME": self.name,
                "DISK": str(self.disk),
                "PROJECT": str(PROJECT),
                "VISIBLE": f"{PROJECT} {sys.prefix} {sys.base_prefix}",
                "COMMON": str(self._nodes.shared or ""),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 20
        while not ready.exists():
            assert self._init.poll() is None and time.monotonic() < deadline, f"{self.name} does not start"
            time.sleep(0.02)

    def _inside(self, command: str | Sequence[str], env: Mapping[str, str]) -> list[str]:
        assert self._init is not None, f"{self.name} has no power"
        words = ["bash", "-c", command] if isinstance(command, str) else list(command)
        spaces = [f"--{kind}" for kind in ("mount", "pid", "uts", "ipc", "net")]
        into = ["nsenter", f"--target={_children(self._init.pid)[0]}", *spaces]
        variables = [f"{key}={value}" for key, value in {**self.env, **env}.items()]
        return [*into, *MORTAL, "env", "-i", "--chdir=/tmp", *variables, *words]


class Nodes:
    """Machines `rn1`, `rn2`, ... at 10.77.0.1, 10.77.0.2, ... of a network of their own.

    Several sets can be up at once. What a killed test left behind is swept when its number is taken again.
    """

    def __init__(
        self,
        num: int,
        env: Mapping[str, str] | None = None,
        shared: Path | None = None,
    ) -> None:
        """Describe the machines; they start with the `with` block.

        Parameters
        ----------
        num
            how many
        env
            variables for every process on every node
        shared
            a folder that all nodes see, at `SHARED`; without it nothing is shared that can be written to
        """
        self.num, self.env, self.shared = num, dict(env or {}), shared
        self.hosts = "127.0.0.1 localhost\n" + "".join(f"10.77.0.{i} rn{i}\n" for i in range(1, num + 1))
        self.all: list[Node] = []

    def __enter__(self) -> "Nodes":
        self._lock, self.prefix = _take_number()
        self.bridge = f"{self.prefix}-bridge"
        self.home = Path(tempfile.mkdtemp(prefix=f"{self.prefix}-"))
        try:
            _ip("netns", "add", self.bridge)
            _ip("-n", self.bridge, "link", "add", "br0", "type", "bridge")
            _ip("-n", self.bridge, "link", "set", "br0", "up")
            for number in range(1, self.num + 1):
                self.all.append(Node(self, number))
                self.all[-1]._boot()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.all:
            node.kill()
        self.all.clear()
        _sweep(self.prefix)
        _remove(self.home)
        self._lock.close()

    def __getitem__(self, index: int) -> Node:
        return self.all[index]

    def __len__(self) -> int:
        return len(self.all)


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


def _take_number() -> tuple[IO[str], str]:
    """The first number nobody holds: the kernel gives a killed holder's back. Its remains are swept."""
    for number in range(MOST):
        lock = (LOCKS / f"{PREFIX}{number}.lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        prefix = f"{PREFIX}{number}"
        _sweep(prefix)
        for folder in Path(tempfile.gettempdir()).glob(f"{prefix}-*"):
            _remove(folder)
        return lock, prefix
    raise AssertionError(f"{MOST} sets of nodes are up already")


def _sweep(prefix: str) -> None:
    """End what runs in network namespaces of this prefix, and remove them."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.splitlines()
    for space in (line.split()[0] for line in listed if line.startswith(f"{prefix}-")):
        pids = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True).stdout.split()
        for pid in map(int, pids):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _ip("netns", "del", space)


def _remove(folder: Path) -> None:
    """Remove a disk, from which processes that were killed a moment ago may still be disappearing."""
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
