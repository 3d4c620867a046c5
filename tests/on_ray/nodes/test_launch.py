import inspect
import os
import subprocess
import sys

import psutil
import pytest
import ray
from ray.tune.execution import class_cache

from rse_study.errors import InputError
from rse_study.on_ray.nodes import launch
from rse_study.on_ray.nodes.launch import ray_session
from rse_study.on_ray.nodes.private_ray import (
    KEYS,
    ClusterHead,
    address_of_head,
    autoscaler_requests,
    check_by_launcher,
    keep_keys_from_logs,
    make_token,
)
from rse_study.results.reader import Reader
from tests.docs.scratch import ROOT, blocks_of

PAGE = ROOT / "docs" / "tutorials" / "an_evaluation_beside_your_study.md"
STUDY = """
name: one
question: Does it run here?
base:
  method: {preset: simcse}
  encoder: {name: tiny-vectors, pooling: mean}
  corpus: {source: {kind: builtin, num_sentences: 100}}
  budget: {unit: steps, amount: 4}
  batch_size: 8
  selection: {dev: builtin, every: 2}
grid: {rows: {a: {}}}
seeds: [0]
evaluations: [my_scores:LengthBias/builtin]
"""
OF_OTHERS = {
    "RAY_ADDRESS": "127.0.0.1:1",
    "RAY_API_SERVER_ADDRESS": "http://127.0.0.1:1",
    "RAY_REDIS_ADDRESS": "127.0.0.1:1",
    "RAY_OVERRIDE_RESOURCES": '{"CPU": 0}',
    "RAY_JOB_CONFIG_JSON_ENV_VAR": '{"runtime_env": {"working_dir": "gcs://_ray_pkg_0.zip"}}',
    "PYTHONPATH": ":",
}
SHADOWS = ("random", "torch", "json", "logging", "numpy", "ray", "socket", "transformers")


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


@pytest.mark.xdist_group("ray")
def test_a_study_runs_whatever_its_folder_and_environment_hold(tmp_path):
    """Variables of another cluster, a long TMPDIR, modules with the names of installed ones, a class of its own."""
    folder, temporary = tmp_path / "work", tmp_path / ("t" * 120)
    (folder / "tokenizers").mkdir(parents=True)
    temporary.mkdir()
    for name in ("tokenizers/__init__", *SHADOWS):
        (folder / f"{name}.py").write_text("raise SystemExit('of the working folder')\n", encoding="utf-8")
    (code,) = (block.text for block in blocks_of(PAGE) if block.file == "my_scores.py")
    code = code.replace(
        "def score(self, embed, subject):", "def score(self, embed, subject):\n        my_words.SAID"
    )
    (folder / "my_scores.py").write_text(
        code.replace("import numpy", "import my_words\nimport numpy"), encoding="utf-8"
    )
    (folder / "my_words.py").write_text("SAID = 1\n", encoding="utf-8")
    (folder / "one.yaml").write_text(STUDY, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment = kept | OF_OTHERS | {"TMPDIR": str(temporary), "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    driver = subprocess.Popen(
        [sys.executable, "-m", "rse_study", "run", "one.yaml", "--cpus", "1"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines, ray_folders = [], set[str]()
    for line in driver.stdout:
        lines.append(line.rstrip())
        if line.endswith("started\n"):
            ray_folders |= set(ray_folders_of(driver.pid))
    assert driver.wait() == 0, "\n".join(lines)
    assert any(line.startswith("note: RAY_ADDRESS is not followed") for line in lines)
    (ray_folder,) = ray_folders
    assert ray_folder.startswith("/tmp/rse-") and not os.path.exists(ray_folder)
    assert not list(temporary.glob("rse-*"))
    with Reader(folder / "studies" / "one") as reader:
        assert (reader.cells()["status"] == "complete").all()
        assert "my_scores:LengthBias/builtin" in set(reader.evaluations()["evaluation"])


def ray_folders_of(pid):
    """Yield the folder of a driver's Ray, as its node process was told it."""
    for process in psutil.Process(pid).children():
        if process.name() == "raylet":
            (path,) = (word.split("=")[1] for word in process.cmdline() if word.startswith("--session_dir="))
            yield path.rpartition("/r/")[0]


# What Ray has no public way for does, in this version of Ray, what we use it for.


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
