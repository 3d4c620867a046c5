import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.data.builtin import graded_pairs
from rse_study.data.labelled import StsPairs
from rse_study.evaluation.invariance import AlignmentUniformity, alignment, uniformity
from tests.evaluation.contract import by_letters, check_items


@pytest.fixture
def pairs() -> StsPairs:
    gold = np.array([4.0, 4.01, 5.0, 0.0, 3.9, 4.5])
    texts = [f"text {i % 9}" for i in range(12)]
    return StsPairs("toy", "dev", texts[:6], texts[6:], gold)


def embed(sentences: list[str]) -> np.ndarray:
    return np.stack([np.random.default_rng(ord(s[-1])).normal(size=5) for s in sentences])


def rows_of(embed, pairs):
    return AlignmentUniformity(pairs).score(embed, "me")


def unit_rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def squared_distance(a, b) -> float:
    a, b = ([x / math.sqrt(sum(y * y for y in v)) for x in v] for v in (a, b))
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def test_both_equal_loops(pairs):
    u, v = embed(pairs.first), embed(pairs.second)
    close = [squared_distance(u[i], v[i]) for i in range(6) if pairs.gold[i] > 4]
    everything = [*u, *v]
    kernels = [math.exp(-2 * squared_distance(*two)) for two in itertools.combinations(everything, 2)]
    rows = {row.aggregation: row for row in rows_of(embed, pairs)}
    assert rows["alignment"].value == pytest.approx(sum(close) / len(close), abs=1e-12)
    assert rows["alignment"].num_examples == len(close) == 3  # 4.0 is no positive
    assert rows["uniformity"].value == pytest.approx(math.log(sum(kernels) / len(kernels)), abs=1e-12)
    assert rows["uniformity"].num_examples == 12  # those that stand twice count twice
    expected = ("toy", "dev", False, pairs.fingerprint)
    assert {(row.task, row.split, row.degenerate, row.fingerprint) for row in rows.values()} == {expected}


@given(st.integers(2, 30), st.integers(1, 6), st.integers(0, 99))
def test_bounds_rotations_and_order(n, d, seed):
    x = unit_rows(n, d, seed)
    value = uniformity(x)
    assert -8 - 1e-12 <= value <= 1e-12
    turned = x @ np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    assert uniformity(turned[::-1]) == pytest.approx(value, abs=1e-9)
    assert 0 <= alignment(x, x[::-1]) <= 4 + 1e-12


def test_antipodes_and_equals_are_the_extremes_and_a_circle_reaches_the_known_limit():
    x = unit_rows(5, 4)
    assert alignment(x, -x) == pytest.approx(4)
    assert alignment(x, -x, alpha=1.0) == pytest.approx(2)
    assert alignment(x, x) == 0
    assert uniformity(np.stack([x[0], -x[0]])) == pytest.approx(-8)
    # exp(-t |x-y|^2) over a uniform circle has the mean e^{-2t} I_0(2t).
    angles = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    x = np.column_stack([np.cos(angles), np.sin(angles)])
    assert uniformity(x) == pytest.approx(math.log(math.exp(-4) * np.i0(4.0)), abs=5e-3)


@pytest.mark.parametrize("collapsed", [lambda s: np.ones((len(s), 4)), lambda s: 1 + 1e-7 * embed(s)])
def test_one_vector_for_all_is_degenerate(pairs, collapsed):
    aligned, uniform = rows_of(collapsed, pairs)
    assert aligned.degenerate and uniform.degenerate
    assert math.isnan(aligned.value)  # 0 would be the best there is
    assert uniform.value == pytest.approx(0, abs=1e-5)  # the worst


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_vector_without_direction_leaves_no_number(pairs, value):
    def bad(sentences):
        vectors = embed(sentences)
        vectors[sentences.index(pairs.first[1])] = value  # of a positive pair
        return vectors

    for row in rows_of(bad, pairs):
        assert math.isnan(row.value)
        assert row.degenerate


def test_no_positive_pair_leaves_alignment_undefined(pairs):
    apart = StsPairs("toy", "dev", pairs.first, pairs.second, np.minimum(pairs.gold, 4.0))
    align, uniform = rows_of(embed, apart)
    assert math.isnan(align.value)
    assert (align.num_examples, align.degenerate, uniform.degenerate) == (0, True, False)
    assert math.isnan(uniformity(unit_rows(1, 3)))


def test_it_is_an_evaluation_whose_figures_are_better_when_lower():
    evaluation = AlignmentUniformity(graded_pairs("dev"))
    assert evaluation.num_sentences == 2 * len(graded_pairs("dev"))
    assert {measure.direction for measure in evaluation.measures} == {"minimize"}
    check_items(evaluation.score(by_letters, "me"), "uniformity")


@pytest.mark.slow
@pytest.mark.xdist_group("minilm")
def test_anchor_of_minilm(minilm, data_dir):
    align, uniform = AlignmentUniformity.read("STS-B/geometry", data_dir).score(minilm, "me")
    assert (align.num_examples, uniform.num_examples) == (208, 3000)
    assert align.value == pytest.approx(0.2360, abs=5e-5)
    assert uniform.value == pytest.approx(-3.8408, abs=5e-5)
