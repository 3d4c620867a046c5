"""The choice of RTD's generator, a masked LM, and a check that it is good enough."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.masked_lm import TrainingCallback, masked_accuracy, one_thread, split
from rse_study.assets.minilm import minilm_generator
from rse_study.assets.store import META, build, write_meta
from rse_study.assets.trial_checks import check_length, usable_length
from rse_study.data.hub_models import local_name
from rse_study.data.tokenised import tokenise
from rse_study.errors import InputError
from rse_study.models.generators import check_same_tokenizer, load_generator
from rse_study.models.loading import load_tokenizer
from rse_study.spec import fingerprint_of
from rse_study.training.generator_choice import require_generator
from rse_study.training.trial import Trial

MEASURED_LENGTH = 64  # tokens
MEASURED_ON = 4000  # sentences: 3,800 to count words by, 200 held out


def choose_generator(
    trial: Trial, base: str, root: Path, sentences: list[str], on_progress: TrainingCallback, *folders: Path
) -> tuple[str, str]:
    """Return G as (folder or hub name, revision), empty without RTD; it may be tuned."""
    require_generator(trial, *folders)
    if not trial.method.generator:
        return "", ""
    wanted, encoder = trial.method.generator, trial.encoder
    if wanted == "minilm-mlm" or (wanted == "base" and encoder.name == "minilm"):
        return str(minilm_generator(root, sentences, on_progress=on_progress)), "main"
    if wanted in ("base", "tiny"):
        return base, encoder.revision
    return local_name(wanted, *folders), "main"


def check_generator(
    name: str, revision: str, tokenizer: Any, wanted_length: int, root: Path, sentences: list[str]
) -> None:
    """Refuse a generator that does not fit the encoder or is no better than a unigram."""
    check_same_tokenizer(load_tokenizer(name, revision), tokenizer)
    usable = usable_length(name, revision, tokenizer)
    check_length(wanted_length, usable, name)
    known = _accuracies(Path(name) / META)
    model, unigram = known or _measure(name, revision, tokenizer, usable, root, sentences)
    if model <= unigram:
        raise InputError(
            f"the generator guesses {model:.1%} of masked tokens, the commonest token alone {unigram:.1%}",
            where=name,
            rule="a generator must beat the unigram baseline, else replaced tokens are trivial to find",
            remedy="Use a larger corpus or another generator, or set lambda2: 0",
        )


def _accuracies(meta: Path) -> tuple[float, float] | None:
    """Read the masked accuracies (G's, unigram's) from an asset's meta.json, if any."""
    content = json.loads(meta.read_text(encoding="utf-8")) if meta.is_file() else None
    if not isinstance(content, dict) or not {"masked_accuracy", "unigram_accuracy"} <= content.keys():
        return None
    return content["masked_accuracy"], content["unigram_accuracy"]


def _measure(
    name: str, revision: str, tokenizer: Any, usable: int, root: Path, sentences: list[str]
) -> tuple[float, float]:
    """Measure the accuracies of a generator that was not built here, once per corpus."""
    generator = load_generator(name, revision)
    used, length = sentences[:MEASURED_ON], min(MEASURED_LENGTH, usable)
    key = {"generator": fingerprint_of_model(name, revision), "sentences": fingerprint_of(used)}

    def write(draft: Path) -> None:
        training, held_out = split(used)
        with TemporaryDirectory() as scratch, one_thread():
            seen = tokenise(training, tokenizer, length, Path(scratch) / "training")
            left = tokenise(held_out, tokenizer, length, Path(scratch) / "held_out")
            found = masked_accuracy(generator.model, left, seen)
        draft.mkdir(parents=True)
        write_meta(draft, {"masked_accuracy": found.model, "unigram_accuracy": found.unigram})

    found = _accuracies(build(root, "generator-accuracy", key, write) / META)
    assert found is not None
    return found
