"""A ball around the rows of a batch: scopes, lengths by a row's own coordinates, padding."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rse_study.perturbations.sentence_level import Ball

WIDTH = 3
balls = st.builds(
    Ball,
    norm=st.sampled_from(["l1", "l2", "linf"]),
    radius=st.floats(1e-3, 2),
    given_for=st.sampled_from(["l2", "linf"]),
    scope=st.sampled_from(["sentence", "token"]),
    strength=st.sampled_from(["matched", "literal"]),
    projection=st.sampled_from(["exact", "rescale"]),
)


def problem(seed, lengths=(0, 1, 4), padding=0):
    """x [3 l d], zero outside perturbable tokens, whose numbers are `lengths`."""
    perturbable = torch.arange(max(lengths) + padding)[None] < torch.tensor(lengths)[:, None]
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(lengths), max(lengths), WIDTH, generator=generator, dtype=torch.float64)
    x = torch.cat([x, x.new_zeros(len(lengths), padding, WIDTH)], dim=1)
    return x * perturbable[:, :, None], perturbable


@given(balls)
def test_a_length_is_converted_once(ball):
    x, perturbable = problem(0)
    bound = ball.around(perturbable, x)
    for given_length in (ball.radius, 0.5, ball.radius):
        converted = bound.length(given_length)
        assert bound.length(given_length) is converted
        assert torch.equal(converted, ball.around(perturbable, x).length(given_length))


@pytest.mark.parametrize(
    ("scope", "norm", "expected"),
    [
        ("sentence", "linf", [0.1, 0.1, 0.1]),
        ("sentence", "l2", [0.1, 0.1 * 3**0.5, 0.1 * 12**0.5]),
        ("sentence", "l1", [0.1, 0.3, 1.2]),  # a row without coordinates keeps the given length
        ("token", "l2", [0.1 * 3**0.5] * 3),
        ("token", "l1", [0.3, 0.3, 0.3]),
    ],
)
def test_matched_lengths_count_a_rows_own_coordinates(scope, norm, expected):
    x, perturbable = problem(0, padding=5)
    bound = Ball(norm=norm, radius=0.1, given_for="linf", scope=scope).around(perturbable, x)
    assert bound.length(0.1).flatten().tolist() == pytest.approx(expected)
    literal = Ball(norm=norm, radius=0.1, given_for="linf", scope=scope, strength="literal")
    assert literal.around(perturbable, x).length(0.1).flatten().tolist() == pytest.approx([0.1] * 3)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("scope", ["sentence", "token"])
def test_saturation_is_a_share(norm, scope):
    x, perturbable = problem(0)
    bound = Ball(norm=norm, radius=1e-4, given_for=norm, scope=scope).around(perturbable, x)
    assert not bound.on_bound(torch.zeros_like(x), perturbable)[0].any()
    sits, counted = bound.on_bound(bound.project(x), perturbable)
    assert int(counted.sum()) == {"linf": 5 * WIDTH}.get(norm, {"sentence": 2, "token": 5}[scope])
    assert float(sits[counted].double().mean()) > 0.8
