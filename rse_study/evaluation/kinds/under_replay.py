"""The replayed adversarial set as an evaluation: baselines are scored on it where a study's objective is robustness."""

from dataclasses import asdict, dataclass

from rse_study.evaluation.replayed import ReplayedPairs, replay
from rse_study.evaluation.sts import Embed
from rse_study.results.records import EvaluationRow, Measure

PRESET = "replayed"


@dataclass(frozen=True)
class ReplayedAttack:
    """Spearman under attack, how far it fell, and drift."""

    pairs: ReplayedPairs

    @property
    def name(self) -> str:
        """Task/replayed."""
        return f"{self.pairs.clean.name}/{PRESET}"

    @property
    def fingerprint(self) -> str:
        """Of clean and attacked pairs."""
        return self.pairs.fingerprint

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Spearman under attack, and drift."""
        return (
            Measure(name=f"{self.name} Spearman", metric=f"{self.name}/spearman"),
            Measure(name=f"{self.name} drift", metric=f"{self.name}/drift", direction="minimize"),
        )

    @property
    def num_sentences(self) -> int:
        """Both sides, clean and attacked."""
        return 4 * len(self.pairs.clean)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a figure."""
        scores = asdict(replay(embed, self.pairs))
        degenerate = scores.pop("degenerate")
        return [
            EvaluationRow(
                subject=subject,
                task=self.pairs.clean.name,
                split=self.pairs.clean.split,
                aggregation=name,
                value=value,
                num_examples=len(self.pairs.clean),
                degenerate=degenerate,
                fingerprint=self.fingerprint,
                preset=PRESET,
            )
            for name, value in scores.items()
        ]
