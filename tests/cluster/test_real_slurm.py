"""A study under a real Slurm, from the command line of its login node: cancelled, cut short, and to its end."""

import json
import shlex
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rse_study.storage.storage import ledger_key
from tests.cluster.samples import TINY_GRID
from tests.nodes.namespaces import SHARED, Nodes
from tests.nodes.slurm import Slurm, environment, needs_slurm, running_slurm

pytestmark = [needs_slurm, pytest.mark.slow, pytest.mark.xdist_group("slurm")]

NUM_CELLS = 12  # a few seconds each: the first turn must not reach the end
PLACES = f"""
folder: {SHARED}/jobs
storage: {SHARED}/storage
shared: [{SHARED}]
head: {{cpus: 1, memory_gib: 1, price_per_hour: 0}}
workers:
  node: {{max_nodes: 2, cpus: 2, memory_gib: 3, price_per_hour: 1.5}}
limits: {{hours: 1}}
"""
OF_THE_SITE = [
    ("#SBATCH --partition=compute\n", "#SBATCH --account=lab\n"),
    ("source /shared/rse-study/venv/bin/activate\n", ""),
    ('work="/tmp/rse-', 'work="/tmp/scratch-'),
    ("inside=()\n", "inside=(env IN_A_CONTAINER=yes)\n"),
]
"""what a site changes in its copy of the template"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    folder: Path = tmp_path_factory.mktemp("shared")
    with Nodes(2, env=environment(), shared=folder) as nodes, running_slurm(nodes) as running:
        words = ["cluster", "init", "slurm", "two-nodes"]
        running.login.run(["bash", "-c", f"cd {SHARED} && python -m rse_study {shlex.join(words)}"])
        spec, template = folder / "two-nodes.yaml", folder / "two-nodes.sbatch"
        header = "\n".join(spec.read_text(encoding="utf-8").splitlines()[:4])
        spec.write_text(header + PLACES, encoding="utf-8")
        text = template.read_text(encoding="utf-8")
        for before, after in OF_THE_SITE:
            assert before in text, before
            text = text.replace(before, after)
        template.write_text(text, encoding="utf-8")
        yield running


def test_the_dry_run_that_validate_names_takes_the_rendered_script(slurm: Slurm) -> None:
    write_study(slurm, "dry")
    words = f"python -m rse_study cluster render {SHARED}/two-nodes.yaml {SHARED}/dry.yaml --out {SHARED}/job"
    slurm.login.run(words.split(), timeout=900)
    slurm.run("sbatch", "--test-only", f"{SHARED}/job/job.sbatch")
    assert "rse-dry" not in slurm.run("squeue", "--noheader", "--format=%j")


def test_a_job_that_is_cancelled_and_then_cut_short_goes_on_to_its_end_on_two_nodes(slurm: Slurm) -> None:
    """The signal that Slurm sends before the time limit is sent by hand: the limit itself would take minutes.

    It is cancelled as it starts: that cells which are complete do not run again is shown where it is cut short.
    """
    write_study(slurm, "stopped")
    assert "submitted rse-stopped-" in command(slurm, "submit", "stopped")
    assert "nothing to do" in command(slurm, "submit", "stopped")
    wait_until(lambda: "RUNNING" in slurm.run("squeue", "--noheader", "--format=%T"))
    assert "scancel" in command(slurm, "down", "stopped", "--yes")
    assert wait_until_over(slurm, "stopped")["jobs"][0]["state"] == "stopped"

    assert "this one resumes it" in command(slurm, "submit", "stopped")
    wait_until(lambda: num_of(slurm, "complete") >= 1 and num_of(slurm, "running") >= 1)
    job = status_of(slurm, "stopped")["jobs"][-1]
    slurm.run("scancel", "--batch", "--signal=USR1", job["handle"])
    wait_until(lambda: "Restarts=1" in slurm.run("scontrol", "show", "job", job["handle"]))
    committed = complete_cells(slurm, "stopped")
    assert 1 <= len(committed) < NUM_CELLS

    command(slurm, "logs", "stopped", "--follow")
    status = wait_until_over(slurm, "stopped")
    assert [each["state"] for each in status["jobs"]] == ["stopped", "complete"]
    complete = complete_cells(slurm, "stopped")
    assert len(complete) == NUM_CELLS == status["cells"]["complete"]
    assert {cell: complete[cell] for cell in committed} == committed, "what was committed ran again"
    caches = [node.disk / "tmp" / "cache" for node in slurm.nodes.all]
    assert all(any(cache.rglob("*.safetensors")) for cache in caches), "no cell ran on one of the nodes"
    log = slurm.nodes.shared / "jobs" / status["jobs"][0]["submission_id"] / "job.log"
    assert "Aborted" not in log.read_text()
    query = "SELECT SUM((strftime('%s', ended) - strftime('%s', started)) * workers * threads) FROM attempt"
    ((device_s,),) = rows(slurm, "stopped", query)
    assert status["spent"] == pytest.approx(device_s / 3600), "two nodes of 1.5 have three cores for cells"
    assert "nothing to do: stopped is complete" in command(slurm, "submit", "stopped")


def write_study(slurm: Slurm, name: str) -> None:
    assert slurm.nodes.shared is not None
    text = TINY_GRID.format(name=name, amount=24, every=12, seeds=list(range(NUM_CELLS // 2)))
    (slurm.nodes.shared / f"{name}.yaml").write_text(text, encoding="utf-8")


def command(slurm: Slurm, verb: str, study: str, *options: str) -> str:
    """Give a command of ours on the login node; what it printed."""
    words = f"python -m rse_study cluster {verb} {SHARED}/two-nodes.yaml {SHARED}/{study}.yaml --store {SHARED}/login"
    return slurm.login.run([*words.split(), *options], timeout=900).stdout


def status_of(slurm: Slurm, study: str) -> dict:
    return json.loads(command(slurm, "status", study, "--json"))


def num_of(slurm: Slurm, outcome: str, study: str = "stopped") -> int:
    """Cells with an attempt of this outcome, from the ledger's copy: asking the command costs seconds of a core."""
    try:
        query = "SELECT COUNT(DISTINCT cell) FROM attempt WHERE outcome = ?"
        return rows(slurm, study, query, outcome)[0][0]
    except sqlite3.Error:
        return 0  # it is not there yet


