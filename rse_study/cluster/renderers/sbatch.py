"""A Slurm batch script, with which Ray starts and ends.

`steps` runs workers in a loop, because `ray start` ends if its node is declared dead; `symmetric-run` is Ray's own.
"""

import shlex
from collections.abc import Iterator

from rse_study.cluster.job import STUDY_FILE, Job, RenderedFile
from rse_study.cluster.kinds.slurm import SlurmCluster, SlurmGroup
from rse_study.cluster.renderers.ray_start import (
    DRIVER_RESOURCES,
    exports,
    head_options,
    variables_of,
    worker_options,
)
from rse_study.cluster.renderers.shell import folded, script

FILE_NAME = "job.sbatch"
INTERRUPTED = 130
TO_LOG = ('>> "$job/ray.log"', "2>&1")


def render_sbatch(spec: SlurmCluster, job: Job) -> tuple[RenderedFile, ...]:
    """Return the batch script of a job."""
    (group,) = spec.workers.values()
    blocks = [_steps(spec, group), _driver(spec, job)]
    if spec.form == "symmetric-run":
        blocks = [_symmetric_run(spec, group, job)]
    text = script(
        ["#!/bin/bash", *(f"#SBATCH {option}" for option in directives(spec, job.submission_id))],
        _opening(spec, job),
        _folders(spec, job),
        *blocks,
        _end(spec),
    )
    return (RenderedFile(FILE_NAME, text),)


def job_folder(spec: SlurmCluster, submission_id: str) -> str:
    """Return the shared folder of the job's files and its log."""
    return f"{spec.folder.rstrip('/')}/{submission_id}"


def directives(spec: SlurmCluster, submission_id: str) -> Iterator[str]:
    """Yield the options of sbatch: ours, then the spec's own."""
    (group,) = spec.workers.values()
    fewest = spec.fewest_nodes(group)
    yield f"--job-name={submission_id}"
    yield f"--nodes={fewest}-{group.max_nodes}" if fewest < group.max_nodes else f"--nodes={group.max_nodes}"
    yield "--ntasks-per-node=1"
    yield f"--cpus-per-task={group.cpus}"
    yield f"--mem={group.memory_mib}M"
    if group.gpus:
        yield f"--gres={group.gres}:{group.gpus}" if group.gres else f"--gpus-per-node={group.gpus}"
    named = {"partition": group.partition, "constraint": group.constraint}
    named |= {"account": spec.account, "qos": spec.qos}
    yield from (f"--{name}={value}" for name, value in named.items() if value)
    yield f"--time={_time(spec.limits.hours)}"
    if spec.form == "steps":
        yield f"--signal=B:USR1@{spec.warn_seconds}"
    yield "--dependency=singleton"  # the same study twice: one after the other, and the second finds nothing to do
    yield "--requeue" if spec.requeue else "--no-requeue"
    yield "--open-mode=append"
    yield "--no-kill"  # a node that fails takes only its own cells with it
    yield f"--output={job_folder(spec, submission_id)}/job.log"
    yield from spec.options


def _time(hours: float) -> str:
    minutes = max(1, round(hours * 60))
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


def _opening(spec: SlurmCluster, job: Job) -> list[str]:
    port = str(spec.port) if spec.port else "$((20000 + SLURM_JOB_ID % 20000))"
    return [
        f"# {job.study}: Ray on the nodes of this job, the study on it, and an end to both.",
        "set -m  # what runs in the background hears an interrupt",
        *spec.environment.activate,
        *exports(variables_of(spec)),
        "# A token of this job alone: in the environment of its processes, and in no file.",
        "RAY_AUTH_TOKEN=$(python -c 'import secrets; print(secrets.token_hex(32))')",
        'nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")',
        'head=$(echo "$nodes" | head -n 1)  # this script runs there',
        """head_ip=$(getent ahostsv4 "$head" | awk '$1 !~ /^127\\./ {print $1; exit}')""",
        "head_ip=${head_ip:-$(hostname -I | cut -d ' ' -f 1)}",
        f"port={port}",
        'export RAY_AUTH_TOKEN RAY_ADDRESS="$head_ip:$port" SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"',
    ]


