"""An evaluation that fine-tunes a classifier and attacks it with one recipe."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from math import nan
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import matthews_corrcoef

from rse_study.activity import ProgressCallback
from rse_study.assets.attack_resources import ResourceLoader, fingerprint_resources, resources_for
from rse_study.assets.victim import VictimClassifier
from rse_study.data.attack_sets import OF_GLUE, read_attack_set, training_for
from rse_study.data.labelled import Labelled
from rse_study.downstream import Settings
from rse_study.downstream.fine_tuned_tasks import classifier_of, drawn
from rse_study.downstream.models import ModelFiles
from rse_study.evaluation.attacks.attack import AttackOutcome, summarise
from rse_study.evaluation.attacks.outcome_store import AttackRun, OutcomeStore, attack_and_store
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.evaluations import Embed, Evaluation, evaluation_rows
from rse_study.results.files.attack_file import ATTACK, CLASSES, SummaryRow, keep_summary, outcomes_path
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

SHARES = {
    "success_rate": {"succeeded": 100.0, "failed": 0.0, "skipped": nan},
    "accuracy_under_attack": {"succeeded": 0.0, "failed": 100.0, "skipped": 0.0},
}
"""what each outcome adds to a figure that is a mean over inputs"""


def attack_items(outcomes: Sequence[AttackOutcome], figure: str) -> ItemScores | None:
    """Return the scores of the inputs behind a figure.

    None of a figure that is neither a mean over inputs nor a correlation.
    """
    if figure in SHARES:
        return ItemScores.of([SHARES[figure][one.outcome] for one in outcomes])
    if figure == "spearman_under_attack":
        return ItemScores.of([one.adversarial_scores[0] for one in outcomes], [one.label for one in outcomes])
    return None


PREFIX = "attack-"
WEIGHTS = "weights"
"""Key in the file's head: the hash of the victim's weights. Older files lack it."""


@dataclass(frozen=True)
class AttackedClassifier:
    """One recipe on one attack set."""

    fine_tunes: ClassVar = True
    whole: Labelled
    """The whole attack set, of which nothing is in `training`."""
    training: Labelled
    recipe: str
    settings: Settings
    resources: ResourceLoader
    """Called where the attack runs, because the models cannot be sent there."""
    made_of: str

    @classmethod
    def read(cls, name: str, data_dir: Path, settings: Settings) -> "AttackedClassifier":
        """Read set, recipe and training texts for a name such as attack-mr/pwws."""
        task, recipe = name.removeprefix(PREFIX).split("/")
        attacks = settings.attacks
        training = _training_texts(task, data_dir, settings.tasks.glue)
        places = drawn(len(training), attacks.num_training, attacks.seed)
        whole = read_attack_set(task, data_dir, settings.tasks.glue)
        made_of = fingerprint_resources(recipe, data_dir, attacks.masked_lm)
        resources = resources_for(recipe, data_dir, attacks.masked_lm)
        return cls(whole, training.take(places), recipe, settings, resources, made_of)

    def relocated(self, move: Callable[[str], str]) -> "AttackedClassifier":
        return replace(self, resources=self.resources.relocated(move), settings=self.settings.relocated(move))

    @property
    def name(self) -> str:
        return f"{self.whole.name}/{self.recipe}"

    @property
    def set(self) -> str:
        return self.whole.name.removeprefix(PREFIX)

    @property
    def is_probe(self) -> bool:
        return self.settings.attacks.classifier == "probe"

    @cached_property
    def inputs(self) -> Labelled:
        wanted = self.settings.attacks.num_inputs or len(self.whole)
        return self.whole.take(np.arange(min(wanted, len(self.whole))))

    @cached_property
    def fingerprint(self) -> str:
        attacks, tuning = self.settings.attacks, self.settings.fine_tuning
        asked = [attacks.max_queries, attacks.seed, self.made_of, tuning.identity()]
        if self.is_probe:
            asked.append(attacks.classifier)
        # The whole set: none of it is in the victim's training texts.
        texts = [self.inputs.fingerprint, self.whole.fingerprint, self.training.fingerprint]
        return fingerprint_of([*texts, *asked])

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (
            Measure(name=f"{self.name} success", metric=f"{self.name}/success_rate", direction="minimize"),
            Measure(name=f"{self.name} accuracy", metric=f"{self.name}/accuracy_under_attack"),
        )

    @property
    def num_sentences(self) -> int:
        """A lower bound: about three passes over the training texts in each epoch.

        A probe reads them once.
        """
        passes = 1 if self.is_probe else 3 * self.settings.fine_tuning.epochs
        return passes * len(self.training) + len(self.inputs)

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return one row per figure, all degenerate where the victim is weak."""
        made = self.victim(weights)
        found, outcomes = self.attacked(made, weights.kept, device=weights.device, replaces=True)
        figures = figures_of(found) | {"victim_accuracy": 100 * made.dev_accuracy}
        if self.set in OF_GLUE:
            figures["matthews_under_attack"] = _matthews(outcomes)
        return rows_under_attack(self, subject, self.inputs.split, found, figures, outcomes)

    def attacked(
        self,
        made: VictimClassifier,
        folder: Path,
        on_progress: ProgressCallback = lambda done, total: None,
        *,
        device: str = "cpu",
        replaces: bool = False,
    ) -> tuple[SummaryRow, list[AttackOutcome]]:
        """Attack the inputs that have no stored outcome yet; return figures and outcomes.

        Outcomes of another attack raise InputError, or are overwritten if `replaces` is set.
        """
        asked, attack = self.settings.attacks, RECIPES.get(self.recipe)().build(self.resources(device))
        classifier = made.load()
        classifier.network.to(device)
        outcomes = OutcomeStore(
            outcomes_path(folder, self.set, self.recipe),
            self._head(made, attack.label),
            {CLASSES: self.inputs.classes},
            since=(WEIGHTS,),
            replaces=replaces,
        )
        victim = classifier.predicting(self.inputs.classes)
        kept = attack_and_store(
            attack, victim, self.inputs, outcomes,
            max_queries=asked.max_queries, seed=asked.seed, on_progress=on_progress,
        )  # fmt: skip
        row = summary_row(
            outcomes, kept, asdict(summarise(kept.outcomes)),
            victim_dev_accuracy=made.dev_accuracy, weak=made.is_weak, fingerprint=self.inputs.fingerprint,
        )  # fmt: skip
        keep_summary(folder, row, replaces=replaces)
        return row, kept.outcomes

    def _head(self, made: VictimClassifier, label: str) -> dict[str, Any]:
        """Identify the attack; the number of inputs is not part of it and may grow."""
        return {
            "recipe": self.recipe,
            "label": label,
            "victim": made.folder.name,
            WEIGHTS: made.weights,
            "set": self.set,
            "made_of": self.made_of,
            "fingerprint": self.whole.fingerprint,
            "max_queries": self.settings.attacks.max_queries,
            "seed": self.settings.attacks.seed,
        }

    def victim(
        self, weights: ModelFiles, on_progress: ProgressCallback = lambda done, total: None
    ) -> VictimClassifier:
        """Return the classifier, trained on nothing from the set; all recipes share it."""
        asked, scored = self.settings.attacks, self.whole.texts
        return classifier_of(
            weights, self.training, scored, asked.seed, self.settings, on_progress, is_probe=self.is_probe
        )


