"""What kubectl is told, what it prints of RayJobs, and how its errors are read aloud. No server is needed."""

import json
from pathlib import Path

import pytest

from rse_study.cluster.job import Job, RenderedFile, Submission
from rse_study.cluster.kuberay_backend import KubeRayBackend, report_of
from rse_study.cluster.wheel import Wheel
from rse_study.errors import InputError
from tests import needs
from tests.cases import cases

NAME = "rse-grid-0123456789ab"
BACKEND = KubeRayBackend(Path("/home/clusters"), "team")


def ray_job(**status):
    return {"metadata": {"name": NAME}, "spec": {"jobId": NAME}, "status": status}


@cases(
    ("status", "state", "native"),
    [
        ({}, "waiting", "new"),
        ({"jobDeploymentStatus": "Initializing"}, "waiting", "Initializing"),
        ({"jobDeploymentStatus": "Suspended", "jobStatus": ""}, "waiting", "Suspended"),
        ({"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}, "running", "RUNNING"),
        ({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "complete", "SUCCEEDED"),
        ({"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, "stopped", "STOPPED"),
        ({"jobDeploymentStatus": "Failed", "jobStatus": "RUNNING"}, "failed", "RUNNING"),
        ({"jobDeploymentStatus": "Failed", "reason": "DeadlineExceeded"}, "failed", "Failed"),
    ],
)
def test_states_are_said_in_our_words(status, state, native):
    report = report_of(ray_job(**status))
    assert (report.state, report.native) == (state, native)


def test_times_are_read():
    report = report_of(ray_job(startTime="2026-11-22T10:00:00Z", endTime="2026-11-22T12:00:00Z"))
    assert report.hours == 2.0


def test_commands_name_namespace_and_files(tmp_path):
    job = Job("grid", NAME, "", "", (), Wheel("w.whl", b""))
    files = (RenderedFile("configmap.yaml", ""), RenderedFile("rayjob.yaml", ""))
    (apply,) = BACKEND.submission(Submission(job, files, tmp_path))
    assert apply[:3] == ("kubectl", "--namespace=team", "apply")
    assert [word for word in apply if word.startswith("--filename")] == [
        f"--filename={tmp_path}/configmap.yaml",
        f"--filename={tmp_path}/rayjob.yaml",
    ]
    (delete,) = BACKEND.ending([report_of(ray_job())], is_last=True)
    assert {f"rayjob.ray.io/{NAME}", f"configmap/{NAME}"} <= set(delete)


@needs.programs("kubectl")
def test_a_server_that_does_not_answer_is_said_in_one_line(monkeypatch, tmp_path):
    config = tmp_path / "config"
    cluster = {"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}
    context = {"name": "c", "context": {"cluster": "c", "user": ""}}
    config.write_text(
        json.dumps({"clusters": [cluster], "contexts": [context], "current-context": "c"}), "utf-8"
    )
    monkeypatch.setenv("KUBECONFIG", str(config))
    with pytest.raises(InputError) as error:
        BACKEND.jobs()
    assert "The connection to the server 127.0.0.1:9 was refused" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_machine_without_kubectl_is_told_to_install_it(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match=r"no program 'kubectl'.*Install kubectl"):
        BACKEND.jobs()
