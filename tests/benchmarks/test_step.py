"""Operations, memory and times of a step, at toy size."""

import json

import pytest

from benchmarks import machine, step
from benchmarks.cases import CASES
from benchmarks.plain import PlainSettings

MEASURED = pytest.mark.slow


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """What the command writes, on generated sentences."""
    folder = tmp_path_factory.mktemp("step")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RSE_STUDY_DATA", str(folder / "nothing"))
        out = folder / "step.json"
        cases = ("--cases", "N=0", "N=5", "N=5+rtd", "v_adv_cse", "dcl")
        toy = ("--sizes", "2x128", "--batch", "4", "--repeat", "2", "--busy")
        step.main([*toy, *cases, "--out", str(out)])
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rows(content):
    return {row["case"]: row for row in content["rows"]}


@MEASURED
def test_ours_and_plain_cost_what_their_structure_says(rows):
    # 12 and 4 N + 20 PT, all of them without padding and without what [CLS] pooling leaves of the last of two layers.
    ours = {case: rows[case]["in_pt"]["ours"] for case in ("N=0", "N=5")}
    assert ours["N=5"] / ours["N=0"] == pytest.approx((4 * 5 + 20) / 12, rel=0.04)
    real = 1 - rows["N=0"]["padded_share"]
    assert 12 * real / 2 < ours["N=0"] < 12 * real * 0.75
    assert rows["N=0"]["in_pt"]["plain"] == pytest.approx(12, rel=0.04)
    assert rows["N=5"]["in_pt"]["plain"] == pytest.approx(20 * 5 + 18, rel=0.04)
    # 6 P T and 2 P T; the generator's layer over the vocabulary is more than that in so narrow an encoder.
    of_ours = rows["N=5+rtd"]["in_pt"]["ours"] - rows["N=5"]["in_pt"]["ours"]
    of_plain = rows["N=5+rtd"]["in_pt"]["plain"] - rows["N=5"]["in_pt"]["plain"]
    real = 1 - rows["N=5"]["padded_share"]
    assert 8 * real <= of_ours < 10
    assert of_plain > of_ours


def test_a_case_agrees_with_its_plain_settings():
    case = CASES["N=12+rtd"]
    assert case.method["blend"]["pgd"]["num_steps"] == case.plain.num_steps == 12
    assert (case.method["lambda1"], case.method["lambda2"]) == (PlainSettings.lambda1, PlainSettings.lambda2)


def test_a_busy_machine_gives_no_times(monkeypatch):
    monkeypatch.setattr(machine, "is_quiet", lambda: False)
    options = step.parser().parse_args(["--sizes", "2x128"])
    assert step.times_of({}, options)["cpu_seconds"] == {}
    assert "load" in step.times_of({}, options)["times_not_taken"]