@lru_cache(maxsize=4)
def _training_texts(name: str, data_dir: Path, glue: str) -> Labelled:
    return training_for(name, data_dir, glue)


def _matthews(outcomes: Sequence[AttackOutcome]) -> float:
    """Return the correlation x100 of labels and answers to the attacked texts."""
    answers = [int(np.argmax(one.adversarial_scores)) for one in outcomes]
    return 100 * float(matthews_corrcoef([one.label for one in outcomes], answers))


def figures_of(found: SummaryRow) -> dict[str, float]:
    """Return the figures that papers report, by name; shares x100."""
    shown = {
        "success_rate": found.success_rate,
        "original_accuracy": found.original_accuracy,
        "accuracy_under_attack": found.accuracy_under_attack,
        "words_changed": found.share_of_words_changed,
    }
    shares = {name: nan if value is None else 100 * value for name, value in shown.items()}
    return shares | {"queries": nan if found.mean_queries is None else found.mean_queries}


def rows_under_attack(
    evaluation: Evaluation,
    subject: str,
    split: str,
    found: SummaryRow,
    figures: Mapping[str, float],
    outcomes: Sequence[AttackOutcome],
) -> list[EvaluationRow]:
    """Return one row per figure with the scores of its inputs.

    All are degenerate where the victim is weak.
    """
    items = {name: attack_items(outcomes, name) for name in figures}
    about = evaluation, subject, split, figures, found.num_inputs
    return evaluation_rows(
        *about, degenerate=found.weak, items=items, num_skipped=found.num_skipped, seed=found.seed
    )


def summary_row(
    store: OutcomeStore, run: AttackRun, figures: Mapping[str, int | float], **own: Any
) -> SummaryRow:
    """Return the summary of an attack, with fields of its own."""
    known = {name: store.head[name] for name in ("set", "recipe", "label", "victim", "seed", ATTACK)}
    now = {"num_now": run.num_now, "seconds_now": run.seconds_now}
    counts = {name: None if value != value else value for name, value in figures.items()}  # JSON has no NaN
    return SummaryRow(**known, **now, **counts, **own)
