"""Options of `benchmarks.own_base`, and the settings that they stand for."""

import argparse
import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.own_base.plan import COMMAND
from rse_study.data.location import data_dir
from rse_study.errors import InputError
from rse_study.spec import canonical_json
from rse_study.yaml12 import read_yaml

if TYPE_CHECKING:  # torch, which the report does without
    from rse_study.assets.tiny import TinyEncoder
    from rse_study.training.trial import Trial

SIMCSE_OF = "bases/mini.yaml"
ANY_EPOCHS = 1_000_000
WIDTH_OF_BERT, SPREAD_OF_BERT = 768, 0.02


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = argparse.ArgumentParser(prog=COMMAND)
    made.add_argument("--data", type=Path, default=data_dir(), help="the data folder (RSE_STUDY_DATA)")
    amounts = [4000, 16000, 64000, 0]
    made.add_argument("--sentences", type=int, nargs="+", default=amounts, help="amounts of text; 0: all")
    made.add_argument(
        "--seeds", type=int, nargs="+", default=[0, 1, 2], help="of masked LMs, at the largest amount"
    )
    _add_base_options(made)
    _add_simcse_options(made)
    folder = Path("build/bench/own_base")
    made.add_argument(
        "--out", type=Path, default=folder, help="a folder for rows and encoders; goes on there"
    )
    add_report_options(made)
    return made


def add_report_options(made: argparse.ArgumentParser) -> None:
    """Add where the report's files go."""
    made.add_argument(
        "--tables", type=Path, help="a folder for two Parquet files (default: that of the rows)"
    )
    made.add_argument("--figures", type=Path, help="a folder for two PNG files; without it none is drawn")


def base_spec(options: argparse.Namespace, seed: int) -> "TinyEncoder":
    """The base of a seed. Raises InputError where the options do not fit one another."""
    from rse_study.assets.tiny import TinyEncoder
    from rse_study.study.definition.reading import build

    if options.heads < 1 or options.width % options.heads:
        rule, remedy = "the width must be a multiple of the heads", "Choose other ones"
        raise InputError(f"--width {options.width} --heads {options.heads}", rule=rule, remedy=remedy)
    training = {
        "num_steps": options.steps,
        # As many passes as the steps take: then the amount of text is all that differs.
        "max_epochs": options.epochs or ANY_EPOCHS,
        "batch_size": options.batch,
        "max_length": options.length,
        "lr": options.lr,
        "seed": seed,
    }
    content = {
        "vocabulary_size": options.pieces,
        "hidden_size": options.width,
        "num_layers": options.layers,
        "num_heads": options.heads,
        "intermediate_size": 4 * options.width,
        # Products of a layer then vary as BERT's do; at d 128 this is the 0.05 that was measured for `tiny`.
        "initializer_range": round(SPREAD_OF_BERT * (WIDTH_OF_BERT / max(options.width, 1)) ** 0.5, 3),
        "training": training,
    }
    return build(TinyEncoder, content, where="the base")


def simcse_trial(options: argparse.Namespace, encoder: str) -> "Trial":
    """SimCSE on the Wikipedia sentences, from an encoder's folder. Raises InputError."""
    from rse_study.study.definition.reading import build
    from rse_study.training.trial import Trial

    steps = options.simcse_steps
    content = _mini() | {
        "method": {"preset": "simcse"},
        "encoder": {"name": encoder, "pooling": "mean"},
        "optimizer": {"lr": options.simcse_lr},
        "budget": {"unit": "steps", "amount": steps},
        "batch_size": options.simcse_batch,
        "max_length": options.length,
        "selection": {"dev": "STS-B", "every": steps, "keep": "last"},
    }
    return build(Trial, content, where="SimCSE")


def recipe_of(options: argparse.Namespace) -> dict[str, Any]:
    """Settings that rows of one folder share.

    Raises InputError where one is no setting, or two do not fit each other.
    """
    seeds = [base_spec(options, seed) for seed in options.seeds]  # all of them are checked
    base, simcse = seeds[0].identity(), simcse_trial(options, "a base").identity()
    del base["training"]["seed"], simcse["encoder"]["name"]
    # As it is read again from a file: lists, no tuples.
    recipe: dict[str, Any] = json.loads(canonical_json({"base": base, "simcse": simcse}))
    return recipe


def _add_base_options(made: argparse.ArgumentParser) -> None:
    base = made.add_argument_group("the base, a masked LM")
    base.add_argument("--steps", type=int, default=3000, help="of its training")
    base.add_argument("--epochs", type=int, default=0, help="at most so many passes over the text; 0: any")
    base.add_argument("--batch", type=int, default=64, help="sentences of a step")
    base.add_argument("--length", type=int, default=32, help="most tokens of a sentence, of SimCSE's too")
    base.add_argument("--lr", type=float, default=1e-3, help="learning rate")
    base.add_argument("--layers", type=int, default=4, help="of the encoder")
    base.add_argument("--width", type=int, default=256, help="of its vectors; four times that between")
    base.add_argument("--heads", type=int, default=4, help="of its attention")
    base.add_argument("--pieces", type=int, default=8000, help="of its vocabulary, at most")


def _add_simcse_options(made: argparse.ArgumentParser) -> None:
    simcse, mini = made.add_argument_group("SimCSE from it"), _mini()
    steps, batch, lr = mini["budget"]["amount"], mini["batch_size"], mini["optimizer"]["lr"]
    simcse.add_argument("--simcse-seeds", type=int, nargs="+", default=[0, 1], help="for each encoder")
    simcse.add_argument("--simcse-steps", type=int, default=steps, help="of its training")
    simcse.add_argument("--simcse-batch", type=int, default=batch, help="sentences of a step")
    simcse.add_argument("--simcse-lr", type=float, default=lr, help="learning rate of the first step")


def _mini() -> dict[str, Any]:
    """The base trial of the studies at a scale of minutes."""
    content: dict[str, Any] = read_yaml(Path(str(files("search_spaces"))) / SIMCSE_OF)["base"]
    return content
