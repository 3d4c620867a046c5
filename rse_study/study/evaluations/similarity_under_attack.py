"""AdvSTS as an evaluation (RobustSentEmbed section 4.2): similarity scores under attack by one recipe."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from math import nan
from pathlib import Path

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.adversarial_sts import fit_score, summarise_scores, targets_of, victim_of
from rse_study.evaluation.attacks.goals import Deviation, Drift, Goal, Maximise
from rse_study.evaluation.attacks.kept_attack import Told, attack_and_keep
from rse_study.evaluation.attacks.recipe import Recipe
from rse_study.evaluation.attacks.recipes import BAE, PWWS, BERTAttack, TextBugger, TextFooler
from rse_study.evaluation.attacks.resources import Resources
from rse_study.evaluation.sts import Embed
from rse_study.registry import Registry
from rse_study.results.attack_file import SIMILARITY, SummaryRow, keep_summary, outcomes_path
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.study.evaluations.settings import Attacks
from rse_study.study.evaluations.subject import Weights
from rse_study.study.evaluations.under_attack import figures_of, without_nan

NOT_ASKED = {
    "masked_lm",
    "num_training",
}  # settings that decide nothing here; what the first one is, `made_of` says
_SIDED: Registry[Callable[..., Callable[[Resources, Goal], Recipe]]] = Registry(
    "attack",
    {
        "textfooler": TextFooler,
        "textbugger": TextBugger,
        "pwws": PWWS,
        "bae": BAE,
        "bert_attack": BERTAttack,
    },
)


@dataclass(frozen=True)
class SimilarityUnderAttack:
    """One recipe on the pairs of one test split. `fitting`: pairs that map cosines to the gold scale.

    `resources` and `made_of` as in under_attack.py.
    """

    pairs: StsPairs
    fitting: StsPairs
    recipe: str
    attacks: Attacks
    resources: Callable[[], Resources]
    made_of: str

    @property
    def task(self) -> str:
        """AdvSTS-B or AdvSICK-R."""
        return f"Adv{self.pairs.name}"

    @property
    def name(self) -> str:
        """AdvSTS-B/<recipe>."""
        return f"{self.task}/{self.recipe}"

    @cached_property
    def fingerprint(self) -> str:
        """Of both sets of pairs, and the settings."""
        data = [self.pairs.fingerprint, self.fitting.fingerprint, self.recipe]
        return fingerprint_of([*data, self.attacks.model_dump(mode="json", exclude=NOT_ASKED), self.made_of])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What is left of Spearman; where there is a distance to reach, how often it is."""
        left = Measure(name=f"{self.name} Spearman", metric=f"{self.name}/spearman_under_attack")
        if self.attacks.goal == "maximise":
            return (left,)
        success = Measure(
            name=f"{self.name} success", metric=f"{self.name}/success_rate", direction="minimize"
        )
        return success, left

    @property
    def num_sentences(self) -> int:
        """Embedded at least: both sides of what is attacked, and of what fits the map."""
        num_pairs = min(self.attacks.num_inputs or len(self.pairs), len(self.pairs))
        return 2 * (num_pairs + len(self.fitting))

    def score_weights(self, weights: Weights, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a figure; shares and correlations x100, drift on the gold scale.

        Where there is no distance to reach nothing can succeed or fail, and no row says so.
        """
        found = self.attacked(embed, weights.kept, replaces=True)
        figures = figures_of(found)
        if self.attacks.goal == "maximise":
            figures = {name: figures[name] for name in ("queries", "words_changed")}
        scores = {
            "clean_spearman": found.clean_spearman,
            "spearman_under_attack": found.spearman_under_attack,
            "drift": found.mean_drift,
        }
        figures |= {name: nan if value is None else value for name, value in scores.items()}
        return [
            EvaluationRow(
                subject=subject,
                task=self.task,
                split=self.pairs.split,
                aggregation=name,
                value=value,
                num_examples=found.num_inputs,
                num_skipped=found.num_skipped,
                degenerate=value != value,
                fingerprint=self.fingerprint,
                preset=self.recipe,
                seed=self.attacks.seed,
            )
            for name, value in figures.items()
        ]

    def attacked(
        self, embed: Embed, folder: Path, told: Told = lambda done, total: None, *, replaces: bool = False
    ) -> SummaryRow:
        """As in under_attack.py; the victim is the cosine on the gold scale."""
        asked = self.attacks
        recipe = _SIDED.get(self.recipe)(sides=asked.sides)(self.resources(), goal_of(asked))
        score = fit_score(embed, self.fitting, asked.scores)
        head = {
            "recipe": self.recipe,
            "label": recipe.label,
            "victim": SIMILARITY,
            "set": self.task,
            "score": [score.cosines.tolist(), score.scores.tolist()],
            "asked": asked.model_dump(mode="json", exclude=NOT_ASKED),
            "fingerprint": self.fingerprint,
            "seed": asked.seed,
        }
        kept = attack_and_keep(
            recipe,
            victim_of(embed, score),
            targets_of(self.pairs, asked.num_inputs, asked.seed),
            outcomes_path(folder, self.task, self.recipe),
            head,
            max_queries=asked.max_queries,
            seed=asked.seed,
            told=told,
            replaces=replaces,
        )
        found = asdict(summarise_scores(kept.outcomes))
        counts = found.pop("counts")
        row = SummaryRow(
            set=self.task,
            recipe=self.recipe,
            label=recipe.label,
            victim=SIMILARITY,
            victim_dev_accuracy=None,
            weak=False,
            num_now=kept.num_now,
            seconds_now=kept.seconds_now,
            seed=asked.seed,
            fingerprint=self.fingerprint,
            **without_nan(counts | found),
        )
        keep_summary(folder, row)
        return row


def goal_of(attacks: Attacks) -> Goal:
    """The goal a study names."""
    if attacks.goal == "maximise":
        return Maximise()
    return Deviation(tau=attacks.tau) if attacks.goal == "deviation" else Drift(tau=attacks.tau)
