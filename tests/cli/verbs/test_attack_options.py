"""`attack` refuses what was given and would have no effect, before anything is loaded; defaults are no matter."""

import typer

from rse_study.cli.app import app
from rse_study.training.classifier import FineTuning
from tests.cases import cases

UNUSED = {
    "--goal drift": "--on mr: --goal would have no effect: classifiers are attacked, not similarity. Leave it",
    "--on imdb --on mr --tau 1 --sides both": "--on imdb, mr: --tau, --sides would",
    "--on AdvSTS-B --epochs 3 --lr 5e-5": "--on AdvSTS-B: --epochs, --lr would have no effect: similarity",
    "--on AdvSTS-B --max-length 128": "--max-length would have no effect",
    "--on AdvSICK-R --goal maximise --tau 1": "maximise: --tau would have no effect: there is no distance",
    "--recipe pwws --masked-lm minilm-mlm": "pwws: --masked-lm would have no effect: no masked language",
}
USED = (
    "--on AdvSTS-B --goal drift --tau 1 --sides both",
    "--on AdvSTS-B --on mr --goal maximise --sides both --epochs 3 --lr 5e-5 --max-length 128",
    "--recipe pwws --recipe bae --masked-lm minilm-mlm",
    "--on mrr --goal drift --epochs 3",
    "--recipe pws --masked-lm minilm-mlm",
)


@cases(("arguments", "words"), UNUSED.items())
def test_what_these_attacks_do_not_use_is_refused(rse, arguments, words):
    ended = rse("attack", "nowhere/model", *arguments.split())
    assert ended.code == 2
    assert words in ended.err


@cases("arguments", USED)
def test_what_one_of_them_uses_is_not_and_unknown_names_are_told_first(rse, arguments):
    ended = rse("attack", "nowhere/model", *arguments.split())
    assert ended.code == 2  # of data that are not there, or a name
    assert "would have no effect" not in ended.err


@cases("command", ["attack", "fine-tune"])
def test_a_fine_tuning_is_by_default_what_a_study_does(command):
    """One name, one setting: figures of the command and of a study are then of the same classifiers."""
    params = typer.main.get_command(app).commands[command].params
    defaults, own = {param.name: param.default for param in params}, FineTuning().model_dump()
    assert defaults.items() >= {name: own[name] for name in ("epochs", "lr", "max_length")}.items()
