"""What Ray has no public way for does, in this version of Ray, what we use it for."""

import inspect
import os
import subprocess
import sys

import pytest
import ray
from ray.tune.execution import class_cache

from rse_study.on_ray.nodes.private_ray import (
    KEYS,
    ClusterHead,
    address_of_head,
    autoscaler_requests,
    check_by_launcher,
    keep_keys_from_logs,
    make_token,
)


@pytest.mark.xdist_group("ray")
def test_a_head_lists_its_nodes_to_a_process_that_is_no_driver(cluster):
    assert not ray.is_initialized()
    ((identity, node),) = ClusterHead(address_of_head(cluster)).alive_nodes().items()
    assert not ray.is_initialized()
    assert node.resources_total["CPU"] == 1 and node.node_manager_address in cluster and len(identity) == 56


def test_auto_is_the_address_in_the_environment(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.7:6379")
    assert address_of_head("auto") == "10.0.0.7:6379"


def test_a_token_that_is_demanded_and_lacks_is_said_and_none_is_made(tmp_path):
    code = "from rse_study.on_ray.nodes.private_ray import use_existing_token as use\nuse()"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    environment = kept | {"HOME": str(tmp_path), "RAY_AUTH_MODE": "token"}
    call = [sys.executable, "-c", code]
    ended = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "no authentication token was found" in ended.stderr
    assert not list(tmp_path.iterdir())


def test_requests_to_the_autoscaler_expire():
    requests = autoscaler_requests("rse-study-test")
    parameters = inspect.signature(requests.request_resources).parameters
    assert {"resources", "expire_after_s", "label_selectors"} <= set(parameters)
    assert callable(requests.cancel_request)


def test_the_launcher_says_what_it_refuses():
    with pytest.raises(KeyError, match="provider"):
        check_by_launcher({"max_workers": 1})


def test_no_key_of_the_storage_stands_in_a_trials_runtime_environment(monkeypatch):
    for name in KEYS:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setattr(class_cache, "ENV_VARS_TO_PROPAGATE", set(class_cache.ENV_VARS_TO_PROPAGATE) | KEYS)
    keep_keys_from_logs()
    options = class_cache._ActorClassCache().get(type("Trainable", (), {}))._default_options
    assert "secret" not in str(options)
    assert options["runtime_env"]["env_vars"]["PL_DISABLE_FORK"] == "1"


def test_only_its_owner_reads_the_token(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    token = tmp_path / ".ray" / "auth_token"
    token.parent.mkdir()
    token.write_text("a" * 64)
    token.chmod(0o644)
    make_token()
    assert token.stat().st_mode & 0o777 == 0o600
