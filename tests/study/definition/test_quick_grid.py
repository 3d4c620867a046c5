"""Several values on the command line make a grid of a study."""

from rse_study.cli.arguments.study import study_file
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.quick_grid import with_quick_grid
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
