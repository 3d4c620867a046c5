"""What `evaluate` does: the suite decides what is read, fine-tuned or attacked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.cli.arguments.completion import Context
from rse_study.cli.verbs.evaluate.attack_options import Given, require_used, require_used_by_attacks
from rse_study.data.pairs import Variant


@dataclass(frozen=True)
class EvaluateRequest:
    """What is evaluated and where it goes, as the command line says it."""

    model: str
    suite: str
    data: Path | None
    pooling: str
    variant: Variant
    threads: int
    as_json: bool
    out: Path | None
    on: Sequence[str]
    recipes: Sequence[str]


def evaluate_model(
    context: Context,
    request: EvaluateRequest,
    seed: int,
    tuning: dict[str, Any],
    attacks: dict[str, Any],
) -> None:
    """Evaluate an encoder and print its scores.

    Parameters
    ----------
    context
        The parsed command line, which knows what was given and what is a default.
    request
        What is evaluated, and where the outcome goes.
    seed
        Of what nli, glue and attacks draw.
    tuning
        Fields of FineTuning.
    attacks
        Fields of Attacks, without the seed.

    Raises
    ------
    InputError
        Where an option was given that would decide nothing.
    """
    given = require_used(context, request.suite)
    if request.suite in ("nli", "glue"):
        _fine_tuned(request, seed, tuning)
    elif request.suite == "attacks":
        _attacked(request, given, {**attacks, "seed": seed}, tuning)
    else:
        from rse_study.cli.verbs.evaluate.frozen import evaluate_frozen

        evaluate_frozen(request)


def _fine_tuned(request: EvaluateRequest, seed: int, tuning: dict[str, Any]) -> None:
    from rse_study.cli.verbs.evaluate.fine_tune import FineTuningRequest, evaluate_fine_tuned
    from rse_study.data.location import data_dir
    from rse_study.downstream.settings import Attacks, Settings, Tasks
    from rse_study.study.definition.reading import build
    from rse_study.training.classifier.config import FineTuning

    settings = Settings(Attacks(), build(FineTuning, tuning, where="evaluate"), Tasks(seed=seed))
    wanted = FineTuningRequest(request.suite, request.data or data_dir(), request.on, settings, request.out)
    evaluate_fine_tuned(request.model, request.pooling, wanted, request.threads, request.as_json)


def _attacked(
    request: EvaluateRequest, given: Given, attacks: dict[str, Any], tuning: dict[str, Any]
) -> None:
    from rse_study.cli.verbs.evaluate.attack import AttackRequest, can_run, evaluate_attacks
    from rse_study.data.location import data_dir
    from rse_study.downstream.settings import Attacks, Settings
    from rse_study.evaluation.attacks.recipes import RECIPES
    from rse_study.study.definition.reading import build
    from rse_study.training.classifier.config import FineTuning

    trained = build(FineTuning, tuning, where="evaluate")
    sets = request.on or ["mr"]
    recipes = request.recipes or [name for name in RECIPES if can_run(name, attacks["masked_lm"])]
    require_used_by_attacks(given, sets, recipes, attacks["goal"])
    settings = Settings(build(Attacks, attacks, where="evaluate"), trained)
    wanted = AttackRequest(
        request.data or data_dir(), sets, recipes, settings, request.out or Path("attacks")
    )
    evaluate_attacks(request.model, request.pooling, wanted, request.threads, request.as_json)
