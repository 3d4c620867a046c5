"""A user's own baselines in a run: measured beside the shipped ones, and again once their content changes."""

import sys
from pathlib import Path

import numpy as np
import pytest

from rse_study.frames.study_results import evaluations_frame
from rse_study.on_ray.driver import run_study
from rse_study.on_ray.stored import MaterialsCache, Payloads, StudyFiles
from rse_study.on_ray.workers.workplace import workplace
from rse_study.results.reader import Reader
from rse_study.results.records import WITHDRAWN
from rse_study.storage.storage import Storage
from rse_study.study.checking.validation import check_content
from rse_study.study.definition.parts import Resources
from tests.on_ray.listener import Listener
from tests.on_ray.world import few, grid_of

LENGTHS = (
    "class Lengths:\n    def __call__(self, texts):\n        return [[len(text), 1] for text in texts]\n"
)
OWN = {"GloVe": {"vectors": "v.txt"}, "a = <b>": {"class": "lengths_of_texts:Lengths"}}


@pytest.fixture
def checked(study_content, tmp_path):
    (tmp_path / "v.txt").write_text("the 1 0\na 0 1\nis 1 1\nto 2 1\n", encoding="utf-8")
    (tmp_path / "lengths_of_texts.py").write_text(LENGTHS, encoding="utf-8")
    content = grid_of(
        study_content, grid={"rows": {"as it is": {}}}, baselines=OWN, evaluations=["builtin/test"]
    )
    yield check_content(content, where=str(tmp_path / "little.yaml"))
    sys.modules.pop("lengths_of_texts", None)


@pytest.mark.xdist_group("ray")
def test_they_are_measured_as_shipped_ones_and_again_once_their_content_changes(
    checked, tmp_path, materials, cluster
):
    def run():
        heard = Listener()
        run_study(checked, tmp_path / "little", lambda trial: materials, few, heard, address=cluster)
        with Reader(tmp_path / "little") as reader:
            rows, shown, labels = (
                reader.ledger.evaluations(),
                evaluations_frame(reader),
                reader.study().baselines,
            )
            words = [*reader.events().query("kind == 'withdrawn'")["text"]]
        own = shown[shown["row"].isin(list(OWN))].drop_duplicates(["row", "evaluation"])
        assert sorted(zip(own["row"], own["evaluation"], strict=True)) == [
            (name, evaluation) for name in sorted(OWN) for evaluation in ("builtin/dev", "builtin/test")
        ]
        assert set(own["kind"]) == {"baseline"} and own["value"].notna().all()
        withdrawn = {row.subject for row in rows if row.fingerprint == WITHDRAWN}
        return {name: subject for subject, name in labels.items() if name in OWN}, withdrawn, words

    first, none, _ = run()
    assert none == set()
    (tmp_path / "v.txt").write_text("the 1 0\na 0 2\nis 1 1\n", encoding="utf-8")
    now, withdrawn, words = run()
    assert now["a = <b>"] == first["a = <b>"] and now["GloVe"] != first["GloVe"]
    assert withdrawn == {first["GloVe"]} and first["GloVe"] in words[-1]


def test_a_worker_of_another_disk_has_a_class_and_the_folder_of_an_encoder(
    checked, tmp_path, materials, monkeypatch
):
    base = checked.study.base
    storage = Storage(str(tmp_path / "storage"), 0.0)
    storage.require()
    cache = MaterialsCache(lambda trial: materials)
    own = checked.study.own_baselines
    encoder = own["GloVe"].model_copy(update={"encoder": str(materials.base), "vectors": ""})
    study = checked.study.model_copy(update={"baselines": ({"E5": encoder, "by class": own["a = <b>"]},)})
    cache.find_own(study, base, tmp_path)
    payloads = Payloads(StudyFiles(tmp_path / "driver", storage, tmp_path / "cache"), cache, "nobody")
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path / "node"))
    found = {}
    for subject, one in cache.own.items():
        payload = payloads.of_baseline(subject, one, Resources())
        with workplace(payload) as here:
            found[payload.baseline.partition(":")[0]] = payload.trial, here.materials
    assert Path(found["E5"][1].base).is_relative_to(tmp_path / "node")
    assert (Path(found["E5"][1].base) / "config.json").is_file()
    (tmp_path / "lengths_of_texts.py").unlink()
    sys.modules.pop("lengths_of_texts", None)
    by_class, theirs = found["by class"]
    np.testing.assert_array_equal(by_class.embed(theirs, "cpu")(["abc"]), [[3, 1]])
