"""RTD's generator as a trial names it: rules that need no weights."""

from pathlib import Path

from rse_study.data.hub_models import lacks_masked_lm_head, local_name
from rse_study.errors import InputError
from rse_study.training.trial import Trial

WHERE = "method.rtd.generator"
MASKED_LM_ASSETS = ("tiny", "tiny-vectors", "minilm", "minilm-mlm")


def require_generator(trial: Trial, *folders: Path) -> None:
    """Raise InputError if the generator cannot serve or has no masked-LM head."""
    wanted, encoder = trial.method.generator, trial.encoder
    if wanted == "tiny" and encoder.name != "tiny":
        rule = "its tokenizer is the encoder's only where the encoder is tiny too"
        raise InputError("tiny", where=WHERE, rule=rule, remedy="Use generator: base, or encoder.name: tiny")
    if wanted == "minilm":
        rule, remedy = "MiniLM itself has no masked-LM head", "Use generator: minilm-mlm"
        raise InputError("minilm", where=WHERE, rule=rule, remedy=remedy)
    is_base = wanted == "base"
    name, revision = (encoder.name, encoder.revision) if is_base else (wanted, "main")
    if not wanted or name in MASKED_LM_ASSETS:
        return
    if lacks_masked_lm_head(local_name(name, *folders), revision):
        raise InputError(
            f"{name!r} was saved without a masked-LM head",
            where=WHERE,
            rule="replaced tokens come from a masked language model" + ", by default the encoder" * is_base,
            remedy="Name a checkpoint saved with its head (method.rtd.generator), or set lambda2: 0",
        )
