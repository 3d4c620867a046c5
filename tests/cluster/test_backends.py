"""What other programs print of jobs, what they are told, and how their errors are said. No cluster is needed."""

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rse_study.cluster import backend, batch_backend, ray_jobs
from rse_study.cluster.backend import call, complaint
from rse_study.cluster.batch_backend import (
    KubeRayBackend,
    SlurmBackend,
    kuberay_report,
    print_log,
    slurm_reports,
)
from rse_study.cluster.job import of_study
from rse_study.cluster.ray_backend import LauncherBackend
from rse_study.cluster.ray_jobs import NoAnswer, answers, ask_ray, ray_environment, reports_at
from rse_study.errors import InputError, MissingFile
from tests import needs
from tests.cases import cases
from tests.cluster.golden_files import FOLDER
from tests.cluster.samples import edited, job_on, shipped

NOBODY = "http://127.0.0.1:9"


def ended(err):
    return subprocess.CompletedProcess([], 1, "", err)


@cases(
    ("err", "said"),
    [
        ("", "exit code 1"),
        ("first\nlast\n", "last"),
        ("Traceback\n  File\nValueError: used id\n.\n.\n", "ValueError: used id"),
        ("ray.AuthenticationError: no token\n\nEnsure that\n", "ray.AuthenticationError: no token"),
    ],
)
def test_a_complaint_is_one_line(err, said):
    assert complaint(ended(err)) == said


def test_a_program_that_does_not_end_is_given_up(monkeypatch):
    monkeypatch.setattr(backend, "SECONDS", 0.3)
    with pytest.raises(InputError, match="no answer within 0 s"):
        call([sys.executable, "-c", "import time; time.sleep(60)"], remedy="")


SLURM = """\
17|RUNNING|1795347804|1795351404|None|rse-grid-0123456789ab
16|PENDING|N/A|N/A|Resources|rse-grid-0123456789ab
15|CANCELLED by 1000|1795340000|1795343600|None|rse-grid-0123456789ab
14|TIMEOUT|1795340000|1795343600|TimeLimit|rse-grid-0123456789ab
13|COMPLETED|1795340000|1795343600|None|night|ly
"""
STATES = {"17": "running", "16": "waiting", "15": "stopped", "14": "failed", "13": "complete"}


def test_jobs_of_slurm_are_told_in_our_words():
    reports = {report.handle: report for report in slurm_reports(SLURM)}
    assert {handle: report.state for handle, report in reports.items()} == STATES
    assert (reports["17"].started, reports["17"].ended, reports["15"].seconds) == (1795347804, None, 3600)
    assert (reports["16"].reason, reports["13"].submission_id) == ("Resources", "night|ly")
    assert [report.handle for report in of_study(reports.values(), "grid")] == ["15", "14", "17", "16"]


def test_the_script_of_a_job_that_runs_is_signalled_and_one_that_waits_is_cancelled():
    commands = SlurmBackend(Path("/home"), shipped("slurm")).ending(list(slurm_reports(SLURM)), is_last=True)
    assert commands == [("scancel", "--batch", "--signal=TERM", "17"), ("scancel", "16")]


def test_what_is_written_while_we_ask_is_printed_and_a_missing_log_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(batch_backend, "LOOK_SECONDS", 0.0)
    log, answers = tmp_path / "job.log", iter([False, False, True])

    def is_over() -> bool:
        answer = next(answers)
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"asked, {answer}\n")
        return answer

    print_log(log, is_over)
    assert capsys.readouterr().out.splitlines() == ["asked, False", "asked, False", "asked, True"]
    with pytest.raises(MissingFile, match="no log: the job has written nothing"):
        print_log(tmp_path / "another.log", lambda: True)


def ray_job(**status):
    return kuberay_report({"metadata": {"name": "rse-little-0123456789ab"}, "status": status})


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
def test_jobs_of_kuberay_are_told_in_our_words(status, state, native):
    report = ray_job(**status, startTime="2026-11-22T10:00:00Z", endTime="2026-11-22T12:00:00Z")
    assert (report.state, report.native, report.seconds) == (state, native, 7200)


