"""PWWS beside TextAttack's own, on the same inputs and the same victim, input by input:

    python -m tests.crosscheck.pwws --victim FOLDER --textattack PYTHON [--set mr] [--inputs 200] [--out FILE.json]

FOLDER: a classifier of `attack`, or any of Hugging Face's. PYTHON: that of an environment with
TextAttack (docs/results/pwws_crosscheck.md). With --out the same command goes on where it was interrupted. Ends with 0
if every input is equal or differs by a choice of decision 0012, with 1 if not, with 2 if something is missing.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.data.attack_sets import read_attack_set
from rse_study.data.labelled import Labelled
from rse_study.data.location import data_dir
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import Attack
from rse_study.evaluation.attacks.engine import attack_all
from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.outcome_store import OutcomeStore
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.evaluation.attacks.single_input import Target
from rse_study.evaluation.attacks.victim import Victim
from rse_study.models.classifier_folder import load_classifier
from tests.crosscheck.bridge import TextAttack
from tests.crosscheck.pairs import Pair, is_accounted_for, paired, report, table
from tests.crosscheck.reasons import Precision, Reason, reason
from tests.crosscheck.traces import our_trace, their_trace

SEED, NO_LIMIT, LINE_EVERY = 0, 10**9, 10


@dataclass(frozen=True)
class Scene:
    """Who is attacked, with what, by ours."""

    attack: Attack
    victim: Victim
    targets: Sequence[Target]
    precision: Precision = "float64"


def alone(predict: Victim) -> Victim:
    """Each text in a forward pass of its own: beside others, float32's last bits would depend on who else is asked."""
    return lambda texts: np.concatenate([predict([text]) for text in texts])


def targets_of(inputs: Labelled, num_inputs: int) -> list[Target]:
    """The first inputs of a set; all of them where there are fewer."""
    pairs = zip(inputs.texts, inputs.labels.tolist(), strict=True)
    return [Target(index, text, label) for index, (text, label) in enumerate(pairs)][:num_inputs]


def our_outcomes(scene: Scene, kept: OutcomeStore) -> None:
    """By the engine, as in every evaluation: whatever it merges, the victim answers text by text."""
    how = {"max_queries": NO_LIMIT, "seed": SEED, "done": dict(kept.done)}
    found = attack_all(scene.attack, scene.victim, scene.targets, **how)
    _keep("ours", found, kept, len(scene.targets))


def their_outcomes(scene: Scene, textattack: TextAttack, kept: OutcomeStore) -> None:
    left = [target for target in scene.targets if target.index not in kept.done]
    _keep("TextAttack", map(textattack.attack, left), kept, len(scene.targets))


def reason_of(scene: Scene, textattack: TextAttack, pair: Pair) -> Reason:
    """Both once more, all that they ask noted."""
    target = Target(pair.ours.index, pair.ours.original, pair.ours.label)

    @cache
    def score(text: str) -> float:
        return 1.0 - float(scene.victim([(text,)])[0][int(target.gold)])

    mine = our_trace(scene.attack, scene.victim, target, SEED)
    theirs = their_trace(target.text[0], textattack.trace(target))
    return reason(mine, theirs, score, scene.precision)


def compare(scene: Scene, textattack: TextAttack, ours: OutcomeStore, theirs: OutcomeStore) -> dict[str, Any]:
    """The report on all targets."""
    our_outcomes(scene, ours)
    their_outcomes(scene, textattack, theirs)
    pairs = paired(ours, theirs, (target.index for target in scene.targets))
    reasons = {pair.ours.index: reason_of(scene, textattack, pair) for pair in pairs if pair.differing}
    return report(pairs, reasons)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = _run(asked, asked.out or Path(folder) / "report.json")
    except InputError as error:
        say(error)
        return 2
    print(table(found))
    return 0 if is_accounted_for(found) else 1


def _run(asked: argparse.Namespace, out: Path) -> dict[str, Any]:
    inputs = read_attack_set(asked.set, data_dir())
    predict = alone(load_classifier(asked.victim).predicting(inputs.classes))
    targets = targets_of(inputs, asked.inputs)
    scene = Scene(RECIPES.get("pwws")().build(AttackResources(data_dir())), predict, targets, asked.precision)
    victim = fingerprint_of_model(str(asked.victim))
    head = {"set": asked.set, "fingerprint": inputs.fingerprint, "victim": victim, "seed": SEED}
    with TextAttack(asked.textattack, scene.victim, data_dir(), asked.precision) as textattack:
        ours = OutcomeStore(out.with_suffix(".ours.jsonl"), head)
        their_head = head | {"precision": asked.precision, "versions": textattack.versions}
        theirs = OutcomeStore(out.with_suffix(f".{asked.precision}.jsonl"), their_head)
        found = compare(scene, textattack, ours, theirs) | their_head
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def say(words: object) -> None:
    print(words, file=sys.stderr, flush=True)


def _keep(name: str, outcomes: Iterable[AttackOutcome], kept: OutcomeStore, wanted: int) -> None:
    for outcome in outcomes:
        kept.add(outcome)
        if len(kept.done) % LINE_EVERY == 0 or len(kept.done) == wanted:
            say(f"{name}: {len(kept.done)} of {wanted} inputs")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="PWWS beside TextAttack's own, input by input.")
    parser.add_argument("--victim", type=Path, required=True, help="a classifier's folder")
    parser.add_argument("--textattack", required=True, help="python of an environment with TextAttack")
    parser.add_argument("--set", default="mr", help="an attack set of single texts")
    parser.add_argument("--inputs", type=int, default=200, help="how many, from the first")
    parser.add_argument(
        "--precision", choices=("float64", "float32"), default="float64", help="of TextAttack's"
    )
    parser.add_argument("--out", type=Path, help="where the report goes; outcomes are kept beside it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
