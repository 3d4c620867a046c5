import math
from itertools import product

import numpy as np
import optuna
import pytest
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.trial import create_trial
from sklearn.ensemble import RandomForestRegressor

from rse_study.sampling.fanova import MAX_DEPTH, encoded, fanova_shares, fractions_of
from rse_study.sampling.optuna_types import distribution_of
from rse_study.study.definition.domains import Choice, Float, Int, Log

NUMBERS = {"rho": Float(float=(0, 1)), "phi": Float(float=(0, 0.3)), "xi": Float(float=(-1, 1))}
MIXED = {"rho": Float(float=(0, 1)), "lr": Log(log=(1e-5, 1e-1)), "norm": Choice(choice=("l1", "l2", "linf"))}


def drawn(domains, num, seed=0):
    random = np.random.default_rng(seed)
    return [{name: domain.at(random.random()) for name, domain in domains.items()} for _ in range(num)]


def test_on_linear_axes_it_is_optunas_evaluator():
    points = drawn(NUMBERS, 40)
    values = [-((one["rho"] - 0.7) ** 2) + one["phi"] * one["xi"] for one in points]
    points, values = [*points, *points[:9]], [*values, *values[:9]]  # as in a resample
    study = optuna.create_study(direction="maximize")
    distributions = {name: distribution_of(domain) for name, domain in NUMBERS.items()}
    for point, value in zip(points, values, strict=True):
        study.add_trial(create_trial(params=point, distributions=distributions, value=value))
    evaluator = FanovaImportanceEvaluator(n_trees=8, max_depth=MAX_DEPTH, seed=3)
    theirs = get_param_importances(study, evaluator=evaluator)
    # Their columns are sorted by name, and a forest draws columns by their place.
    ours = fanova_shares(dict(sorted(NUMBERS.items())), points, values, num_trees=8, seed=3)
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_choices_and_logarithms_are_measured_as_they_are_searched():
    """Against every cell of a fine grid, which the forest is asked about."""
    points = drawn(MIXED, 30)
    values = [math.log(one["lr"]) * (one["norm"] == "l2") + one["rho"] for one in points]
    columns = np.hstack([encoded(domain, [one[name] for one in points]) for name, domain in MIXED.items()])
    forest = RandomForestRegressor(n_estimators=3, max_depth=MAX_DEPTH, random_state=1).fit(columns, values)
    num = 400
    middles = (np.arange(num) + 0.5) / num
    grid = [[domain.at(u) for u in middles] for domain in (MIXED["rho"], MIXED["lr"])]
    cells = [
        dict(zip(MIXED, (*pair, norm), strict=True))
        for norm, pair in product(MIXED["norm"].choice, product(*grid))
    ]
    asked = np.hstack([encoded(domain, [one[name] for one in cells]) for name, domain in MIXED.items()])
    for tree in forest.estimators_:
        predicted = tree.predict(asked).reshape(3, num, num)
        alone = [predicted.mean(axis=axes).var() for axes in ((0, 2), (0, 1), (1, 2))]
        assert fractions_of(tree.tree_, list(MIXED.values())) == pytest.approx(
            np.array(alone) / predicted.var(), abs=0.02
        )


def test_an_integer_that_alone_decides_has_the_whole_share():
    domains = {"N": Int(int=(1, 16)), "rho": Float(float=(0, 1))}
    points = drawn(domains, 60)
    shares = fanova_shares(domains, points, [float(one["N"]) for one in points], num_trees=8, seed=0)
    assert shares["N"] > 0.99


def test_where_nothing_varies_no_axis_has_more_than_another():
    assert fanova_shares(NUMBERS, drawn(NUMBERS, 9), [1.0] * 9, num_trees=4, seed=0) == pytest.approx(
        dict.fromkeys(NUMBERS, 1 / 3)
    )
