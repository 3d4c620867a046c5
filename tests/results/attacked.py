"""A folder of attacks as `attack` leaves it, by the parts that write it, of made-up outcomes."""

import json
from dataclasses import asdict

from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.attacks.attack import AttackOutcome, summarise
from rse_study.evaluation.attacks.outcome_store import OutcomeStore
from rse_study.results.files.attack_file import SummaryRow, reaching


def outcome(
    index, text, changes=None, verdict="succeeded", label=0, num_queries=10, scores=((0.8, 0.2), (0.3, 0.7))
):
    """`changes`: other words by position."""
    attacked = AttackedText.of(text if isinstance(text, tuple) else (text,))
    for position, new in (changes or {}).items():
        attacked = attacked.replaced(position, new)
    found = (num_queries, len(attacked), attacked.changed)
    return AttackOutcome(index, attacked.original, attacked.text, verdict, label, *scores, *found)


def skipped(index, text="it is what it is"):
    return outcome(index, text, verdict="skipped", num_queries=1, scores=((0.1, 0.9), (0.1, 0.9)))


def keep(folder, attack_set, recipe, outcomes, seed=0, classes=(), goal=None, tau=1.0):
    """The file of outcomes alone: an attack under way. Without `classes` as they were written at first.

    With a `goal` similarity is attacked.
    """
    head = {
        "recipe": recipe, "label": f"{recipe}-like: made up", "victim": victim_of(attack_set, goal), "set": attack_set,
        "fingerprint": "of the whole set", "max_queries": 99, "seed": seed,
    } | ({"goal": goal, "tau": tau} if goal else {})  # fmt: skip
    noted = {"classes": classes} if classes else {}
    kept = OutcomeStore(folder / f"{attack_set}-{recipe}.jsonl", head, noted)
    for one in outcomes:
        kept.add(one)
    return kept


def victim_of(attack_set, goal):
    return "similarity" if goal else f"victim-{attack_set}"


def end(
    folder,
    attack_set,
    recipe,
    outcomes,
    num_inputs=None,
    weak=False,
    classes=(),
    goal=None,
    tau=1.0,
    **scores,
):
    """An attack that has ended: its outcomes, and its row of the summary, about the first `num_inputs`."""
    kept = keep(folder, attack_set, recipe, outcomes, classes=classes, goal=goal, tau=tau)
    counted = [one for one in outcomes if num_inputs is None or one.index < num_inputs]
    figures = {key: None if value != value else value for key, value in asdict(summarise(counted)).items()}
    row = {
        "set": attack_set, "recipe": recipe, "label": f"{recipe}-like: made up", "victim": victim_of(attack_set, goal),
        "victim_dev_accuracy": None if goal else 0.55 if weak else 0.83, "weak": weak, **figures,
        "num_now": len(counted), "seconds_now": 1.5, "seed": 0,
        "fingerprint": "of the inputs", "attack": kept.head["attack"], **scores,
    }  # fmt: skip
    row = reaching(SummaryRow.model_validate(row), goal, tau if goal else None).model_dump(mode="json")
    path = folder / "summary.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    path.write_text(json.dumps([*known, row], indent=1) + "\n", encoding="utf-8")
