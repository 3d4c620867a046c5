"""`replay` and `export`: a cell run again, and its model handed on."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelCard

from rse_study.assets import prepare
from rse_study.cli.models import find_cell
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, read_result
from rse_study.results.files.schema import cell_folder
from rse_study.results.reader import Reader
from rse_study.results.records import CellRecord
from rse_study.study.definition.reading import build
from rse_study.training.loop import train_in_process
from rse_study.training.materials import identity_of
from rse_study.training.trial import Trial
from tests.analysis import gridded, tabled
from tests.cli.a_study import SEARCH, run, start
from tests.cli.a_study import cell_of as unlike
from tests.hub import ask_only, serve
from tests.results.world import score_of

CONFIG = {
    "corpus": {"source": {"kind": "builtin", "num_sentences": 200}},
    "method": {"lambda2": 0, "blend": {"pgd": {"num_steps": 1}, "fgsm": {"num_steps": 1}}},
    "budget": {"unit": "steps", "amount": 4},
    "batch_size": 8,
    "selection": {"dev": "builtin", "every": 2},
    "report_every": 2,
}


@pytest.fixture(scope="module")
def trained(models_folder, tmp_path_factory):
    """A cell, its materials' cache, its result."""
    root = tmp_path_factory.mktemp("trained")
    encoder = {"name": str(models_folder / "encoder"), "pooling": "mean"}
    trial = build(Trial, CONFIG | {"encoder": encoder}, where="trial")
    materials = prepare(trial, root / "cache", root / "data")
    train_in_process(trial, 0, materials, root / "complete")
    cell = CellRecord(
        identity=identity_of(trial, 0, materials), trial=0, seed=0, config=trial.model_dump(mode="json")
    )
    return root, cell, read_result(root / "complete")


@pytest.fixture
def recorded(trained, tmp_path, rse, monkeypatch):
    """Record a result as that of trial 0, and give back the study's folder."""
    root, cell, *_ = trained
    monkeypatch.setenv("RSE_STUDY_CACHE", str(root / "cache"))

    def record(result):
        with Ledger.open(tmp_path / "studies" / "little") as ledger:
            ledger.freeze(SEARCH)
            start(ledger, cell)
            ledger.record_result(result)
        return tmp_path / "studies" / "little"

    return record


def test_a_cell_of_an_archive_is_replayed_by_a_stranger(rse, trained, recorded):
    _, cell, complete = trained
    recorded(complete)
    assert rse("archive", "little").out == "little.tar.xz\n"
    ended = rse("replay", "little.tar.xz", cell.identity[:8], "--store", "elsewhere")
    assert (ended.code, ended.err) == (0, "")
    assert "bit-equal" in ended.out


def test_a_finished_cell_is_bit_equal(rse, trained, recorded):
    _, cell, complete = trained
    folder = recorded(complete)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    ended = rse("replay", "little", cell.identity[:8])
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[-1] == f"trial 0: bit-equal: 3 points, {count(complete)} numbers"
    assert {path: path.read_bytes() for path in before} == before
    assert list(folder.glob("cells/*/*/")) == []


def test_a_number_that_was_touched_is_found(rse, trained, recorded):
    *_, complete = trained
    dev = complete.history[-1].metrics["dev"]
    recorded(touched(complete, dev=dev + 1e-12))
    ended = rse("replay", "little", "0")
    assert ended.code == 1
    assert "trial 0: not equal: 1 difference in 3 points" in ended.out
    assert f"step 4, dev: {dev + 1e-12!r} on record, {dev!r} again" in ended.out


def test_other_materials_are_named(rse, trained, recorded):
    *_, complete = trained
    materials = complete.provenance["materials"] | {"corpus": "f" * 64}
    recorded(changed(complete, materials=materials))
    ended = rse("replay", "little", "0")
    assert ended.code == 2
    assert "trial 0 of studies/little: other materials: corpus was ffffffffffff and is " in ended.err
    assert "base" not in ended.err
    assert "Restore the files of that time" in ended.err


def test_a_cell_of_two_workers_is_refused(rse, trained, recorded):
    recorded(changed(trained[-1], workers=2))
    ended = rse("replay", "little", "0")
    assert ended.code == 2
    assert (
        "trial 0 cannot be replayed: 2 workers trained it, and a replay is one process. Run its study in"
        in ended.err
    )


@pytest.mark.parametrize(
    ("moved", "code", "said"),
    [
        (4e-7, 0, "trial 0: equal to 1e-6 (other CPU kernels: "),
        (1e-3, 3, "trial 0: not equal to 1e-6: 1 difference beyond it in 3 points"),
    ],
)
def test_on_another_kind_of_machine_near_is_enough_and_far_no_contradiction(
    rse, trained, recorded, moved, code, said
):
    *_, complete = trained
    loss = complete.history[-1].metrics["loss"] * (1 + moved)
    recorded(changed(touched(complete, loss=loss), kernels="MMX"))
    ended = rse("replay", "little", "0")
    assert ended.code == code
    assert said in ended.out
    assert ("contradicts nothing" in ended.out) == (code == 3)
    assert (f"step 4, loss: {loss!r} on record" in ended.out) == (code == 3)


