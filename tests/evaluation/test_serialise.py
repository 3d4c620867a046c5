"""Evaluations as files: each kind comes back with its data, its name and its scores."""

import json
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.builtin import graded_pairs, opinions
from rse_study.data.labelled import Labelled
from rse_study.evaluation.evaluations import measure, score_all
from rse_study.evaluation.geometry import AlignmentUniformity
from rse_study.evaluation.invariance import Invariance
from rse_study.evaluation.registry import EVALUATIONS
from rse_study.evaluation.serialise import FILE, read_stored, store
from rse_study.evaluation.sts import Similarity
from rse_study.evaluation.transfer import Transfer
from tests.cases import cases
from tests.evaluation.contract import by_letters, check_registered

DEV = graded_pairs("dev")
HALVES = replace(DEV, subsets={"first": slice(0, 150), "second": slice(150, 400)})
FEW = opinions().take(np.arange(30))
TOGETHER = [(one, other) for (one,), (other,) in zip(FEW.texts, FEW.texts[::-1], strict=True)]
PAIRS = Labelled("MRPC", "train", TOGETHER, FEW.labels, ("no", "é"), 3)
KINDS = [
    Similarity(HALVES),
    AlignmentUniformity(DEV),
    Transfer((replace(FEW, split="all"),), "fast"),
    Transfer((PAIRS, replace(PAIRS, split="test")), "fast"),
    Invariance("toy", "test", DEV.first[:9], {"upper_case": [text.upper() for text in DEV.first[:9]]}),
]


@pytest.mark.parametrize("evaluation", KINDS, ids=lambda one: f"{type(one).__name__} {one.name}")
def test_it_keeps_the_contract_and_is_what_was_stored(evaluation):
    check_registered(evaluation)


KEYS = ["Similarity", "Sphere", "Transfer", "Transfer", "Steadiness"]


@cases(("evaluation", "key"), [*zip(KINDS, KEYS, strict=True)])
def test_keys_are_those_of_assets_made_long_ago(evaluation, key, tmp_path):
    """They stand in folders of assets: a class may be renamed, its key stays."""
    store(evaluation, tmp_path)
    content = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    assert content["kind"] == key
    assert EVALUATIONS.get(key).load() is type(evaluation)


def test_no_text_is_lost_on_the_way(tmp_path):
    odd = Labelled("CR", "all", [("naïve “quote”\n\u2028",), ("",)], np.array([0, 1]), ("bad", "good"), 7)
    store(Transfer((odd,), "full"), tmp_path)
    (again,) = read_stored(tmp_path).task
    assert (again.texts, again.classes, again.num_unlabelled) == (odd.texts, odd.classes, 7)
    assert again.labels.dtype == np.int64
    assert "naïve" in (tmp_path / FILE).read_text(encoding="utf-8")


def test_figures_are_called_as_rows_are_and_hang_on_nothing_else():
    sphere, similarity = AlignmentUniformity(DEV), Similarity(HALVES)
    both = measure(by_letters, [similarity, sphere])
    assert both == measure(by_letters, [similarity]) | measure(by_letters, [sphere])
    assert both == {row.metric: row.value for row in score_all(by_letters, [sphere, similarity], "me")}
    assert {"builtin/geometry/alignment", "builtin/dev/wmean"} < set(both)
    assert measure(by_letters, []) == {}
