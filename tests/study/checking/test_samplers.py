from typing import get_args

from rse_study.study.checking.search_methods import TRAITS, sampler_problems
from rse_study.study.definition.domains import Choice, Float
from rse_study.study.definition.parts import Sampler
from rse_study.study.definition.space import Axis, Space
from rse_study.training.trial import Trial
from tests.cases import cases

NUMBERS = Space(Trial(), (Axis("rho", Float(float=(0, 1)), ("rho",)),))
CHOICES = Space(Trial(), (Axis("norm", Choice(choice=("l1", "l2")), ("norm",)),))


def test_every_sampler_a_study_may_name_has_traits():
    assert set(get_args(Sampler.model_fields["name"].annotation)) == TRAITS.keys()


@cases("name", TRAITS)
def test_only_cma_es_refuses_several_objectives_and_a_space_without_numbers(name):
    problems = list(sampler_problems(Sampler(name=name), NUMBERS, num_objectives=2))
    assert len(problems) == (name == "cma_es")
    assert all(what == "sampler.name = 'cma_es'" and "tpe" in remedy for what, _, remedy in problems)
    assert not list(sampler_problems(Sampler(name=name), NUMBERS))
    assert len(list(sampler_problems(Sampler(name=name), CHOICES))) == (name == "cma_es")
