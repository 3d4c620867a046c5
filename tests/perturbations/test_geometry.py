"""Norms, projections and lengths: properties, and equality with the slow reference."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rse_study.perturbations import geometry
from rse_study.perturbations.sentence_level import Ball
from tests.reference import geometry_reference

NORMS = ("l1", "l2", "linf")
norms = st.sampled_from(NORMS)
# Ties, zeros and tiny entries are what sorting and thresholds stumble over.
entries = st.one_of(st.floats(-3, 3), st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-12, -1e-12]))
vectors = st.lists(entries, min_size=1, max_size=7)
radii = st.floats(1e-3, 5)


def tensor(vector):
    return torch.tensor(vector, dtype=torch.float64)


def project(vector, norm, radius, move=geometry.project):
    return move(tensor(vector), norm, tensor([radius]))


@given(vectors, norms, radii)
def test_in_the_ball_and_idempotent(vector, norm, radius):
    for move in (geometry.project, geometry.rescale):
        once = project(vector, norm, radius, move)
        assert float(geometry.norm_of(once, norm)) <= radius * (1 + 1e-12)
        assert torch.allclose(project(once.tolist(), norm, radius, move), once, rtol=0, atol=1e-12)


@given(vectors, norms, radii)
def test_inside_stays_bit_for_bit(vector, norm, radius):
    if geometry_reference.norm(vector, norm) <= radius * (1 - 1e-12):
        for move in (geometry.project, geometry.rescale):
            assert torch.equal(project(vector, norm, radius, move), tensor(vector))


@given(vectors, norms, radii, st.integers(0, 2**32))
def test_no_point_of_the_ball_is_nearer(vector, norm, radius, seed):
    x, found = tensor(vector), project(vector, norm, radius)
    others = torch.randn(64, len(vector), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    near = torch.cat([others * radius, found + 0.05 * radius * others])
    near = near / torch.clamp(geometry.norm_of(near, norm) / radius, min=1)
    assert bool(((near - x).norm(dim=1) >= (found - x).norm() - 1e-9).all())


@given(vectors, norms, radii)
def test_projection_equals_the_reference(vector, norm, radius):
    expected = tensor(geometry_reference.project(vector, radius, norm))
    torch.testing.assert_close(project(vector, norm, radius), expected, rtol=1e-12, atol=1e-12)


@given(vectors, norms)
def test_unit_has_length_one_or_is_zero(vector, norm):
    found = geometry.unit(tensor(vector), norm)
    torch.testing.assert_close(found, tensor(geometry_reference.unit(vector, norm)), rtol=1e-12, atol=1e-12)
    if all(value == 0 for value in vector):
        assert not found.any()
    else:
        assert float(geometry.norm_of(found, norm)) == pytest.approx(1, abs=1e-12)


@given(vectors, norms, radii, st.integers(1, 9))
def test_trailing_zeros_change_nothing(vector, norm, radius, padding):
    padded = vector + [0.0] * padding
    for change in (lambda v: project(v, norm, radius), lambda v: geometry.unit(tensor(v), norm)):
        found = change(padded)
        torch.testing.assert_close(found[: len(vector)], change(vector), rtol=0, atol=1e-12)
        assert not found[len(vector) :].any()


@given(st.floats(1e-6, 10), norms, norms, st.integers(1, 5000))
def test_matched_lengths(length, given_for, norm, n):
    found = float(geometry.matched(length, given_for, norm, tensor([n])))
    expected = geometry_reference.length(length, given_norm=given_for, used_norm=norm, count=n)
    assert found == pytest.approx(expected, rel=1e-12)
    # A vector of n equal entries that has this length in one norm has the other length in the other.
    even = torch.full((n,), 1.0, dtype=torch.float64)
    even = even * length / geometry.norm_of(even, given_for)
    assert float(geometry.norm_of(even, norm)) == pytest.approx(found, rel=1e-9)


def test_rows_have_radii_of_their_own():
    x, radius = torch.ones(2, 4, dtype=torch.float64), tensor([[1.0], [100.0]])
    for norm in NORMS:
        found = geometry.project(x, norm, radius)
        assert torch.equal(found[1], x[1])
    assert torch.allclose(geometry.project(2 * x, "l2", radius)[0], 2 * x[0] / math.sqrt(16))


@pytest.mark.parametrize("norm", NORMS)
def test_float32_survives_large_and_small(norm):
    x = torch.tensor([[1e20, -1e20, 1.0], [1e-30, -1e-30, 0.0]])
    found = geometry.project(x, norm, torch.tensor([[0.5], [0.5]]))
    assert found.isfinite().all()
    assert bool((geometry.norm_of(found, norm) <= 0.5 * (1 + 1e-6)).all())
    assert geometry.unit(x, norm).isfinite().all()


# A ball around the rows of a batch: scopes, lengths by a row's own coordinates, padding.


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
