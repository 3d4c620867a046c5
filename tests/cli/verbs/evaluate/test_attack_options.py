"""`evaluate` refuses what was given and would decide nothing, before anything is loaded; defaults are no matter."""

import re
from typing import get_args, get_type_hints

import pytest
import typer

from rse_study.cli.app import app
from rse_study.cli.commands import evaluate
from rse_study.cli.verbs.evaluate.attack_options import USED, require_used
from rse_study.errors import InputError
from rse_study.training.classifier.config import FineTuning

VALUES = {
    "--data": "nowhere", "--pooling": "mean", "--variant": "orig", "--threads": "1", "--json": None, "--out": "kept",
    "--on": "mr", "--recipe": "pwws", "--inputs": "0", "--max-queries": "5000", "--seed": "0", "--epochs": "3",
    "--lr": "5e-5", "--max-length": "128", "--masked-lm": "minilm-mlm", "--goal": "drift", "--tau": "1.0",
    "--sides": "both",
}  # fmt: skip
# Most are the defaults: to write them down is to expect that they decide something.
COMMAND = typer.main.get_command(app).commands["evaluate"]
OPTIONS = {
    param.name: param.opts[0]
    for param in COMMAND.params
    if param.opts[0].startswith("--") and param.name != "help"
}
TUNING = ("epochs", "lr", "max_length")


def written(flag):
    return [flag] if VALUES[flag] is None else [flag, VALUES[flag]]


def test_the_table_is_of_every_option_and_every_suite():
    assert set().union(*USED.values()) == set(OPTIONS), "a new option stands in suite_options.USED"
    assert set(VALUES) | {"--suite"} == set(OPTIONS.values())
    assert set(USED) == set(get_args(get_type_hints(evaluate)["suite"]))


@pytest.mark.parametrize("suite", USED)
def test_what_a_suite_uses_is_taken_and_anything_else_refused(suite):
    for name, flag in OPTIONS.items():
        if name == "suite":
            continue
        context = COMMAND.make_context("evaluate", ["nowhere/model", "--suite", suite, *written(flag)])
        if name in USED[suite]:
            assert require_used(context, suite)[name] == flag
            continue
        told = (
            f"--suite {suite}: {flag} would decide nothing: it uses --suite, --data, --pooling, --threads, "
        )
        with pytest.raises(InputError, match=f"^{re.escape(told)}") as refused:
            require_used(context, suite)
        others = " or ".join(other for other in USED if name in USED[other])
        assert str(refused.value).endswith(f". Leave it out, or choose --suite {others}")


def test_several_are_refused_at_once(rse):
    ended = rse("evaluate", "nowhere/model", "--goal", "drift", "--variant", "orig", "--lr", "1")
    assert ended.code == 2
    assert ended.err.startswith("--suite sts: --lr, --goal would decide nothing")
    ended = rse("evaluate", "nowhere/model", "--suite", "nli", "--goal", "drift", "--variant", "orig")
    assert ended.err.rstrip().endswith(". Leave it out")  # no suite uses both


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--goal drift", "--on mr: --goal would decide nothing: classifiers are attacked, not similarity. Leave it"),
        ("--on imdb --on mr --tau 1 --sides both", "--on imdb, mr: --tau, --sides would"),
        ("--on AdvSTS-B --epochs 3 --lr 5e-5", "--on AdvSTS-B: --epochs, --lr would decide nothing: similarity"),
        ("--on AdvSTS-B --max-length 128", "--max-length would decide nothing"),
        ("--on AdvSICK-R --goal maximise --tau 1", "--goal maximise: --tau would decide nothing: there is no distance"),
        ("--recipe pwws --masked-lm minilm-mlm", "--recipe pwws: --masked-lm would decide nothing: no masked language"),
    ],
    ids=str,
)  # fmt: skip
def test_what_these_attacks_do_not_use_is_refused(rse, arguments, words):
    ended = rse("evaluate", "nowhere/model", "--suite", "attacks", *arguments.split())
    assert ended.code == 2
    assert words in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        "--on AdvSTS-B --goal drift --tau 1 --sides both",
        "--on AdvSTS-B --on mr --goal maximise --sides both --epochs 3 --lr 5e-5 --max-length 128",
        "--recipe pwws --recipe bae --masked-lm minilm-mlm",
        "--on mrr --goal drift --epochs 3",
        "--recipe pws --masked-lm minilm-mlm",
    ],
    ids=str,
)
def test_what_one_of_them_uses_is_not_and_unknown_names_are_told_first(rse, arguments):
    ended = rse("evaluate", "nowhere/model", "--suite", "attacks", *arguments.split())
    assert ended.code == 2  # of data that are not there, or a name
    assert "would decide nothing" not in ended.err


def test_a_fine_tuning_is_by_default_what_a_study_does():
    """One name, one setting: figures of the command and of a study are then of the same classifiers."""
    defaults = {param.name: param.default for param in COMMAND.params}
    own = FineTuning().model_dump()
    assert {name: defaults[name] for name in TUNING} == {name: own[name] for name in TUNING}
