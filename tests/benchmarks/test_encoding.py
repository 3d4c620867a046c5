"""Embeddings per second beside sentence-transformers, at toy size."""

import json

import pytest

from benchmarks import encoding


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoding")
    out = folder / "encoding.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RSE_STUDY_DATA", str(folder / "nothing"))
        toy = "--sizes 2x128 --limit 40 --batch 16 --repeat 2 --busy"
        encoding.main([*toy.split(), "--out", str(out)])
    return json.loads(out.read_text(encoding="utf-8"))


def test_vectors_are_those_of_sentence_transformers_and_rates_and_machine_are_written(content):
    (row,) = content["rows"]
    assert row["num_texts"] == 40
    assert 0 < row["greatest_difference"] < 1e-5
    assert {who: len(values) for who, values in row["cpu_seconds"].items()} == {"ours": 2, "library": 2}
    assert row["per_second"]["ours"]["median"] > 0
    assert row["ratio"]["median"] > 0
    assert {"load_before", "load_after", "processor"} <= content["machine"].keys()