def test_a_cell_of_other_kernels_is_near(rse, trained, tmp_path, monkeypatch):
    """It runs in a process whose torch takes its plainest kernels."""
    root, cell, *_ = trained
    monkeypatch.setenv("RSE_STUDY_CACHE", str(root / "cache"))
    trial = build(
        Trial, CONFIG | {"method": {"preset": "simcse"}, "encoder": cell.config["encoder"]}, where="trial"
    )
    file, out = tmp_path / "trial.yaml", tmp_path / "elsewhere"
    file.write_text(json.dumps(trial.model_dump(mode="json", exclude_unset=True)))
    command = [sys.executable, "-m", "rse_study", "train", str(file), "--out", str(out)]
    subprocess.run(command, env=os.environ | {"ATEN_CPU_CAPABILITY": "default"}, check=True)
    recorded, ours = read_result(out), torch.backends.cpu.get_cpu_capability()
    if recorded.provenance["kernels"] == ours:
        pytest.skip("this processor has one set of kernels")
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
        start(ledger, cell.model_copy(update={"identity": recorded.identity, "config": recorded.config}))
        ledger.record_result(recorded)
    ended = rse("replay", "little", "0")
    assert ended.code == 0, ended
    assert f"(other CPU kernels: {ours} here, {recorded.provenance['kernels']} there)" in ended.out


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            "7",
            "no cell '7': a trial's number, TRIAL/SEED, or the first 6 or more digits of an identity. Cells: -1/1 (",
        ),
        ("1/9", "no cell '1/9'"),
        ("0000", "no cell '0000'"),
        ("-1", "'-1' names 2 cells"),
        ("0000000", "'0000000' names 5 cells"),
        ("1", "trial 1 cannot be replayed: it is complete; there is no result to compare with"),
        ("3", "trial 3 cannot be replayed: it is lost: worker killed; there is no result"),
    ],
)
def test_a_cell_that_cannot_be_meant_is_explained(rse, tmp_path, wanted, said):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
        run(ledger, unlike(1), 50.0)  # its result names no machine
        run(ledger, unlike(2), 60.0)
        for seed in (1, 2):
            run(ledger, unlike(-1, seed, stage="confirm"), 60.0)
        start(ledger, unlike(3))
        ledger.fail(unlike(3).identity, "worker killed")
    ended = rse("replay", "little", "--", wanted)
    assert ended.code == 2, ended
    assert said in ended.err


def test_of_a_cell_and_a_retired_one_the_newer_is_meant(tmp_path):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(SEARCH.model_copy(update={"kind": "grid"}))
        old, new = unlike(1, stage="grid"), unlike(1, stage="grid").model_copy(update={"identity": "e" * 64})
        for cell in (old, new):
            ledger.retire_others({cell.identity}, "grid")
            run(ledger, cell, 50.0)
    with Reader(tmp_path) as reader:
        cells = reader.cells(retired=True)
    assert find_cell(cells, "1", tmp_path)["identity"] == new.identity
    assert find_cell(cells, old.identity[:12], tmp_path)["identity"] == old.identity


def test_a_trials_number_alone_means_the_search(tmp_path):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(SEARCH)
        run(ledger, unlike(2), 60.0)
        run(ledger, unlike(2, 1, stage="confirm"), 60.0)
    with Reader(tmp_path) as reader:
        cells = reader.cells(retired=True)
    assert [find_cell(cells, wanted, tmp_path)["seed"] for wanted in ("2", "2/1")] == [0, 1]


def touched(result, **metrics):
    """The result with other numbers at its last point."""
    *others, last = result.history
    history = (*others, Point(t=last.t, metrics=last.metrics | metrics))
    return result.model_copy(update={"history": history})


def changed(result, **provenance):
    return result.model_copy(update={"provenance": result.provenance | provenance})


def count(result):
    return sum(len(point.metrics) for point in result.history)


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        ("best", "trial best kept no model"),
        ("0", "kept no model"),
        ("0/7", "no cell '0/7'"),
    ],
)
def test_a_trial_without_a_model_cannot_be_exported(rse, ran, trial, said):
    ended = rse("export", "little", "out", "--trial", trial)
    assert ended.code == 2
    assert said in ended.err


