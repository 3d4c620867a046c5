"""`plan` tells the hours of the shipped studies on MiniLM within a factor."""

import pytest

from tests.benchmarks import plan_minilm


@pytest.mark.slow
def test_a_plan_is_within_a_factor_of_what_the_studies_on_minilm_took(data_dir, monkeypatch):
    monkeypatch.setenv("RSE_STUDY_DATA", str(data_dir))
    found = plan_minilm.measured()
    assert len(found) == 7
    for name, (_, mid, _, taken) in found.items():
        assert 1 / plan_minilm.FACTOR <= mid / taken <= plan_minilm.FACTOR, name
