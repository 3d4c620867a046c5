"""A search that selects by accuracy under replayed attacks: its trials and baselines are judged by the same texts."""

from dataclasses import replace

import numpy as np
import pytest

from rse_study.data import builtin
from rse_study.evaluation.replayed import ReplayedTexts
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.on_ray.driver import run_study
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import cell_folder
from rse_study.results.reader import Reader
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("robust_accuracy")]
METRIC = "builtin-opinions/replayed/accuracy"


def shortened() -> ReplayedTexts:
    """Opinions without their last word: an attack that needs no lexicon."""
    opinions = builtin.opinions()
    clean, training = opinions.take(np.arange(30)), opinions.take(np.arange(30, 90))
    attacked = replace(clean, texts=[(text.rsplit(" ", 1)[0],) for (text,) in clean.texts])
    return ReplayedTexts(training, clean, attacked, "last word", "base")


@pytest.fixture(scope="module")
def checked(study_content):
    selection = {"dev": "builtin", "every": 1, "keep": "last"}
    replayed = {"recipe": "pwws", "labelled": "builtin"}
    base = study_content["base"] | {"selection": selection, "replayed": replayed}
    content = study_content | {"base": base, "objective": {"metric": "robust/accuracy"}}
    return checked_of(content)


@pytest.fixture(scope="module")
def ran(checked, materials, tmp_path_factory, cluster):
    """The study's folder after it ran, and the texts."""
    folder, texts = tmp_path_factory.mktemp("texts"), shortened()
    texts.save(folder)
    prints = materials.fingerprints | {"replayed_texts": texts.fingerprint}
    judged = replace(materials, replayed_texts=str(folder), fingerprints=prints)
    directory = tmp_path_factory.mktemp("studies") / "little"
    return run_study(checked, directory, lambda trial: judged, few, Listener(), address=cluster), texts


def test_its_trials_are_judged_by_the_models_they_came_to(ran):
    folder, texts = ran
    with Ledger.open(folder) as ledger:
        study, cells = ledger.study(), ledger.cells()
        last = ledger.last_points("robust/accuracy")
    assert [(cell.trial, cell.status) for cell in cells] == [(0, "complete"), (1, "complete")]
    assert study.objective.evaluation == METRIC
    for cell in cells:
        t, value = last[cell.identity]
        model = Embedder(*load_encoder(cell_folder(folder, cell.identity) / "model", "mean"))
        attacked, clean = (row.value for row in texts.score(model, ""))
        assert (t, value) == (3, attacked)
        assert 0 < value != clean


def test_baselines_are_measured_by_the_same_texts(ran, materials):
    folder, texts = ran
    with Reader(folder) as reader:
        rows = reader.evaluations()
    found = rows[rows["metric"] == METRIC].set_index("subject")
    assert set(found.index) == {"untrained", "start"}  # word overlap has no vectors
    assert set(found["fingerprint"]) == {texts.fingerprint}
    start, _ = texts.score(Embedder(*load_encoder(materials.base, "mean")), "")
    assert found.loc["start", "value"] == start.value
