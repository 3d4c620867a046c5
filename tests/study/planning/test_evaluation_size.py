"""What evaluations compute, in sentences."""

import pytest

from rse_study.study.planning.cost_model import CostModel
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.evaluation_plan import plan_scores
from rse_study.study.planning.evaluation_size import QUERIES_PER_WORD, EvaluationSize
from rse_study.study.planning.grid_stage import Remaining
from tests.study.planning.priced import grid_of, one_second

PWWS = EvaluationSize("attack-x/pwws", 50.0, 1000.0, "pwws", 50, 20.0, 1000)
BAE = EvaluationSize("attack-x/bae", 50.0, 1000.0, "bae", 50, 20.0, 60)


def test_queries_are_those_of_other_models_else_go_by_the_words_of_an_input_up_to_the_limit():
    assert PWWS.attacked({"attack-x/pwws": 100.0}) == pytest.approx(50 * 100 * 1.5 * 2)
    assert PWWS.attacked({"attack-y/pwws": 100.0}) == pytest.approx(
        50 * QUERIES_PER_WORD["pwws"] * 20 * 1.5 * 2
    )
    assert BAE.attacked({}) == pytest.approx(50 * 60 * 2.5 * 2)
    assert EvaluationSize("STS-B/test", 9.0).attacked({}) == 0.0


def test_recipes_on_one_set_share_a_victim_and_only_tasks_of_their_own_have_a_start(
    content, tmp_path, monkeypatch
):
    sizes = {size.name: size for size in (PWWS, BAE, EvaluationSize("STS-B/test", 320.0))}
    monkeypatch.setattr(DataSizes, "size_of", lambda self, name: sizes[name])
    study = grid_of(content, {"axes": {"rho": [0, 1]}}).study
    base = study.base
    rates = one_second(base)  # a sentence takes 1/16 s, a task 1 s to start

    def seconds(*names):
        model = CostModel(rates, study.resources)
        return plan_scores(names, [Remaining(base, (), 2)], model, DataSizes(tmp_path)).cost.seconds.mid

    assert seconds("STS-B/test") == pytest.approx(2 * 320 / 16)
    attacked = 2 * (50 + 1000 / 2) + PWWS.attacked({}) + BAE.attacked({})
    assert seconds("attack-x/pwws", "attack-x/bae") == pytest.approx(2 * (attacked / 16 + 1))
