"""Configured objects: frozen, strict, identified by canonical JSON."""

import json
from functools import cache
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SerializeAsAny, ValidationError, create_model

from rse_study.methods import RobustSentEmbed
from rse_study.spec import Spec, canonical_json, field, fingerprint_of, hash_file
from rse_study.study.definition.paths import symbols
from tests.cases import cases


class Inner(Spec):
    semantics: ClassVar[int] = 3
    step_size: float = field(1e-5, symbol="alpha", gt=0)
    num_steps: int = field(5, ge=1)


class Outer(Spec):
    inner: Inner = Inner()
    weight: float = field(1 / 128, symbol="lambda1", ge=0)
    words: tuple[str, ...] = ("a",)
    later: str = field("none", neutral="none")
    seeds: tuple[int, ...] = field((), neutral=())


def test_a_spec_is_frozen_strict_and_bounded_and_text_stays_text():
    with pytest.raises(ValidationError):
        Outer().weight = 1.0
    for wrong in ({"wieght": 1}, {"weight": -1}, {"weight": float("nan")}, {"inner": {"num_step": 1}}):
        with pytest.raises(ValidationError):
            Outer(**wrong)
    assert Outer(words=("1/2",)).words == ("1/2",)
    assert Outer(later="1/2").later == "1/2"


@cases(
    "given", [{"inner": {"num_steps": str(2**63)}}, {"inner": {"num_steps": 10**320}}, {"seeds": (0, 2**63)}]
)
def test_an_integer_that_no_ledger_can_store_is_refused(given):
    with pytest.raises(
        ValidationError, match="must lie between -9223372036854775807 and 9223372036854775807"
    ):
        Outer(**given)
    assert Outer(seeds=(0, 2**63 - 1)).seeds[1] == 9223372036854775807


@cases(("given", "value"), [("1/128", 1 / 128), ("3/4", 0.75), ("1e-5", 1e-5), (0.5, 0.5), (1, 1.0)])
def test_fractions_are_numbers(given, value):
    assert Outer(weight=given).weight == value


@pytest.mark.parametrize("given", ["1/0", "1/2/3", "a/b", "/", ""])
def test_what_is_no_fraction_is_refused(given):
    with pytest.raises(ValidationError):
        Outer(weight=given)


def test_identity_is_canonical_json():
    assert json.loads(canonical_json(Outer().identity())) == {
        "inner": {"num_steps": 5, "semantics": 3, "step_size": 1e-05},
        "weight": 0.0078125,
        "words": ["a"],
        "semantics": 1,
    }
    assert Outer(weight="1/128").fingerprint() == Outer().fingerprint() == fingerprint_of(Outer().identity())
    assert len(Outer().fingerprint()) == 64
    new = grown((), [], tuple[Inner, ...])
    assert new().fingerprint() == Old().fingerprint()
    assert new(later=(Inner(),)).fingerprint() != Old().fingerprint()


def test_identity_changes_with_values_and_semantics_and_not_with_neutral_fields():
    class Bumped(Inner):
        semantics: ClassVar[int] = 4

    base = Outer().fingerprint()
    changed = [Outer(weight=0.1), Outer(inner=Inner(num_steps=6)), Outer(inner=Bumped()), Outer(later="some")]
    assert len({base, *(spec.fingerprint() for spec in changed)}) == 5
    assert Outer(later="none").fingerprint() == base


class Old(Spec):
    """A class before a field was added to it."""

    weight: float = 0.5
    words: tuple[str, ...] = ()


class Holder(Spec):
    """A class whose fields hold specs."""

    alone: SerializeAsAny[Spec]
    several: SerializeAsAny[tuple[Spec, ...]]
    named: SerializeAsAny[dict[str, Spec]]


WORDS = st.sampled_from(["none", "mean", "last"])
OLD = st.builds(Old, weight=st.floats(-2, 2), words=st.lists(WORDS, max_size=2).map(tuple))
BALLS = st.lists(st.builds(Inner, num_steps=st.integers(1, 3)), max_size=2).map(tuple)


def grown(default: object, neutral: object, kind: object) -> type[Spec]:
    """The same class with one more field."""
    return create_model("New", __base__=Old, later=(kind, field(default, neutral=neutral)))


grown_once = cache(grown)  # making a class takes longer than all that an example asks of it


def placed(spec: Spec, beside: list[Spec]) -> list[Spec]:
    """The spec by itself, inside another one, in a list and in a mapping of specs."""
    return [spec, Holder(alone=spec, several=(*beside, spec), named={"x": spec})]


GROWN = given(old=OLD, beside=st.lists(OLD, max_size=2), draws=st.data())


@settings(max_examples=25)
@GROWN
def test_a_new_field_moves_no_identity_at_its_neutral_value_and_any_elsewhere(old, beside, draws):
    assert_identity_moves_where_the_value_is_not_neutral(old, beside, draws)


def assert_identity_moves_where_the_value_is_not_neutral(old, beside, draws):
    """Whatever the default is, and wherever the class stands in a configuration."""
    kind, values = draws.draw(
        st.sampled_from([(str, WORDS), (tuple[Inner, ...], BALLS), (int, st.integers(0, 3))])
    )
    default, neutral, value = (draws.draw(values) for _ in range(3))
    new = grown_once(default, neutral, kind)
    for later in (neutral, value):
        spec = new(**dict(old), later=later)
        before, after = placed(old, beside), placed(spec, beside)
        same = [a.fingerprint() == b.fingerprint() for a, b in zip(before, after, strict=True)]
        assert same == [later == neutral] * 2
    assert (new(**dict(old)).fingerprint() == old.fingerprint()) == (default == neutral)


def test_a_spec_survives_its_own_dump_and_its_json_is_one_text_per_meaning(tmp_path):
    method = RobustSentEmbed()
    again = RobustSentEmbed.model_validate_json(method.model_dump_json())
    assert again == method
    assert again.fingerprint() == method.fingerprint()
    assert canonical_json({"b": 1, "a": [1.0, "é"]}) == '{"a":[1.0,"é"],"b":1}'
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("inf"))
    (tmp_path / "x").write_bytes(b"")
    assert hash_file(tmp_path / "x") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_eight_searched_hyperparameters_have_their_symbols():
    found = dict(symbols(RobustSentEmbed()))
    assert found["blend.pgd.step_size"] == "alpha"
    assert found["blend.fgsm.step_size"] == "beta"
    assert found["blend.rho"] == "rho"
    assert found["blend.pgd.num_steps"] == "K"
    assert found["blend.fgsm.num_steps"] == "T"
    assert found["blend.pgd.ball.norm"] == "P"
    assert found["masks.phi"] == "phi"
    assert {"lambda1", "lambda2"} <= set(found.values())