def _folders(spec: SlurmCluster, job: Job) -> list[str]:
    return [
        f"job={shlex.quote(job_folder(spec, job.submission_id))}",
        'work="/tmp/rse-$UID-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}"  # on the disk of each node, until the end',
        'everywhere() { srun --overlap --ntasks-per-node=1 --mem=0 "$@"; }',
        'everywhere mkdir -m 700 "$work" || exit 1  # nobody else may make it, or enter it',
        f'everywhere python -m zipfile -e "$job/{job.wheel.name}" "$work/code" || exit 1',
        'export RAY_TMPDIR="$work" PYTHONPATH="$work/code${PYTHONPATH:+:$PYTHONPATH}"',
        f'cd "$work" && cp "$job/{STUDY_FILE}" . || exit 1',
    ]


def _steps(spec: SlurmCluster, group: SlurmGroup) -> list[str]:
    on_head = max(0, group.cpus - spec.head.cpus)
    head = ['--node-ip-address="$head_ip"', '--port="$port"', *head_options()]
    worker = ['--address="$RAY_ADDRESS"', *worker_options(group, '"$cpus"')]
    num_workers = '"$SLURM_NNODES"' if on_head else '"$((SLURM_NNODES - 1))"'
    return [
        "# Ray. Its head offers no CPU to trials. A worker that could not join, or that was given up, starts again.",
        'on_node() { srun --overlap --nodes=1 --nodelist="$1" --ntasks=1 --mem=0 "${@:2}"; }',
        'until [ -e "$work/up" ]; do  # on a busy machine its start may fail; once up, it is not started again',
        *folded(["on_node", '"$head"', "ray", "start", *head, *TO_LOG], indent="    "),
        "    sleep 5",
        "done &",
        f'python -m rse_study.on_ray.wait_for_nodes 0 {spec.start_seconds} && touch "$work/up" || exit 1',
        "worker() {",
        "    while true; do",
        *folded(['on_node "$1" ray start', *worker, *TO_LOG], indent="        "),
        "        sleep 5",
        "    done",
        "}",
        "for node in $nodes; do",
        f'    [ "$node" = "$head" ] && cpus={on_head} || cpus={group.cpus}',
        '    [ "$cpus" -eq 0 ] || worker "$node" &',
        "done",
        f"python -m rse_study.on_ray.wait_for_nodes {num_workers} {spec.start_seconds} || exit 1",
    ]


def _symmetric_run(spec: SlurmCluster, group: SlurmGroup, job: Job) -> list[str]:
    """Run Ray's own command: trials also run on the head, and srun keeps signals."""
    command = ["everywhere ray symmetric-run", '--address="$RAY_ADDRESS"', '--min-nodes="$SLURM_NNODES"']
    options = [option for option in worker_options(group, group.cpus) if option != "--block"]
    driver_resource = f"--resources={shlex.quote(DRIVER_RESOURCES)}"
    return [
        f"export RAY_SYMMETRIC_RUN_CLUSTER_WAIT_TIMEOUT={spec.start_seconds}",
        *folded([*command, *options, driver_resource, "--", shlex.join(job.command)]),
        "code=$?",
    ]


def _driver(spec: SlurmCluster, job: Job) -> list[str]:
    at_once = spec.warn_seconds // 2
    return [
        f"{shlex.join(job.command)} &",
        "driver=$!",
        "again=",
        f"""trap 'again=yes; kill -INT "$driver"; (sleep {at_once}; kill -INT "$driver") &' USR1""",
        """trap 'kill -INT "$driver"' INT TERM""",
        """while kill -0 "$driver" 2> /dev/null; do wait "$driver"; done""",
        """wait "$driver"; code=$?""",
        "# Ray, on all nodes: each of its steps is a group of processes.",
        'set +m; for step in $(jobs -p); do kill -- "-$step" 2> /dev/null; done; wait 2> /dev/null',
    ]


def _end(spec: SlurmCluster) -> list[str]:
    requeue = [
        "# Its time was up: it goes on from here in another turn.",
        f"""[ "$code" -eq {INTERRUPTED} ] && [ -n "$again" ] && scontrol requeue "$SLURM_JOB_ID\"""",
    ]
    return [
        """everywhere rm -rf "$work\"""",
        *(requeue if spec.requeue and spec.form == "steps" else []),
        "exit $code",
    ]
