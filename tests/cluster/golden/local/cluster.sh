#!/bin/bash
# local: a head and its workers on this machine, which end with this script.
# `rse-study cluster submit` starts it with two free ports, and a folder of its own for Ray's files.
# source ~/rse-study/bin/activate
export PYTHONSAFEPATH=1
export RAY_AUTH_MODE=token
export RAY_USAGE_STATS_ENABLED=0
export RAY_TRAIN_V2_ENABLED=1
export RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0
export RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S=600
# Ray makes 127.0.0.1 the address of a node, of its jobs and their drivers, as on macOS.
export RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0

port=${RSE_STUDY_PORT:-6379} dashboard_port=${RSE_STUDY_DASHBOARD_PORT:-8265}
folder=${RSE_STUDY_FOLDER:-$(mktemp -d /tmp/rse-XXXXXXXX)}  # of mode 700: nobody else may enter it
RAY_AUTH_TOKEN_PATH=${RAY_AUTH_TOKEN_PATH:-$HOME/.ray/auth_token}
export RAY_TMPDIR="$folder" RAY_AUTH_TOKEN_PATH RAY_ADDRESS="127.0.0.1:$port"
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
trap 'kill $(jobs -p) 2> /dev/null; wait; rm -rf "$folder"' EXIT
trap exit INT TERM
# Agents listen at any free port: of two at Ray's fixed one, the second gets none, and its node takes no jobs.
keep ray start --node-ip-address=127.0.0.1 --port="$port" --dashboard-host=127.0.0.1 \
    --dashboard-port="$dashboard_port" --dashboard-agent-listen-port=0 --head --num-cpus=0 --num-gpus=0 \
    --resources='{"rse_driver": 1000}' --object-store-memory=200000000 --block &
python -m rse_study.on_ray.wait_for_nodes 0 300 || exit 1

worker() {
    keep python -c 'from rse_study.on_ray.nodes.private_ray import ray_start_on_loopback as start; start()' \
        --address="$RAY_ADDRESS" --node-ip-address=127.0.0.1 --dashboard-agent-listen-port=0 \
        --object-store-memory=200000000 --block "$@"
}
# One after the other: nodes of one machine that start at once take each other's sockets.
for number in $(seq 2); do
    worker --num-cpus=1 --num-gpus=0 --labels='' &
    python -m rse_study.on_ray.wait_for_nodes "$number" 300 || exit 1
done

wait
