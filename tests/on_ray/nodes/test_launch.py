import os
import subprocess
import sys

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.nodes import launch
from rse_study.on_ray.nodes.launch import ray_session


@pytest.mark.parametrize("address", ["wrong", "127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999"])
def test_an_address_where_no_cluster_is_is_refused_at_once(address):
    said = r"--address: no cluster at .*running Ray head.*Leave"
    with pytest.raises(InputError, match=said) as caught, ray_session(address=address):
        raise AssertionError
    assert address in caught.value.what


def test_a_ray_that_never_starts_is_given_up_with_its_reason(tmp_path):
    """In a process of its own, with which what was half started ends."""
    command = "from rse_study.on_ray.nodes.launch import ray_session\nwith ray_session(1): pass"
    environment = os.environ | {"RAY_gcs_server_port_wait_time_s": "0", "HOME": str(tmp_path)}
    call = [sys.executable, "-c", command]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Unavailable: Ray did not start in 3 attempts (Timed out waiting" in done.stderr
    assert "less busy" in done.stderr


@pytest.mark.parametrize(
    "late_by",
    [
        RuntimeError("Timed out waiting for file /somewhere/gcs_server_port"),
        Exception("The current node timed out during startup."),
    ],
    ids=["head", "node"],
)
def test_a_ray_that_starts_late_is_tried_again(monkeypatch, late_by):
    calls = []

    def late(**options):
        calls.append(options)
        if len(calls) == 1:
            raise late_by

    monkeypatch.setattr(launch.ray, "init", late)
    with ray_session(1):
        assert len(calls) == 2
        jobs = [call.pop("job_config") for call in calls]
        assert calls[0] == calls[1] and jobs[0] is not jobs[1]
