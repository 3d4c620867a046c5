"""The sampler of the tutorial in a file of the user's: no file of the project knows it."""

import sys
from pathlib import Path

import pytest

from rse_study.errors import InputError, InputErrors
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.sampling.proposer import Proposer
from rse_study.study.checking.validation import check_content, read_study
from rse_study.study.definition.parts import Sampler
from rse_study.study.revisions import change_between
from tests.cases import cases
from tests.on_ray.surface import CONDITIONAL, DOMAINS, FIRST, search

EXAMPLE = Path(__file__).parents[2] / "docs" / "tutorials" / "a_sampler_beside_your_study.md"
MORE = """

class Picky(MySampler):
    def __init__(self, share):
        raise ValueError(f"share {share} is no probability")


class Unseeded(RandomSampler):
    def __init__(self):
        super().__init__(seed=4)


class Stubborn(Unseeded):
    def sample_independent(self, study, trial, name, distribution):
        return 99 if name == "N" else super().sample_independent(study, trial, name, distribution)


class Undefined(BaseSampler):
    pass


class Stranger:
    pass
"""
STUDY = """
extends: joint
sampler: {name: null, class: "my_samplers:MySampler", settings: {share: 0.3}}
"""


def own(name="MySampler", **settings):
    return Sampler.model_validate({"class": f"my_samplers:{name}", "settings": settings})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The file lies in a folder that is not the working one, and is imported anew in each test."""
    example = EXAMPLE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    (tmp_path / "my_samplers.py").write_text(example + MORE, encoding="utf-8")
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    yield tmp_path
    for module in ("my_samplers", "broken"):
        sys.modules.pop(module, None)


def test_a_study_that_names_it_is_valid_and_frozen_with_class_and_settings(folder):
    checked = read_study(folder / "study.yaml")
    frozen = checked.study.resolved()["sampler"]
    assert (frozen["class"], frozen["settings"]) == ("my_samplers:MySampler", {"share": 0.3})
    assert "name" not in frozen and Sampler.model_validate(frozen) == checked.study.sampler
    assert not any("seed" in warning for warning in checked.warnings)


def test_another_class_or_setting_is_another_study(folder):
    def record(*overrides):
        content = read_study(folder / "study.yaml", overrides).study.resolved()
        return StudyRecord(name="joint", objective=ObjectiveRecord(metric="dev"), resolved=content)

    assert change_between(record(), record()) == ""
    with pytest.raises(
        InputErrors, match=r"sampler.settings.share = 0.4: was 0.3 when the study was frozen, and must"
    ):
        change_between(record(), record("sampler.settings.share=0.4"))
    with pytest.raises(InputErrors, match=r"my_samplers:MySampler.: was absent"):
        change_between(record("sampler={name: tpe}"), record())


def test_a_search_of_it_that_is_killed_asks_what_an_uninterrupted_one_asks(folder, monkeypatch):
    monkeypatch.chdir(folder)
    sampler, kills = own(share=0.4), {"killed_after": {10, 30}, "killed_during": {20, 39}}
    undisturbed = search(sampler, 42)
    assert search(sampler, 42, **kills) == undisturbed != search("random", 42)
    assert search(sampler, 42, domains=CONDITIONAL, **kills) == search(sampler, 42, domains=CONDITIONAL)


def test_settings_and_seed_reach_its_constructor(folder):
    asked = {}
    for share, seed in ((0.01, 0), (0.01, 1), (1, 0), (1, 1)):
        proposer = Proposer(DOMAINS, own(share=share), seed, ["maximize"], folder)
        proposer.add(0, FIRST, "complete", [1.0])
        asked[share, seed] = proposer.ask(1)
    assert asked[0.01, 0] == FIRST and FIRST != asked[1, 0] != asked[1, 1]


REFUSED = [
    ({"class": "my_sampler:A"}, "sampler.class = 'my_sampler:A': cannot be imported (ModuleNotFoundError: No module"),
    ({"class": "broken:A"}, "nothing_of_this_name'). broken.py was found, and fails when it is imported: mend it"),
    ({"class": "my_samplers:MySamplr"}, "my_samplers has no MySamplr. Did you mean 'MySampler'?"),
    ({"class": "my_samplers:Stranger"}, "is no subclass of optuna.samplers.BaseSampler. Derive"),
    ({"class": "my_samplers:random"}, "is no subclass of optuna.samplers.BaseSampler. Derive"),
    ({"class": "my_samplers:Undefined"}, "lacks infer_relative_search_space, sample_independent, sample_relative"),
    ({"settings": {"shape": 1}}, "Did you mean 'share'? It takes: share, seed"),
    ({"class": "my_samplers:Picky"}, "(ValueError: share 0.3 is no probability). It takes: share"),
    ({"settings": {"seed": 7}}, "sampler.settings.seed: every proposal has a seed of its own"),
    ({"class": "MySampler"}, "sampler.class: 'MySampler' must be module:Class"),
    ({"num_startup": 3}, "sampler: has num_startup, which is of samplers with a name, and a class. Write it below"),
    ({"name": "tpe"}, "sampler: has a name and a class. Keep one (`name: null` takes away"),
    ({"class": None}, "sampler: has settings, which are those of a class"),
]  # fmt: skip


@cases(("changes", "said"), REFUSED, ids=[str(changes) for changes, _ in REFUSED])
def test_what_is_wrong_with_it_is_said_before_anything_runs(folder, changes, said):
    study = read_study(folder / "study.yaml").study
    given = {"class": "my_samplers:MySampler", "settings": {"share": 0.3}} | changes
    content = study.model_dump(mode="json", exclude_none=True) | {
        "sampler": {key: value for key, value in given.items() if value is not None}
    }
    with pytest.raises(InputErrors) as caught:
        check_content(content, where=str(folder / "study.yaml"))
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"{folder / 'study.yaml'}: sampler") and said in str(problem)


def test_one_without_a_seed_is_a_warning(folder):
    overrides = ["sampler={class: my_samplers:Unseeded}"]
    content = read_study(folder / "study.yaml", overrides)
    assert any("my_samplers:Unseeded takes no `seed`" in warning for warning in content.warnings)


def test_one_that_fails_or_leaves_the_space_is_named(folder):
    proposer = Proposer(DOMAINS, own("Stubborn"), 0, ["maximize"], folder)
    with pytest.raises(
        InputError, match=r"'my_samplers:Stubborn': failed at trial 3 \(ValueError: N = 99 lies outside"
    ):
        proposer.ask(3)


def test_optunas_own_are_classes_like_any_other():
    given = {"class": "optuna.samplers:TPESampler", "settings": {"n_startup_trials": 2}}
    proposer = Proposer(DOMAINS, Sampler.model_validate(given), 0, ["maximize"])
    assert proposer.ask(0).keys() == DOMAINS.keys()
