"""A script that keeps a head and its workers running on this machine."""

from shlex import quote

from rse_study.cluster.job import RenderedFile
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.renderers.ray_start import exports, head_options, variables_of, worker_options
from rse_study.cluster.renderers.shell import folded, script

FILE_NAME = "cluster.sh"
START_SECONDS = 300
# Ray makes 127.0.0.1 the address of a node, of its jobs and their drivers, as on macOS; otherwise the machine's own.
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
WORKER = "from rse_study.on_ray.nodes.private_ray import ray_start_on_loopback as start; start()"
# Any free port: of two agents at Ray's fixed one, the second gets none, and its node takes no jobs.
AGENT = "--dashboard-agent-listen-port=0"


def render_local(spec: LocalCluster) -> tuple[RenderedFile, ...]:
    """Return the script of a cluster on this machine."""
    text = script(
        ["#!/bin/bash", f"# {spec.name}: a head and its workers on this machine, which end with it."],
        [*spec.environment.activate, *exports(variables_of(spec) | LOOPBACK)],
        _token(spec),
        _head(spec),
        _workers(spec),
        ["wait"],
    )
    return (RenderedFile(FILE_NAME, text),)


def _token(spec: LocalCluster) -> list[str]:
    is_below_home = spec.token.startswith("~/")
    path = f'"$HOME"/{quote(spec.token[2:])}' if is_below_home else quote(spec.token)
    folder = quote(spec.folder) if spec.folder else "$(mktemp -d /tmp/rse-XXXXXXXX)"
    return [
        f'export RAY_TMPDIR={folder}; mkdir -p -m 700 "$RAY_TMPDIR" || exit 1  # nobody else may enter it',
        f"export RAY_AUTH_TOKEN_PATH={path} RAY_ADDRESS=127.0.0.1:{spec.port}",
        'if [ ! -s "$RAY_AUTH_TOKEN_PATH" ]; then',
        '    mkdir -p "$(dirname "$RAY_AUTH_TOKEN_PATH")"',
        """    (umask 077; python -c 'import secrets; print(secrets.token_hex(32))' > "$RAY_AUTH_TOKEN_PATH")""",
        "fi",
    ]


def _head(spec: LocalCluster) -> list[str]:
    ports = [f"--port={spec.port}", "--dashboard-host=127.0.0.1", f"--dashboard-port={spec.dashboard_port}"]
    return [
        "# What could not start yet, or was given up, starts again, until this script is ended.",
        "keep() {",
        """    trap 'kill "$child" 2> /dev/null; wait "$child"; exit' TERM""",
        "    while true; do",
        '        "$@" & child=$!',
        '        wait "$child"',
        "        sleep 5",
        "    done",
        "}",
        """trap 'kill $(jobs -p) 2> /dev/null; wait; rm -rf "$RAY_TMPDIR/ray"; rmdir "$RAY_TMPDIR"' EXIT""",
        "trap exit INT TERM",
        *folded(["keep", "ray", "start", "--node-ip-address=127.0.0.1", *ports, AGENT, *head_options(), "&"]),
        _wait(0),
    ]


def _workers(spec: LocalCluster) -> list[str]:
    lines = ["# One after the other: nodes of one machine that start at once take each other's sockets."]
    groups = [group for group in spec.workers.values() for _ in range(group.max_nodes)]
    for number, group in enumerate(groups, start=1):
        place = ['--address="$RAY_ADDRESS"', "--node-ip-address=127.0.0.1", AGENT]
        options = worker_options(group, group.cpus)
        lines += [*folded(["keep", "python", "-c", quote(WORKER), *place, *options, "&"]), _wait(number)]
    return lines


def _wait(num_workers: int) -> str:
    return f"python -m rse_study.on_ray.wait_for_nodes {num_workers} {START_SECONDS} || exit 1"
