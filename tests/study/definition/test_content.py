"""Several values on the command line make a grid of a study."""

import pytest

from rse_study.cli.arguments import study_file
from rse_study.errors import InputError
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.content import with_quick_grid
from rse_study.study.definition.shipped import shipped_studies
from tests.cases import cases


def test_several_values_make_a_grid_with_a_name_and_a_baseline_of_its_own():
    overrides = ["rho=0,0.5,1", "N=1,5", "seeds=[0, 1]"]
    checked = read_study(study_file("joint"), overrides)
    assert (checked.study.name, checked.num_cells, checked.study.seeds) == ("joint-rho-n", 12, (0, 1))
    assert checked.study.grid.baseline == "rho = 0, N = 1"
    assert checked.space.axes[1].paths == ("method.blend.pgd.num_steps", "method.blend.fgsm.num_steps")
    assert read_study(study_file("joint"), [*overrides, "name=mine"]).study.name == "mine"


@cases(
    "override",
    ["rho=0.5", "question=Does rho, or N, matter?", 'base.encoder.name="a,b"', "search.rho=[0, 1]"],
)
def test_one_value_a_list_a_quoted_text_and_other_fields_are_overrides(override):
    assert with_quick_grid({"name": "s"}, [override]) == ({"name": "s"}, [override])


def test_the_first_of_several_objectives_is_the_grids_and_a_papers_table_is_left_behind():
    content = {"name": "s", "objectives": [{"metric": "dev"}, {"metric": "x"}], "paper": {"table": "t"}}
    grid, _ = with_quick_grid(content, ["base.optimizer.lr=1e-3,1e-4"])
    assert grid == {
        "objective": {"metric": "dev"},
        "name": "s-lr",
        "question": "Which values of optimizer.lr are best in s?",
        "grid": {"axes": {"optimizer.lr": [1e-3, 1e-4]}, "baseline": "optimizer.lr = 0.001"},
    }


SHIPPED = {path.stem: path for path in shipped_studies()}
IN_STEPS = ("base.budget.unit=steps", "base.budget.amount=500")
CONSERT, SIMCSE = "ConSERT (as published)", "SimCSE (as published)"


def budgets(study, *overrides):
    """Rows whose budget is not the base's."""
    checked = read_study(SHIPPED[study], overrides)
    own = checked.study.base.budget
    return {
        row.label: (row.trial.budget.amount, row.trial.budget.unit)
        for row in checked.rows
        if row.trial.budget != own
    }


@cases(
    ("overrides", "expected"),
    [
        ((), {SIMCSE: (1, "epochs"), CONSERT: (9290, "steps")}),  # of 4 epochs, 62,500 steps
        (IN_STEPS, {SIMCSE: (125, "steps"), CONSERT: (74, "steps")}),
        (["base.budget={unit: steps, amount: 500}"], {SIMCSE: (125, "steps"), CONSERT: (74, "steps")}),
        (["base.budget.amount=8"], {SIMCSE: (31_250, "steps"), CONSERT: (18580, "steps")}),
        (["base.budget.amount=2"], {SIMCSE: (7812, "steps"), CONSERT: (4645, "steps")}),
        ([*IN_STEPS, "base.corpus.limit=0"], {SIMCSE: (125, "steps"), CONSERT: (74, "steps")}),
        (
            ["base.budget.amount=2", "base.corpus.limit=6400"],
            {SIMCSE: (50, "steps"), CONSERT: (30, "steps")},
        ),
        (["base.optimizer.lr=1e-5"], {SIMCSE: (1, "epochs"), CONSERT: (9290, "steps")}),
        (
            [*IN_STEPS, f"grid.rows.{SIMCSE}.budget={{unit: steps, amount: 77}}"],
            {SIMCSE: (77, "steps"), CONSERT: (74, "steps")},
        ),
    ],
)
def test_rows_with_a_budget_of_their_own_keep_their_share(overrides, expected):
    assert budgets("rse_table3", *overrides) == expected


def test_a_row_with_another_corpus_keeps_the_share_that_its_epoch_had():
    # An epoch of the base has 195 steps, of the row a million sentences in batches of 64.
    found = budgets("l2p_table1", "base.budget.unit=steps", "base.budget.amount=20")
    assert found[f"+{SIMCSE}"] == (round(15_625 * 20 / 195), "steps")
    assert found["+SG-OPT (as published)"] == (round(6250 * 20 / 195), "steps")


def test_budgets_in_passes_keep_their_share():
    found, doubled = (
        budgets("curves_minilm", *one)["ConSERT, 1440"] for one in ((), ["base.budget.amount=60"])
    )
    assert found == (1440, "passes") and doubled == (480, "steps")  # 2,880 passes


@cases(
    ("study", "overrides", "said"),
    [
        (
            "rse_table3",
            [IN_STEPS[0], "base.budget.amount=4"],
            rf"rows\.{SIMCSE[:6]}.*its share .* is 1 step",
        ),
        (
            "minilm_pilot",
            ["base.budget.amount=10"],
            r"grid\.axes: a row of axes has the base's budget, .* Keep .* \(steps\), or override the axes, too",
        ),
    ],
)
def test_a_share_that_is_no_training_and_an_axis_of_budgets_are_refused(study, overrides, said):
    with pytest.raises(InputError, match=said):
        read_study(SHIPPED[study], overrides)


def test_a_search_over_budgets_is_refused_unless_its_axis_is_overridden_too(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(
        "name: own\nquestion: How long?\nbase: {method: {preset: simcse}, encoder: {name: tiny-vectors}}\n"
        "search: {budget.amount: {int: [2, 8]}}\nnum_trials: 8\nseeds: [0]\n"
    )
    with pytest.raises(InputError, match=r"search\.budget\.amount: sets the budgets of trials itself"):
        read_study(path, IN_STEPS)
    assert read_study(path, [*IN_STEPS, "search.budget.amount={int: [20, 80]}"])


@cases(
    ("overrides", "steps"),
    [
        ((), 62500),
        (IN_STEPS, 62500),
        (["allowance.hours_per_cell=[1, 2]"], 62500),
        ([*IN_STEPS, "allowance.hours_per_cell=[1, 2]"], 0),  # they are of the new base
    ],
)
def test_stated_hours_are_of_the_base_that_they_were_stated_for(overrides, steps):
    assert read_study(SHIPPED["rse_table6"], overrides).study.allowance.steps_per_cell == steps
