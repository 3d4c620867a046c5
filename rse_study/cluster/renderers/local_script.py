"""A script that keeps a head and its workers running on this machine."""

from shlex import quote

from rse_study.cluster.job import RenderedFile
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.renderers.ray_start import exports, head_options, variables_of, worker_options
from rse_study.cluster.renderers.shell import folded, script

FILE_NAME = "cluster.sh"
START_SECONDS = 300
AGENT = "--dashboard-agent-listen-port=0"
"""any free port: of two agents at Ray's fixed one, the second gets none, and its node takes no jobs"""


def render_local(spec: LocalCluster) -> tuple[RenderedFile, ...]:
    """Return the script of a cluster on this machine."""
    text = script(
        [
            "#!/bin/bash",
            f"# {spec.name}: a head and its workers on this machine, which end with this script.",
        ],
        [*spec.environment.activate, *exports(variables_of(spec))],
        _token(spec),
        _head(spec),
        _workers(spec),
        ["wait"],
    )
    return (RenderedFile(FILE_NAME, text),)


def _token(spec: LocalCluster) -> list[str]:
    is_below_home = spec.token.startswith("~/")
    path = f'"$HOME"/{quote(spec.token[2:])}' if is_below_home else quote(spec.token)
    return [
        f"export RAY_AUTH_TOKEN_PATH={path} RAY_ADDRESS=127.0.0.1:{spec.port}",
        'if [ ! -s "$RAY_AUTH_TOKEN_PATH" ]; then',
        '    mkdir -p "$(dirname "$RAY_AUTH_TOKEN_PATH")"',
        """    (umask 077; python -c 'import secrets; print(secrets.token_hex(32))' > "$RAY_AUTH_TOKEN_PATH")""",
        "fi",
    ]


def _head(spec: LocalCluster) -> list[str]:
    where = ["--node-ip-address=127.0.0.1", f"--port={spec.port}", f"--temp-dir={quote(spec.folder)}"]
    dashboard = ["--dashboard-host=127.0.0.1", f"--dashboard-port={spec.dashboard_port}"]
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
        "trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT",
        "trap exit INT TERM",
        *folded(["keep", "ray", "start", *where, *dashboard, AGENT, *head_options(), "&"]),
        _wait(0),
    ]


def _workers(spec: LocalCluster) -> list[str]:
    lines = ["# One after the other: nodes of one machine that start at once take each other's sockets."]
    groups = [group for group in spec.workers.values() for _ in range(group.max_nodes)]
    for number, group in enumerate(groups, start=1):
        options = [
            '--address="$RAY_ADDRESS"',
            "--node-ip-address=127.0.0.1",
            AGENT,
            *worker_options(group, group.cpus),
        ]
        lines += [*folded(["keep", "ray", "start", *options, "&"]), _wait(number)]
    return lines


def _wait(num_workers: int) -> str:
    return f"python -m rse_study.on_ray.wait_for_nodes {num_workers} {START_SECONDS} || exit 1"
