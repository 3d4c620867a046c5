"""A complete small world: generated sentences, a word tokenizer, a random BERT that is base and generator."""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast

from rse_study.data.batches import Synonyms
from rse_study.data.tokenised import tokenise
from rse_study.training.loop import Progress, Report
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial
from tests.on_ray.world import few_pairs
from tests.tiny_models import PUNCTUATION, save_bert, word_tokenizer


@dataclass(frozen=True)
class World:
    root: Path
    sentences: list[str]

    def materials(self, *, dropout: float = 0.1) -> Materials:
        """Folders for a run, made once per dropout rate."""
        base = self.root / f"base-{dropout}"
        tokenizer = _word_tokenizer(self.sentences)
        if not base.exists():
            rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
            save_bert(base, tokenizer, intermediate_size=32, **rates)
        if not (self.root / "corpus").exists():
            tokenise(self.sentences, tokenizer, 16, self.root / "corpus")
        dev = few_pairs("builtin/dev")
        return Materials(
            corpus=self.root / "corpus",
            base=str(base),
            dev=dev,
            generator=str(base),
            synonyms=str(_synonyms(self.root / "synonyms", len(tokenizer))),
            fingerprints={"corpus": "generated", "base": f"{dropout}"},
        )


@dataclass(frozen=True)
class Complete:
    """A cell that ran to its end without a break. Whoever changes its folder works on a copy."""

    folder: Path
    points: list[Progress]


def _synonyms(folder: Path, vocabulary: int) -> Path:
    """Every token may become the next one."""
    if not folder.exists():
        folder.mkdir()
        following = torch.arange(1, vocabulary + 1) % vocabulary
        every = torch.ones(vocabulary, dtype=torch.bool)
        Synonyms(every, every, torch.arange(vocabulary + 1), following).save(folder)
    return folder


def small_trial(**changes: object) -> Trial:
    """Everything on: two branches, eta, masks, RTD; 12 steps, an epoch being 7."""
    settings: dict = {
        "method": {
            "blend": {"pgd": {"num_steps": 2}, "fgsm": {"num_steps": 2}},
            "masks": {"phi": 0.1, "num_layers": 1},
        },
        "encoder": {"name": "small", "pooling": "mean"},
        "budget": {"unit": "steps", "amount": 12},
        "batch_size": 16,
        "max_length": 16,
        "optimizer": {"lr": 1e-3},
        "selection": {"dev": "builtin", "every": 5},
        "report_every": 2,
    }
    return Trial.model_validate({**settings, **changes})


SIMCSE = {"lambda1": 0, "lambda2": 0, "blend": {"pgd": {"num_steps": 0}, "fgsm": {"num_steps": 0}}}


def light_trial(**changes: object) -> Trial:
    """The same with SimCSE, a third of the price: for what the loop does whatever it trains."""
    return small_trial(**{"method": SIMCSE, **changes})


def leave_at(t: int, cell: Generator[Progress]) -> None:
    """Let a cell run to step `t` and leave it, as a process that is killed does."""
    while next(cell).t < t:
        pass
    cell.close()


def stop_at(t: int) -> Report:
    """Whoever is asked says "stop" at step `t`."""
    return lambda progress: "stop" if progress.t == t else None


def _word_tokenizer(sentences: list[str]) -> PreTrainedTokenizerFast:
    words = {word for s in sentences for word, _ in PUNCTUATION.pre_tokenize_str(s.lower())}
    return word_tokenizer(sorted(words), split=PUNCTUATION, pairs=False)
