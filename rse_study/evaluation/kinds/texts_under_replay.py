"""Replayed adversarial texts as an evaluation: what baselines are scored on beside a study's trials."""

from dataclasses import asdict, dataclass

from rse_study.evaluation.kinds.under_replay import PRESET
from rse_study.evaluation.replayed_texts import ReplayedTexts, replay_texts
from rse_study.evaluation.sts import Embed
from rse_study.results.records import EvaluationRow, Measure


@dataclass(frozen=True)
class ReplayedTextAttack:
    """Accuracy of a probe under attack, and its clean accuracy."""

    texts: ReplayedTexts

    @property
    def name(self) -> str:
        """Task/replayed."""
        return f"{self.texts.clean.name}/{PRESET}"

    @property
    def fingerprint(self) -> str:
        """Of training, clean and attacked texts."""
        return self.texts.fingerprint

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Accuracy under attack."""
        return (Measure(name=f"{self.name} accuracy", metric=f"{self.name}/accuracy"),)

    @property
    def num_sentences(self) -> int:
        """Training texts, and inputs clean and attacked."""
        return len(self.texts.training) + 2 * len(self.texts.clean)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a figure."""
        scores = asdict(replay_texts(embed, self.texts))
        degenerate = scores.pop("degenerate")
        return [
            EvaluationRow(
                subject=subject,
                task=self.texts.clean.name,
                split=self.texts.clean.split,
                aggregation=name,
                value=value,
                num_examples=len(self.texts.clean),
                degenerate=degenerate,
                fingerprint=self.fingerprint,
                preset=PRESET,
            )
            for name, value in scores.items()
        ]