@pytest.fixture
def exportable(trained, recorded):
    """A study whose one cell kept its model, with three seeds of its row."""
    root, cell, complete = trained
    folder = recorded(complete)
    shutil.copytree(root / "complete", cell_folder(folder, cell.identity), dirs_exist_ok=True)
    with Ledger.open(folder) as ledger:
        for seed, value in enumerate((61.5, 62.5, 63.5)):
            other = cell if seed == 0 else cell.model_copy(update={"seed": seed, "identity": f"{seed}" * 64})
            if seed:
                start(ledger, other)
                ledger.record_result(complete.model_copy(update={"identity": other.identity, "seed": seed}))
            ledger.record_evaluations([score_of(other.identity, value)])
    return folder


def test_an_export_has_a_card_with_scores_intervals_and_origin_and_its_study(rse, trained, exportable):
    ended = rse("export", "little", "out", "--trial", "0/0")
    assert (ended.code, ended.err) == (0, "")
    card = Path("out/README.md").read_text()
    for words in (
        "---\n",
        "library_name: sentence-transformers",
        "language: en",
        "| pairs/test | 61.5 | 62.5 | 60.02 to 64.98 | 3 of 3 |",
        "study 'little', revision 1",
        '"unit": "steps"',
    ):
        assert words in card, words
    kept = ModelCard(card).data.eval_results[0]
    assert (kept.metric_type, kept.metric_value) == ("dev/kept", trained[2].final["dev/kept"])
    (measured,) = [one for one in ModelCard(card).data.eval_results if one.dataset_name == "pairs/test"]
    assert (measured.metric_type, measured.metric_value) == ("pairs/test/all", 61.5)
    assert measured.metric_args["seeds"] == [0, 1, 2]
    assert measured.metric_args["interval_95"] == pytest.approx([60.016, 64.984], abs=1e-3)
    assert sorted(file.name for file in Path("out/study").iterdir()) == ["little.tar.xz", "little.yaml"]
    assert rse("unpack", "out/study/little.tar.xz", "--store", "theirs").code == 0


def test_an_export_is_pushed_whole_and_in_private_to_what_is_new_alone(
    rse, exportable, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    arguments = ("export", "little", "--trial", "0/0", "--push", "ours/robust")
    with serve(tmp_path / "hub") as server:
        ask_only(server, tmp_path / "cache", monkeypatch)
        drafted = rse(*arguments, "draft", "--dry-run")
        assert drafted.out.splitlines()[1] == "not pushed: draft would become ours/robust (private)"
        assert not server.asked
        ended = rse(*arguments)
        assert ended.code == 0, ended.err
        assert ended.out.splitlines()[1] == f"{server.address}/ours/robust (private)"
        assert server.private == {"ours/robust": True}
        assert {*server.tokens} == {"Bearer hf_secret"}
        again = rse(*arguments, "other")
    there = tmp_path / "hub" / "models" / "ours" / "robust"
    sent, written = ({str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
                     for folder in (there, Path("robust")))  # fmt: skip
    assert sent == written
    assert again.code == 2
    assert "ours/robust: holds" in again.err
    assert "hf_secret" not in ended.out + again.err + "".join(map(str, sent.values()))


@pytest.mark.parametrize(
    ("name", "token", "said"),
    [
        ("robust", "hf_x", "is no ORG/NAME of the hub"),
        ("ours/a b", "hf_x", "ORG/NAME"),
        ("ours/robust", "", "there is no token for the hub. Run `hf auth login` or set HF_TOKEN"),
        ("", "hf_x", "--dry-run: says how to push. Add --push ORG/NAME, or leave it out"),
    ],
)
def test_a_push_that_cannot_be_is_refused_before_anything_is_written(
    rse, exportable, monkeypatch, name, token, said
):
    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    pushed = ("--push", name) if name else ("--dry-run",)
    ended = rse("export", "little", "out", "--trial", "0/0", *pushed)
    assert ended.code == 2
    assert said in ended.err
    assert not Path("out").exists()


@pytest.mark.parametrize("directory", ["file", "file/x"])
def test_an_export_that_cannot_be_written_is_refused(rse, models_folder, tmp_path, directory):
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell" / "model").symlink_to(models_folder / "encoder")
    (tmp_path / "file").write_text("")
    ended = rse("export", "cell", directory)
    assert ended.code == 2
    assert f"DIR {directory}: " in ended.err
    assert "Name another folder" in ended.err


def test_a_grid_says_which_cell_to_name(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "parts") as ledger:
        gridded.grid(ledger)
    ended = rse("export", "parts", "out")
    assert ended.code == 2
    assert ended.err == (
        "studies/parts: --trial best: a grid has no best trial. Name a cell, TRIAL/SEED: "
        "--trial 3/0 is base, seed 0, the row with the best mean (75.50)\n"
    )


def test_a_grid_that_has_not_ended_says_so(rse, tmp_path):
    tabled.make(tmp_path / "studies" / "begun", {"SimCSE": (tabled.PLANNED, tabled.RUNNING)})
    ended = rse("export", "begun", "out")
    assert ended.code == 2
    assert "no cell is complete yet" in ended.err
