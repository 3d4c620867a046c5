"""The replayed adversarial set: dev pairs attacked once against a reference encoder, for every trial of a study."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.similarity import sentence_similarity
from rse_study.assets.store import build, write_meta
from rse_study.data.pairs import StsPairs
from rse_study.data.wordnet import wordnet_fingerprint
from rse_study.evaluation.adversarial_sts import fit_score, summarise_scores, targets_of, victim_of
from rse_study.evaluation.attacks.engine import attack
from rse_study.evaluation.attacks.goals import Maximise
from rse_study.evaluation.attacks.outcome import Outcome
from rse_study.evaluation.attacks.recipes import PWWS, TextBugger, TextFooler
from rse_study.evaluation.attacks.resources import Resources
from rse_study.evaluation.replayed import ReplayedPairs
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.training.trial import Encoder, Replayed

KIND = "adversarial"
SEMANTICS = 1  # bump when the same settings find other texts
Told = Callable[[int, int], None]  # pairs done, of how many
_RECIPES: dict[str, Callable[..., Any]] = {"pwws": PWWS, "textbugger": TextBugger, "textfooler": TextFooler}


def adversarial_set(
    root: Path,
    replayed: Replayed,
    base: str,
    encoder: Encoder,
    dev: StsPairs,
    data_dir: Path,
    told: Told = lambda done, total: None,
) -> Path:
    """The folder of the set, made if it is not there yet. `base`: what `reference: base` stands for.

    Raises InputError where the reference, WordNet or the lists of words are missing.
    """
    is_base = replayed.reference == "base"
    reference, revision = (base, encoder.revision) if is_base else (replayed.reference, "main")
    key = {
        "reference": fingerprint_of_model(reference, revision),
        "pooling": encoder.pooling,
        "template": encoder.template,
        "pairs": dev.fingerprint,
        "replayed": replayed.model_dump(mode="json"),
        "wordnet": wordnet_fingerprint(data_dir),
        "semantics": SEMANTICS,
    }

    def make(draft: Path) -> None:
        loaded = load_encoder(reference, encoder.pooling, revision)
        embed = Embedder(*loaded, encoder.template)
        recipe = _RECIPES[replayed.recipe](sides=replayed.sides)(
            Resources(data_dir, encoder=sentence_similarity()), Maximise(distance="deviation")
        )
        targets = targets_of(dev, replayed.num_pairs, replayed.seed)
        victim = victim_of(embed, fit_score(embed, dev))
        outcomes: list[Outcome] = []
        for outcome in attack(
            recipe, victim, targets, max_queries=replayed.max_queries, seed=replayed.seed, num_in_flight=8
        ):
            outcomes.append(outcome)
            told(len(outcomes), len(targets))
        draft.mkdir()
        _pairs(dev, outcomes, recipe.label, replayed.reference).save(draft)
        figures = summarise_scores(outcomes)
        write_meta(
            draft,
            {
                "asset": KIND,
                **key,
                "recipe": recipe.label,
                "num_changed": sum(bool(outcome.changed) for outcome in outcomes),
                "clean_spearman": figures.clean_spearman,
                "spearman_under_attack": figures.spearman_under_attack,
                "mean_drift": figures.mean_drift,
                "mean_queries": figures.counts.mean_queries,
            },
        )

    return build(root, KIND, key, make)


def _pairs(dev: StsPairs, outcomes: list[Outcome], label: str, reference: str) -> ReplayedPairs:
    rows = sorted(outcomes, key=lambda row: row.index)
    gold = np.array([row.label for row in rows], np.float64)
    clean, attacked = (
        StsPairs(dev.name, dev.split, [text[0] for text in texts], [text[1] for text in texts], gold)
        for texts in ([row.original for row in rows], [row.adversarial for row in rows])
    )
    return ReplayedPairs(clean, attacked, label, reference)