def test_kubectl_is_told_namespace_and_files(tmp_path):
    spec = edited(tmp_path, "kuberay", ("namespace: default", "namespace: team"))
    cluster, name = KubeRayBackend(Path("/home"), spec), "rse-little-0123456789ab"
    (apply,) = cluster.submission(job_on(spec))
    files = [f"--filename=/home/{name}/{file}.yaml" for file in ("configmap", "rayjob")]
    assert apply[:5] == ("kubectl", "--namespace=team", "apply", "--server-side", files[0])
    assert files[1] in apply
    (delete,) = cluster.ending([ray_job()], is_last=True)
    assert {f"rayjob.ray.io/{name}", f"configmap/{name}"} <= set(delete)


@needs.programs("kubectl")
def test_a_server_that_does_not_answer_is_said_in_one_line(monkeypatch, tmp_path):
    content = {"clusters": [{"name": "c", "cluster": {"server": NOBODY}}]}
    context = {"contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}
    (tmp_path / "config").write_text(json.dumps(content | context), "utf-8")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    said = "The connection to the server 127.0.0.1:9 was refused.*Install kubectl, and give it access.*"
    with pytest.raises(InputError, match=f"^kubectl: {said}$"):
        KubeRayBackend(tmp_path, shipped("kuberay")).jobs()


def test_without_a_head_rays_launcher_has_no_jobs_and_where_it_fails_nobody_knows(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    cluster = LauncherBackend(tmp_path / "home", shipped("onprem"))
    assert cluster.jobs() == [], "it was never started"
    text = (FOLDER / "onprem" / "cluster.yaml").read_text(encoding="utf-8")
    cluster.home.mkdir()
    cluster.configuration.write_text(text.replace('name: "onprem"', f"name: onprem-{tmp_path.name}"), "utf-8")
    assert cluster.jobs() == []
    cluster.configuration.write_text("cluster_name: onprem\nprovider: {type: unheard-of}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"onprem: its state is unknown: .*unheard-of"):
        cluster.jobs()


@cases(
    ("said", "num_asked"),
    [("Request failed with status code 500: No available agent to submit job", 3), ("no such job", 1)],
)
def test_a_head_without_an_agent_is_asked_again_and_what_ray_refuses_is_said_at_once(said, num_asked):
    results, commands = [ended(said), ended(said), ended("no such job")], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_jobs, "call", lambda command, **_: commands.append(command) or results.pop(0))
        patch.setattr(ray_jobs, "AGENT_PAUSE_SECONDS", 0.0)
        with pytest.raises(InputError, match="no such job"):
            ask_ray(("ray", "job", "stop", "--address", NOBODY, "job"))
    assert len(commands) == num_asked and len(set(commands)) == 1


def test_nobody_or_somebody_else_answers():
    assert not answers(NOBODY)
    with pytest.raises(NoAnswer, match=r"http://127\.0\.0\.1:9: no Ray cluster answers \(.*refused\)"):
        reports_at(NOBODY)
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever).start()
        shop = f"http://127.0.0.1:{server.server_port}"
        assert answers(shop)
        with pytest.raises(InputError, match="HTTP 501: this is not a Ray dashboard"):
            reports_at(shop)
        server.shutdown()


def test_the_environment_names_the_token(monkeypatch, tmp_path):
    own, paths = str(tmp_path / ".ray" / "auth_token"), []
    for given in ({"HOME": str(tmp_path)}, {"RAY_AUTH_TOKEN": "abc"}, {"RAY_AUTH_TOKEN_PATH": "/another"}):
        monkeypatch.setattr(os, "environ", given)
        paths.append(ray_environment().get("RAY_AUTH_TOKEN_PATH"))
    assert (paths, ray_environment()["RAY_AUTH_MODE"]) == ([own, None, "/another"], "token")
