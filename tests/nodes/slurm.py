"""A real Slurm over nodes of a test: munge on each, slurmctld on the first, one slurmd per node.

It takes Debian's packages slurm-wlm and munge, and nodes that share a folder. Accounting is off, as on many small
clusters: `sacct` answers that it is disabled.
"""

import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import needs
from tests.nodes import namespaces
from tests.nodes.namespaces import SHARED, Node, Nodes

TOOLS = ("munged", "sbatch", "slurmctld", "slurmd")
START_SECONDS = 60.0

CONFIGURATION = """
ClusterName=test
SlurmctldHost={head.name}({head.address})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/tmp/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=15
SlurmdTimeout=60
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,batch_sched_delay=0,bf_interval=2
StateSaveLocation=/tmp/slurm/state
SlurmdSpoolDir=/tmp/slurm/spool
SlurmctldPidFile=/tmp/slurm/slurmctld.pid
SlurmdPidFile=/tmp/slurm/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# Without these lines slurmd looks for the plugin in /sys/fs/cgroup, which a namespace lacks, and ends.
CGROUP = """
CgroupPlugin=cgroup/v1
CgroupAutomount=no
ConstrainCores=no
ConstrainRAMSpace=no
"""


needs_slurm = needs.skip_for(needs.reason_without(*TOOLS) or namespaces.reason_without())


class Slurm:
    """A Slurm whose commands are given on its first node, as on the login node of a cluster."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.login = nodes[0]

    def run(self, *command: str, check: bool = True) -> str:
        """Give a command of Slurm on the first node; what it printed."""
        return self.login.run(command, check=check).stdout

    def states(self) -> list[str]:
        """The state of every node, as `sinfo` calls it."""
        return self.run("sinfo", "--noheader", "--Node", "--format=%T", check=False).split()


@contextmanager
def running_slurm(nodes: Nodes, cpus: int = 2) -> Iterator[Slurm]:
    """A Slurm on running nodes, made with `shared` and the environment of `environment()`; it ends with the block."""
    assert nodes.shared is not None, "Slurm's batch scripts and logs lie in a folder that all nodes see"
    folder = nodes.shared / "slurm"
    folder.mkdir()
    _write_configuration(nodes, folder, cpus)
    daemons: list[subprocess.Popen] = []
    try:
        for node in nodes.all:
            (node.disk / "tmp/slurm/state").mkdir(parents=True)
            daemons.append(_start_munge(node, folder))
        slurm = Slurm(nodes)
        daemons.append(slurm.login.start("slurmctld -D", log=folder / "slurmctld.out"))
        for node in nodes.all:
            daemons.append(node.start(f"slurmd -D -N {node.name}", log=folder / f"{node.name}.out"))
        _wait_until_idle(slurm, folder)
        yield slurm
    finally:
        for daemon in daemons:
            daemon.kill()
            daemon.wait()


def environment() -> dict[str, str]:
    """What every process of a node needs; Ray makes its workers nice by 15, and a busy neighbour would stop them."""
    return {"SLURM_CONF": str(SHARED / "slurm" / "slurm.conf"), "RAY_worker_niceness": "0"}


def _write_configuration(nodes: Nodes, folder: Path, cpus: int) -> None:
    lines = "\n".join(
        f"NodeName={node.name} NodeAddr={node.address} CPUs={cpus} RealMemory=4000" for node in nodes.all
    )
    text = CONFIGURATION.format(head=nodes[0], nodes=lines, folder=SHARED / "slurm")
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    (folder / "cgroup.conf").write_text(CGROUP, encoding="utf-8")
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o600)


def _start_munge(node: Node, folder: Path) -> subprocess.Popen:
    """Start munge on a node, and wait until it listens."""
    home = node.disk / "tmp" / "munge"
    home.mkdir(mode=0o755)
    files = {name: f"/tmp/munge/{name}" for name in ("socket", "pid-file", "log-file", "seed-file")}
    options = [f"--{name}={path}" for name, path in files.items()]
    key = f"--key-file={SHARED / 'slurm' / 'munge.key'}"
    process = node.start(
        ["munged", "--foreground", key, "--num-threads=2", *options], log=folder / f"{node.name}.munge"
    )
    deadline = time.monotonic() + START_SECONDS
    while not (home / "socket").exists():
        assert process.poll() is None and time.monotonic() < deadline, f"{node.name}: munge does not start"
        time.sleep(0.05)
    return process


def _wait_until_idle(slurm: Slurm, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while (states := slurm.states()) != ["idle"] * len(slurm.nodes):
        logs = "\n".join(path.read_text() for path in sorted(folder.glob("*.log")))
        assert time.monotonic() < deadline, f"nodes are {states}\n{logs}"
        time.sleep(0.3)
