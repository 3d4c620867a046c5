#!/bin/bash
# local: a head and its workers on this machine, which end with it.

export PYTHONSAFEPATH=1
export RAY_AUTH_MODE=token
export RAY_USAGE_STATS_ENABLED=0
export RAY_TRAIN_V2_ENABLED=1
export RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0
export RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S=600
export RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0

export RAY_TMPDIR=$(mktemp -d /tmp/rse-XXXXXXXX); mkdir -p -m 700 "$RAY_TMPDIR" || exit 1  # nobody else may enter it
export RAY_AUTH_TOKEN_PATH="$HOME"/.ray/auth_token RAY_ADDRESS=127.0.0.1:6379
if [ ! -s "$RAY_AUTH_TOKEN_PATH" ]; then
    mkdir -p "$(dirname "$RAY_AUTH_TOKEN_PATH")"
    (umask 077; python -c 'import secrets; print(secrets.token_hex(32))' > "$RAY_AUTH_TOKEN_PATH")
fi

# What could not start yet, or was given up, starts again, until this script is ended.
keep() {
    trap 'kill "$child" 2> /dev/null; wait "$child"; exit' TERM
    while true; do
        "$@" & child=$!
        wait "$child"
        sleep 5
    done
}
trap 'kill $(jobs -p) 2> /dev/null; wait; rm -rf "$RAY_TMPDIR/ray"; rmdir "$RAY_TMPDIR"' EXIT
trap exit INT TERM
keep ray start --node-ip-address=127.0.0.1 --port=6379 --dashboard-host=127.0.0.1 --dashboard-port=8265 \
    --dashboard-agent-listen-port=0 --head --num-cpus=0 --num-gpus=0 --resources='{"rse_driver": 1000}' \
    --object-store-memory=200000000 --block &
python -m rse_study.on_ray.wait_for_nodes 0 300 || exit 1

# One after the other: nodes of one machine that start at once take each other's sockets.
keep python -c 'from rse_study.on_ray.nodes.private_ray import ray_start_on_loopback as start; start()' \
    --address="$RAY_ADDRESS" --node-ip-address=127.0.0.1 --dashboard-agent-listen-port=0 --num-cpus=1 \
    --num-gpus=0 --object-store-memory=200000000 --block &
python -m rse_study.on_ray.wait_for_nodes 1 300 || exit 1
keep python -c 'from rse_study.on_ray.nodes.private_ray import ray_start_on_loopback as start; start()' \
    --address="$RAY_ADDRESS" --node-ip-address=127.0.0.1 --dashboard-agent-listen-port=0 --num-cpus=1 \
    --num-gpus=0 --object-store-memory=200000000 --block &
python -m rse_study.on_ray.wait_for_nodes 2 300 || exit 1

wait