def wait_until_over(slurm: Slurm, study: str) -> dict:
    """Wait until no job of the study waits or runs; its status then."""
    active = {"waiting", "running"}
    wait_until(lambda: active.isdisjoint(job["state"] for job in status_of(slurm, study)["jobs"]))
    return status_of(slurm, study)


def wait_until(is_so: Callable[[], bool], seconds: float = 900.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not so within {seconds:.0f} s"
        time.sleep(3.0)


def complete_cells(slurm: Slurm, study: str) -> dict[str, list[tuple]]:
    """What the ledger holds of the cells that are complete: their attempts and every value.

    Attempts of any outcome: a driver that is killed may have lost an attempt whose worker wrote its result still, and
    the next driver adopts that.
    """
    query = """SELECT cell.identity, attempt.number, attempt.started, metric.t, metric.name, metric.value
        FROM cell JOIN attempt ON attempt.cell = cell.identity JOIN metric ON metric.cell = cell.identity
        WHERE cell.status = 'complete' ORDER BY 1, 2, 4, 5"""
    cells: dict[str, list[tuple]] = {}
    for identity, *row in rows(slurm, study, query):
        cells.setdefault(identity, []).append(tuple(row))
    return cells


def rows(slurm: Slurm, study: str, query: str, *values: str) -> list[tuple]:
    assert slurm.nodes.shared is not None
    copy = slurm.nodes.shared / "storage" / ledger_key(study)
    with closing(sqlite3.connect(copy)) as ledger:
        return ledger.execute(query, values).fetchall()


def test_a_study_whose_second_node_is_lost_goes_on_to_its_end_on_the_first(slurm: Slurm) -> None:
    """The last test of this file: the node stays away."""
    write_study(slurm, "lost")
    command(slurm, "submit", "lost")
    wait_until(lambda: num_of(slurm, "running", "lost") >= 3)
    job = status_of(slurm, "lost")["jobs"][-1]
    lines = command(slurm, "status", "lost").splitlines()
    (line,) = (one for one in lines if one.startswith("Ray's dashboard"))
    assert " rn1`, then http://127.0.0.1:8265; token: " in line
    token = slurm.login.run(["bash", "-c", line.split("`")[-2]]).stdout
    assert token.startswith("RAY_AUTH_TOKEN=") and len(token) > 60
    slurm.nodes[1].kill()
    status = wait_until_over(slurm, "lost")
    assert [each["state"] for each in status["jobs"]] == ["complete"]
    assert len(complete_cells(slurm, "lost")) == NUM_CELLS == status["cells"]["complete"]
    assert slurm.nodes.shared is not None
    log = (slurm.nodes.shared / "jobs" / job["submission_id"] / "job.log").read_text(encoding="utf-8")
    assert "srun: error" not in log
    assert list((slurm.nodes[0].disk / "tmp").glob("scratch-*")) == [], "the job left its files"
