"""AdvSTS as an evaluation (RobustSentEmbed section 4.2): similarity scores under attack by one recipe."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.adversarial_sts import fit_score, summarise_scores, targets_of, victim_of
from rse_study.evaluation.attacks.goals import Deviation, Drift, Goal, Maximise
from rse_study.evaluation.attacks.kept_attack import attack_and_keep
from rse_study.evaluation.attacks.recipe import Recipe
from rse_study.evaluation.attacks.recipes import BAE, PWWS, BERTAttack, TextBugger, TextFooler
from rse_study.evaluation.attacks.resources import Resources
from rse_study.evaluation.sts import Embed
from rse_study.registry import Registry
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.study.evaluations.settings import Attacks
from rse_study.study.evaluations.subject import Weights
from rse_study.study.evaluations.under_attack import figures_of

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
        return fingerprint_of(
            [*data, self.attacks.model_dump(mode="json", exclude={"masked_lm"}), self.made_of]
        )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Success of the attack, and what is left of Spearman."""
        return (
            Measure(name=f"{self.name} success", metric=f"{self.name}/success_rate", direction="minimize"),
            Measure(name=f"{self.name} Spearman", metric=f"{self.name}/spearman_under_attack"),
        )

    @property
    def num_sentences(self) -> int:
        """Embedded at least: both sides of what is attacked, and of what fits the map."""
        num_pairs = min(self.attacks.num_inputs or len(self.pairs), len(self.pairs))
        return 2 * (num_pairs + len(self.fitting))

    def score_weights(self, weights: Weights, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a figure; shares and correlations x100, drift on the gold scale."""
        asked = self.attacks
        recipe = _SIDED.get(self.recipe)(sides=asked.sides)(self.resources(), goal_of(asked))
        outcomes = attack_and_keep(
            recipe,
            victim_of(embed, fit_score(embed, self.fitting)),
            targets_of(self.pairs, asked.num_inputs, asked.seed),
            weights.kept / f"{self.task}-{self.recipe}-{self.fingerprint[:8]}.jsonl",
            {"set": self.task, "recipe": self.recipe, "label": recipe.label, "subject": subject}
            | {"fingerprint": self.fingerprint},
            max_queries=asked.max_queries,
            seed=asked.seed,
        )
        found = summarise_scores(outcomes)
        figures = figures_of(found.counts) | {
            "clean_spearman": found.clean_spearman,
            "spearman_under_attack": found.spearman_under_attack,
            "drift": found.mean_drift,
        }
        return [
            EvaluationRow(
                subject=subject,
                task=self.task,
                split=self.pairs.split,
                aggregation=name,
                value=value,
                num_examples=found.counts.num_inputs,
                num_skipped=found.counts.num_skipped,
                degenerate=value != value,
                fingerprint=self.fingerprint,
                preset=self.recipe,
                seed=asked.seed,
            )
            for name, value in figures.items()
        ]


def goal_of(attacks: Attacks) -> Goal:
    """The goal a study names."""
    if attacks.goal == "maximise":
        return Maximise()
    return Deviation(tau=attacks.tau) if attacks.goal == "deviation" else Drift(tau=attacks.tau)
