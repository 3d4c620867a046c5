"""A world small enough to run a study in seconds: random two-layer BERT, generated sentences and pairs.

No conftest: processes that tests start and kill make the same world from here.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data import builtin
from rse_study.data.labelled import StsPairs
from rse_study.data.tokenised import tokenise
from rse_study.evaluation.sts import Similarity
from rse_study.study.checking.validation import CheckedStudy, check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from rse_study.training.materials import Materials
from tests.tiny_models import save_bert, word_tokenizer, words_of

NUM_PAIRS = 40
STUDY = {
    "name": "little",
    "question": "Does it run?",
    "base": {
        "method": {"blend": {"pgd": {"num_steps": 1}, "fgsm": {"num_steps": 1}}},
        "encoder": {"name": "tiny", "pooling": "mean"},
        "budget": {"unit": "steps", "amount": 3},
        "batch_size": 4,
        "max_length": 16,
        "selection": {"dev": "builtin", "every": 1},
        "report_every": 1,
    },
    "search": {"alpha": {"log": [1e-6, 1e-3]}, "rho": {"float": [0, 1]}},
    "num_trials": 2,
    "sampler": {"name": "tpe", "num_startup": 2},
}
"""Two axes over a trial of three steps."""


def checked_of(content: Mapping[str, Any]) -> CheckedStudy:
    return check_study(build(Study, dict(content), where="little.yaml"), where="little.yaml")


def grid_of(content: Mapping[str, Any], **grid: Any) -> dict[str, Any]:
    """A grid of one seed with the content's base, in place of its search."""
    return {name: content[name] for name in ("name", "question", "base")} | {"seeds": [0]} | grid


def make_materials(root: Path) -> Materials:
    """What `prepare` would make of a tiny trial."""
    sentences = builtin.corpus(seed=0, num_sentences=64)
    tokenizer = word_tokenizer(words_of(sentences))
    save_bert(root / "base", tokenizer)
    tokenise(sentences, tokenizer, 16, root / "corpus")
    return find_materials(root)


def find_materials(root: Path) -> Materials:
    """The materials that `make_materials` made there."""
    return Materials(
        corpus=root / "corpus",
        base=str(root / "base"),
        dev=few_pairs("builtin/dev"),
        generator=str(root / "base"),
        fingerprints={"corpus": "tiny", "base": "tiny"},
    )


def few(name: str) -> Similarity:
    """The evaluation of this name, on a few pairs."""
    return Similarity(few_pairs(name))


def few_pairs(evaluation: str) -> StsPairs:
    """The first pairs of `builtin/dev` or `builtin/test`."""
    pairs = builtin.graded_pairs("dev" if evaluation.endswith("dev") else "test")
    first, second, gold = pairs.first[:NUM_PAIRS], pairs.second[:NUM_PAIRS], np.array(pairs.gold[:NUM_PAIRS])
    return replace(pairs, first=first, second=second, gold=gold, subsets={})
