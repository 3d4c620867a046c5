"""docs/methods.md is what the registry says, and says of every method where it departs from its paper."""

import json
import re
import typing
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from rse_study.errors import InputError
from rse_study.methods import METHODS, RobustSentEmbed
from rse_study.methods.describe import HEADINGS, page
from rse_study.methods.presets import PRESETS
from rse_study.perturbations import PERTURBATIONS
from rse_study.spec import Spec, meanings
from rse_study.study.definition.paths import look_up
from rse_study.training.trial import Trial

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = Path(str(files("search_spaces"))) / "study.schema.json"


def specs_in(annotation: Any) -> Iterator[type[Spec]]:
    """Every class of settings that a type leads to, itself first; some several times."""
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        yield annotation
        for info in annotation.model_fields.values():
            yield from specs_in(info.annotation)
    for part in typing.get_args(annotation):
        yield from specs_in(part)


CLASSES = sorted(set(specs_in(Trial)), key=lambda cls: cls.__name__)


def meaningless(cls: type[Spec]) -> list[str]:
    """Fields without a meaning: one line that says something else than the name."""
    said = {name: meanings(cls).get(name, "") for name in cls.model_fields}
    return [name for name, text in said.items() if not re.fullmatch(r"\S.{4,}[^\s.]", text)]


def test_the_page_is_that_of_the_code():
    assert (DOCS / "methods.md").read_text(encoding="utf-8") == page(), "run `make methods`"


def test_every_method_has_a_source_and_records_that_exist_and_every_perturbation_a_line():
    for cls in METHODS.values():
        assert cls.source.paper
        assert all((DOCS / "decisions" / f"{name}.md").is_file() for name in cls.source.decisions)
    assert all(f"\n| `{name}` | " in page() for name in PERTURBATIONS)


def test_fields_stand_with_symbol_default_bounds_and_a_meaning_in_every_row():
    text = page()
    assert "| `blend.rho` | rho | 0.5 | float, >= 0, <= 1 |" in text
    assert "| `blend.pgd.ball.norm` | P, norm | linf | l1, l2, linf |" in text
    assert "| `r.num_steps` | K | 1 | int, >= 0 |" in text
    text = page().partition("## Perturbations")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| `")]
    assert {len(row) for row in rows} == {len(HEADINGS)}
    assert all(row[-1].strip() for row in rows)


def test_every_field_of_all_settings_of_a_trial_has_a_meaning_and_the_schema_carries_it():
    names = {cls.__name__ for cls in CLASSES}
    assert {Trial, *METHODS.values()} < set(CLASSES)
    assert {"Ball", "Blend", "PGD", "FGSM", "ReplacedTokenDetection", "Dataset"} < names
    found = {cls.__name__: names for cls in CLASSES if (names := meaningless(cls))}
    assert found == {}, "write what it means, with its unit, as a string below the field"
    definitions = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    for cls in CLASSES:
        properties = definitions[cls.__name__]["properties"]
        shown = {name: shape.get("description") for name, shape in properties.items()}
        shown.pop("preset", None)  # writes others, and is no field
        written = {name: shape.alias or name for name, shape in cls.model_fields.items()}
        assert shown == {key: meanings(cls)[name] for name, key in written.items()}, cls


# Presets are names for settings: written out they are nothing else.


def trial(**method):
    needs_negatives = method.get("preset") == "simcse_supervised"
    views = {"views": {"file": "triplets.tsv"}} if needs_negatives else {}
    return Trial.model_validate({"method": method, **views})


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_is_a_valid_method_and_says_what_it_sets(name):
    preset = PRESETS.get(name)
    made = trial(preset=name).method
    assert type(made) is METHODS[preset.method]
    for path, value in preset.settings.items():
        assert look_up(made, path) == value
    assert made != METHODS[preset.method]()  # a name for the defaults would be one too many


def test_simcse_is_its_settings():
    none = {"pgd": {"num_steps": 0}, "fgsm": {"num_steps": 0}}
    spelt = RobustSentEmbed(blend=none, lambda1=0, lambda2=0)
    assert trial(preset="simcse").method == spelt
    assert not spelt.has_adversary


@pytest.mark.parametrize("name", ["simcse", "robust_embed", "uscal"])
def test_they_are_themselves_over_any_base(name):
    """Masks and eta in z_adv are no part of them, whatever the base has."""
    made = trial(preset=name, masks={"num_layers": 1}).method
    assert (made.masks.phi, made.z_adv_eta) == (0.0, "without")


def test_settings_beside_a_preset_stay_and_an_equal_value_is_no_second_one():
    made = trial(preset="robust_embed", lambda1=0.5, blend={"rho": 0.25}).method
    assert (made.lambda1, made.blend.rho, made.token_level.presence) == (0.5, 0.25, "absent")
    assert trial(preset="rse_released", lambda1="1/128").method == trial(preset="rse_released").method


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ({"preset": "simsce"}, "Did you mean 'simcse'?"),
        ({"preset": "simcse", "name": "dcl"}, "a preset of robust_sent_embed"),
        ({"preset": "simcse", "blend": {"pgd": {"num_steps": 3}}}, "writes it too"),
        ({"preset": "l2p_released", "lambda1": 1}, "lambda1"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(method, words):
    with pytest.raises((InputError, ValueError), match=words.replace("?", r"\?")):
        trial(**method)
