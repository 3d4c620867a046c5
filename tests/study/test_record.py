from dataclasses import replace

import pytest

from rse_study.data.builtin import graded_pairs, opinions
from rse_study.data.labelled import joined
from rse_study.evaluation.replayed import ReplayedPairs, ReplayedTexts
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import apply_overrides, build
from rse_study.study.record import study_record
from tests.cases import cases
from tests.study.no_search import NO_SEARCH

GRID = "grid={axes: {beta: [1e-3, 1e-2], N: {int: [1, 3], into: [pgd.num_steps, fgsm.num_steps]}}, rows: {a: {rho: 0}}}"


@pytest.fixture
def record_of(joint):
    dev = graded_pairs("dev")

    def record(*overrides):
        content = joint()
        apply_overrides(content, overrides)
        return study_record(check_study(build(Study, content, where="x.yaml"), where="x.yaml"), dev)

    return record


def test_a_search_is_recorded_with_its_stages_and_not_where_it_runs(record_of):
    record = record_of()
    assert (record.kind, record.num_trials, record.rungs) == ("search", 16, (15, 30))
    assert record.num_cells == 16 + 2 * 2  # best and base, two seeds each
    assert record.evaluations == ("builtin/test",)
    assert record.objective.evaluation == "builtin/dev/all"
    assert {axis.name: axis.kind for axis in record.axes}["N"] == "int"
    resolved = record_of("allowance={price_per_hour: 3}").resolved
    assert not {"resources", "budget", "allowance", "grid"} & set(resolved)
    assert "resources" not in resolved["confirm"]
    assert resolved["base"]["method"]["lambda1"] == 1 / 128
    assert resolved["base"]["report_every"] == 10  # defaults are written out


@pytest.mark.parametrize(
    ("objective", "label", "direction"),
    [
        ("{metric: robust/spearman}", "builtin dev under pwws, Spearman x100", "maximize"),
        ("{metric: robust/drift, direction: minimize}", "builtin dev under pwws, drift x100", "minimize"),
        ("{metric: robust/accuracy}", "builtin-opinions under pwws, accuracy x100", "maximize"),
    ],
)
def test_an_objective_under_attack_is_what_baselines_are_measured_by(record_of, objective, label, direction):
    replayed = "base.replayed={recipe: pwws, labelled: builtin}"
    found = record_of(replayed, f"objective={objective}").objective
    assert (found.label, found.direction) == (label, direction)
    pairs = graded_pairs("dev")
    texts = opinions()
    measures = (
        *ReplayedPairs(pairs, pairs, "pwws", "base").measures,
        *ReplayedTexts(texts, texts, texts, "pwws", "base").measures,
    )
    assert {measure.metric: measure.direction for measure in measures}[found.evaluation] == direction


@cases(
    ("overrides", "sets", "label", "evaluation"),
    [
        ([], ("builtin",), "builtin dev, Spearman x100", "builtin/dev/all"),
        (
            ["objective.metric=dev/kept"],
            ("builtin",),
            "builtin dev of the kept checkpoint, Spearman x100",
            "builtin/dev/all",
        ),
        ([], ("STS-B", "SICK-R"), "mean of STS-B and SICK-R dev, Spearman x100", "STS-B+SICK-R/dev/mean"),
        (
            ["base.replayed.recipe=pwws", "objective.metric=robust/spearman"],
            ("STS-B", "SICK-R"),
            "STS-B dev under pwws, Spearman x100",  # the first is attacked
            "STS-B/replayed/spearman",
        ),
    ],
)
def test_an_objective_on_dev_says_which_sets_and_which_checkpoint(joint, overrides, sets, label, evaluation):
    content, pairs = joint(), graded_pairs("dev")
    apply_overrides(content, [*NO_SEARCH, GRID, *overrides])
    checked = check_study(build(Study, content, where="x.yaml"), where="x.yaml")
    dev = joined([replace(pairs, name=name) for name in sets], "dev")
    objective = study_record(checked, dev).objective
    assert (objective.label, objective.evaluation) == (label, evaluation)


@cases(
    ("overrides", "num_cells"),
    [
        (["confirm=null"], 16),
        (["confirm.baseline=none"], 18),
        (["confirm={num_best: 3, seeds: [4, 5, 6]}"], 28),
    ],
)
def test_confirmation_is_counted(record_of, overrides, num_cells):
    assert record_of(*overrides).num_cells == num_cells


def test_a_grid_is_recorded_with_its_values_and_resolves_to_nothing_of_a_search(record_of):
    record = record_of(*NO_SEARCH, GRID, "seeds=[0, 1, 2]")
    assert (record.kind, record.num_trials, record.num_cells, record.rungs) == ("grid", 7, 21, ())
    expected = [("beta", "choice", (1e-3, 1e-2)), ("N", "choice", (1, 2, 3))]
    assert [(axis.name, axis.kind, axis.choices) for axis in record.axes] == expected
    assert record.headings == ("beta", "N")
    resolved = record_of(*NO_SEARCH, GRID).resolved
    assert not {"search", "num_trials", "sampler", "search_seed", "early_stopping", "confirm"} & set(resolved)
    assert resolved["grid"]["rows"] == {"a": {"rho": 0}}
