"""The lines of docs/trackers.md that log a finished study, in a process of their own."""

import json
import subprocess
import sys

from rse_study import open_study
from tests.analysis import tabled
from tests.docs.scratch import ROOT, blocks_of

LOOK = """
import json
from mlflow import MlflowClient
client = MlflowClient("sqlite:///mlflow.db")
runs = client.search_runs([client.get_experiment_by_name("quickstart").experiment_id])
history = lambda run, name: {one.step: one.value for one in client.get_metric_history(run.info.run_id, name)}
print(json.dumps({run.info.run_name: [run.data.params, run.data.metrics, history(run, "dev")] for run in runs}))
"""


def test_a_finished_study_is_logged_to_mlflow_with_every_number(tmp_path):
    rows = {"rho = 0.0": [50.0, 51.0], "rho = 0.5": [60.0, 61.0]}
    folder = tabled.make(tmp_path / "studies" / "quickstart", rows, name="quickstart")
    (block,) = blocks_of(ROOT / "docs" / "trackers.md")
    command = [sys.executable, "-c", block.text + LOOK]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    study, logged = open_study(folder), json.loads(ended.stdout.splitlines()[-1])
    assert logged.keys() == {f"{row} seed {seed}" for row in ("rho = 0", "rho = 0.5") for seed in (0, 1)}
    for cell in study.cells.to_dict("records"):
        params, metrics, dev = logged[f"{cell['row']} seed {cell['seed']}"]
        assert (params["rho"], params["status"]) == (str(cell["rho"]), "complete")
        points = study.metrics.query("cell == @cell['identity'] and name == 'dev'")
        assert dev == dict(zip(map(str, points["t"]), points["value"], strict=True))
        scores = study.evaluations.query("subject == @cell['identity']")
        assert scores["value"].tolist() == [metrics[name] for name in scores["metric"]] != []
