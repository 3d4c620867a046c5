"""AdvSTS: similarity scores attacked by one recipe (RobustSentEmbed, section 4.2)."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from rse_study.activity import ProgressCallback
from rse_study.assets.attack_resources import ResourceLoader, fingerprint_resources, resources_for
from rse_study.assets.store import fingerprint_of_model
from rse_study.data.labelled import StsPairs
from rse_study.data.readers import DEV_SPLITS, read_sts
from rse_study.downstream import Attacks, Settings
from rse_study.downstream.attacked_classifier import figures_of, rows_under_attack, summary_row
from rse_study.downstream.models import ModelFiles
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import AttackOutcome, Goal, Move
from rse_study.evaluation.attacks.outcome_store import REMEDY, OutcomeStore, attack_and_store
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.evaluations import Embed
from rse_study.evaluation.sts import ScoreMap, fit_score, sample_of, summarise_scores, targets_of, victim_of
from rse_study.results.files import attack_file
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

NOT_ASKED = {"masked_lm", "num_training", "classifier"}
"""Settings that change no result here; the masked LM is covered by `made_of`."""
PREFIX = "Adv"
MAP = "map"
"""Key in the file's head: the map to the gold scale, as cosines and scores."""


@dataclass(frozen=True)
class AttackedSimilarity:
    """One recipe on the test pairs of one task."""

    pairs: StsPairs
    fitting: StsPairs
    """Dev pairs on which the map from cosines to the gold scale is fitted."""
    recipe: str
    attacks: Attacks
    resources: ResourceLoader
    made_of: str

    @classmethod
    def read(cls, name: str, data_dir: Path, settings: Settings) -> "AttackedSimilarity":
        """Read the test pairs to attack, and the dev pairs that fit the map."""
        task, recipe = name.removeprefix(PREFIX).split("/")
        pairs, fitting = (read_sts(task, split, data_dir) for split in ("test", DEV_SPLITS[task]))
        made_of = fingerprint_resources(recipe, data_dir, settings.attacks.masked_lm)
        resources = resources_for(recipe, data_dir, settings.attacks.masked_lm)
        return cls(pairs, fitting, recipe, settings.attacks, resources, made_of)

    @property
    def task(self) -> str:
        return f"{PREFIX}{self.pairs.name}"

    def relocated(self, move: Callable[[str], str]) -> "AttackedSimilarity":
        return replace(self, resources=self.resources.relocated(move))

    @property
    def name(self) -> str:
        return f"{self.task}/{self.recipe}"

    @property
    def drawn(self) -> tuple[int, ...]:
        """Indices of the pairs that are attacked; empty if all of them are."""
        num_wanted = self.attacks.num_inputs
        is_all = num_wanted == 0 or num_wanted >= len(self.pairs)
        return () if is_all else tuple(self._sample.tolist())

    @cached_property
    def fingerprint(self) -> str:
        data = [self.pairs.fingerprint, self.fitting.fingerprint, self.recipe]
        asked = self._decisive | {"num_inputs": len(self.drawn)}
        return fingerprint_of([*data, asked, self.made_of, *self.drawn])

    @property
    def measures(self) -> tuple[Measure, ...]:
        left = Measure(name=f"{self.name} Spearman", metric=f"{self.name}/spearman_under_attack")
        if self.attacks.goal == attack_file.FURTHEST:
            return (left,)
        success = Measure(
            name=f"{self.name} success", metric=f"{self.name}/success_rate", direction="minimize"
        )
        return success, left

    @property
    def num_sentences(self) -> int:
        num_pairs = min(self.attacks.num_inputs or len(self.pairs), len(self.pairs))
        return 2 * (num_pairs + len(self.fitting))

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return one row per figure; shares and correlations x100.

        `maximise` has no threshold, so it gets no success or accuracy row. If the clean scores rank nothing,
        rows are degenerate: an encoder that no attack can move is not robust for that.
        """
        found, outcomes = self.attacked(embed, weights, replaces=True)
        figures = figures_of(found)
        if self.attacks.goal == attack_file.FURTHEST:
            figures = {name: figures[name] for name in ("queries", "words_changed")}
        scores = {
            "clean_spearman": found.clean_spearman,
            "spearman_under_attack": found.spearman_under_attack,
            "drift": found.mean_drift,
        }
        figures |= {name: nan if value is None else value for name, value in scores.items()}
        return rows_under_attack(self, subject, self.pairs.split, found, figures, outcomes)

    def attacked(
        self,
        embed: Embed,
        weights: ModelFiles,
        on_progress: ProgressCallback = lambda done, total: None,
        *,
        replaces: bool = False,
    ) -> tuple[attack_file.SummaryRow, list[AttackOutcome]]:
        """Attack the pairs that have no stored outcome yet; return figures and outcomes.

        The map to the gold scale is the one in the file's head: a refit could differ in its last digits and
        mix scales. Outcomes of another attack raise InputError, or are overwritten if `replaces` is set.
        """
        asked, folder = self.attacks, weights.kept
        recipe = RECIPES.get(self.recipe)(sides=asked.sides)
        attack = recipe.build(self.resources(weights.device), goal_of(asked))
        fitted = fit_score(embed, self.fitting, asked.scores)
        outcomes = OutcomeStore(
            attack_file.outcomes_path(folder, self.task, self.recipe),
            self._head(weights, attack.label),
            {MAP: [fitted.cosines.tolist(), fitted.scores.tolist()]},
            replaces=replaces,
        )
        victim = victim_of(embed, _map_of(outcomes, fitted, replaces))
        kept = attack_and_store(
            attack, victim, targets_of(self.pairs, self._sample), outcomes,
            max_queries=asked.max_queries, seed=asked.seed, on_progress=on_progress,
        )  # fmt: skip
        found = asdict(summarise_scores(kept.outcomes))
        counts, clean = found.pop("counts"), found["clean_spearman"]
        # Without a clean Spearman, e.g. by a constant map, all pairs score alike, and no change moves them.
        row = summary_row(
            outcomes, kept, counts | found, victim_dev_accuracy=None,
            weak=clean != clean, fingerprint=self.fingerprint, drawn=self.drawn,
        )  # fmt: skip
        row = attack_file.reaching(row, asked.goal, asked.tau)
        attack_file.keep_summary(folder, row, replaces=replaces)
        return row, kept.outcomes

    @cached_property
    def _sample(self) -> Int[np.ndarray, " m"]:
        return sample_of(len(self.pairs), self.attacks.num_inputs, self.attacks.seed)

    def _head(self, weights: ModelFiles, label: str) -> dict[str, Any]:
        """Return what identifies the attack, without the number of pairs, which may grow."""
        return {
            "recipe": self.recipe,
            "label": label,
            "victim": attack_file.SIMILARITY,
            "set": self.task,
            "encoder": fingerprint_of_model(weights.base, weights.revision),
            "pooling": weights.pooling,
            "template": weights.template,
            **({"prompt": weights.prompt} if weights.prompt else {}),
            "made_of": self.made_of,
            "fingerprint": fingerprint_of([self.pairs.fingerprint, self.fitting.fingerprint]),
            **self._decisive,
        }

    @property
    def _decisive(self) -> dict[str, Any]:
        """Settings that change results; `maximise` gets the default tau, as in older files."""
        said = self.attacks.model_dump(mode="json", exclude={*NOT_ASKED, "num_inputs"})
        return said | ({"tau": Attacks().tau} if self.attacks.goal == attack_file.FURTHEST else {})


def _map_of(kept: OutcomeStore, fitted: ScoreMap, replaces: bool) -> ScoreMap:
    """Return the map in the file's head; a damaged file is set aside if `replaces`."""
    try:
        return ScoreMap(fitted.kind, *_points(kept))
    except InputError:
        if not replaces:
            raise
        kept.set_aside()
        return ScoreMap(fitted.kind, *_points(kept))


def _points(kept: OutcomeStore) -> Float[np.ndarray, "2 k"]:
    try:
        points = np.array(kept.head[MAP], np.float64)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.ndim != 2 or len(points) != 2 or not points.size or not np.isfinite(points).all():
        rule = "it is as many cosines as scores"
        raise InputError(f"damaged: {MAP}", where=str(kept.path), rule=rule, remedy=REMEDY)
    return points


def goal_of(attacks: Attacks) -> Goal:
    """Return the goal function that the settings name."""
    if attacks.goal == attack_file.FURTHEST:
        return Move(distance="drift", tau=None)
    return Move(distance=attacks.goal, tau=attacks.tau)
