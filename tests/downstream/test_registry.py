"""Names and patterns of evaluations, as a study lists them."""

import pytest

from rse_study.data import GLUE
from rse_study.data.labelled_sets import ANLI_ROUNDS
from rse_study.downstream import EVALUATIONS_OF_WEIGHTS, NLI, all_evaluations, expand_evaluations
from rse_study.evaluation import EVALUATIONS
from rse_study.evaluation.attacks.recipes import RECIPES


def test_patterns_are_expanded_in_the_order_of_the_file():
    for patterns, expanded in (
        ([], ()),
        (["STS-B/test", "MR/fast"], ("STS-B/test", "MR/fast")),
        (["attack-mr/*"], tuple(f"attack-mr/{recipe}" for recipe in RECIPES)),
        (["*/geometry", "STS-B/test"], ("STS-B/geometry", "STS-B/test")),
        (["MR/*", "MR/fast"], ("MR/fast", "MR/full")),
        (["MR/full", "MR/*"], ("MR/full", "MR/fast")),
        (["[MC]R/fast", "?R/fast"], ("MR/fast", "CR/fast")),
    ):
        assert expand_evaluations(patterns) == expanded


def test_a_star_is_every_evaluation_once_and_single_names_are_left_to_the_rules_of_a_study():
    assert expand_evaluations(["*/fast", "*"])[:7] == expand_evaluations(["*/fast"])
    assert sorted(expand_evaluations(["*/fast", "*"])) == sorted(all_evaluations())
    assert expand_evaluations(["STS-B/tets", "MR/fast", "MR/fast"]) == ("STS-B/tets", "MR/fast", "MR/fast")


def test_a_pattern_that_matches_nothing_says_what_is_near():
    for pattern, message in (
        ("attack-rm/*", r"'attack-rm/\*' matches no evaluation. Did you mean 'attack-mr/\*'\?"),
        ("*/fats", r"'\*/fats' matches no evaluation. Did you mean '\*/fast'\?"),
    ):
        with pytest.raises(ValueError, match=message):
            expand_evaluations(["MR/fast", pattern])


def test_every_family_has_its_class_and_every_name_one_family():
    for registry in (EVALUATIONS, EVALUATIONS_OF_WEIGHTS):
        for key in registry:
            assert callable(registry.get(key).load().read)
    assert len(set(all_evaluations())) == len(all_evaluations()) > 80
    kinds = [EVALUATIONS_OF_WEIGHTS.get(kind) for kind in ("NliFineTuned", "GlueFineTuned")]
    tuned = {name for kind in kinds for name in kind.names}
    assert len(tuned) == len(NLI) + 2 * len(GLUE) and {*ANLI_ROUNDS} == {f"ANLI-R{i}" for i in (1, 2, 3)}
