"""`train`, `evaluate` and `export` as a user types them, with a folder of a user's as encoder.

The first command is a process of its own; a new one takes seconds to start, so the others run in this one.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from rse_study.cli.app import app
from rse_study.data import builtin
from rse_study.evaluation.sts import SEVEN, evaluate_sts
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.results.files.result_file import read_result
from tests.training.world import World

pytestmark = pytest.mark.xdist_group("end_to_end")  # what the fixtures made is used by all
ROOT = Path(__file__).parents[2]
TRIAL = """\
encoder: {{name: {base}, pooling: mean}}
corpus: {{source: {{kind: builtin, num_sentences: 120}}}}
method: {{lambda2: 0}}
optimizer: {{lr: 1e-3}}
budget: {{unit: steps, amount: 3}}
selection: {{dev: builtin}}
batch_size: 16
max_length: 16
"""
TEXTS = ["the nurse sold the lamp", "it was the farmer who bought a horse at dawn", ""]
TEXTS += TEXTS[:1]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def settings(home):
    """The environment of all commands: their own cache and an empty data folder."""
    (home / "data").mkdir()
    folders = {"RSE_STUDY_CACHE": str(home / "cache"), "RSE_STUDY_DATA": str(home / "data")}
    return folders | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def process(home, settings):
    """Run `rse-study ...` in a folder and a process of its own."""

    def process(*arguments):
        command = [sys.executable, "-c", "from rse_study.cli import main; main()", *map(str, arguments)]
        environment = {**os.environ, **settings}
        return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)

    return process


@pytest.fixture
def rse(home, settings, monkeypatch, capsys):
    """Run `rse-study ...` in that folder, in this process."""
    monkeypatch.chdir(home)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    def rse(*arguments):
        with pytest.raises(SystemExit) as ended:
            app(list(map(str, arguments)), prog_name="rse-study")
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), said.out, said.err)

    return rse


@pytest.fixture
def refusal(rse):
    """What `rse-study ...` says where it refuses."""

    def refusal(*arguments):
        ended = rse(*arguments)
        assert ended.returncode == 2
        return ended.stderr

    return refusal


@pytest.fixture(scope="module")
def trained(process, home):
    """The first run."""
    base = World(home, builtin.corpus(0, 120)).materials().base
    (home / "mine.yaml").write_text(TRIAL.format(base=base))
    return process("train", "mine.yaml", "--out", "run")


@pytest.fixture(scope="module")
def run_folder(trained, home):
    assert trained.returncode == 0, trained.stderr
    return home / "run"


def test_a_run_shows_the_baselines_before_and_after(trained, home):
    assert trained.returncode == 0, trained.stderr
    assert "Traceback" not in trained.stderr
    lines = trained.stdout.splitlines()
    assert lines[0].startswith("corpus: 120 sentences")
    for label in ("token overlap", "untrained encoder"):
        assert [line for line in lines if re.fullmatch(rf"\S+ dev, {label}: -?\d+\.\d\d", line)], label
    number = r"-?\d+\.\d\d"
    summary = rf"\S+ dev, Spearman x100: ({number}) before, ({number}) after 3 steps"
    (found,) = [match.groups() for line in lines if (match := re.fullmatch(summary, line))]
    history = read_result(home / "run").history
    assert found == (f"{history[0].metrics['dev']:.2f}", f"{history[-1].metrics['dev']:.2f}")
    base = load_encoder(home / "base-0.1", "mean")
    (score, *_) = evaluate_sts(Embedder(*base), [builtin.graded_pairs("dev")])
    assert found[0] == f"{score.value:.2f}"
    assert lines[-1] == "model and result: run"


def test_the_same_command_again_trains_nothing_and_another_seed_is_refused(rse, refusal, run_folder, trained):
    def files():
        return {path: path.stat().st_mtime_ns for path in run_folder.rglob("*") if path.is_file()}

    before = files()
    assert run_folder / "result.json" in before
    again = rse("train", "mine.yaml", "--out", "run")
    assert again.returncode == 0, again.stderr
    assert files() == before
    assert "after 3 steps" in trained.stdout
    assert "token overlap" in trained.stdout
    assert "step" not in again.stderr
    assert "token overlap" not in again.stdout  # nothing is measured again either
    assert trained.stdout.splitlines()[-2:] == again.stdout.splitlines()[-2:]
    said = refusal("train", "mine.yaml", "--out", "run", "--seed", "1")
    assert "another configuration's" in said and "Traceback" not in said
    assert files() == before


def test_evaluate_says_what_is_absent(rse, refusal, run_folder, home):
    assert refusal("evaluate", "run").startswith(f"{home / 'data'}: no STS set is here")
    pairs, folder = builtin.graded_pairs("dev"), home / "some" / "sts" / "STSBenchmark" / "orig"
    folder.mkdir(parents=True)
    rows = zip(pairs.gold, pairs.first, pairs.second, strict=True)
    (folder / "sts-dev.csv").write_text("".join(f"g\tf\ty\ti\t{gold}\t{a}\t{b}\n" for gold, a, b in rows))
    some = rse("evaluate", "run", "--data", home / "some")
    assert some.returncode == 0, some.stderr
    absent = [line for line in some.stdout.splitlines() if line.endswith("absent")]
    assert {line.removesuffix("absent").strip() for line in absent} == {f"{name} test" for name in SEVEN}
    result = json.loads((run_folder / "result.json").read_text())["result"]
    kept = result["final"]["dev/kept"]
    assert re.search(rf"STS-B dev +{kept:.2f} +{kept:.2f} +{kept:.2f} +{len(pairs)}", some.stdout)


def test_an_export_gives_sentence_transformers_equal_vectors(rse, refusal, run_folder, home):
    exported = rse("export", "run", "out")
    assert exported.returncode == 0, exported.stderr
    assert exported.stdout == "out (mean pooling, from run)\n"
    expected = Embedder(*load_encoder(run_folder / "model"))(TEXTS)
    found = SentenceTransformer(str(home / "out"), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.array_equal(found[0], found[3])
    assert np.abs(found[0] - found[1]).max() > 1e-3
    assert "something here already" in refusal("export", "run", "out")
