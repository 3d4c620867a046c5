"""Masked language models loaded by name or folder, as generators of RTD."""

from pathlib import Path
from typing import Any

from transformers import AutoModelForMaskedLM

from rse_study.errors import InputError
from rse_study.models.loading import load_config, load_tokenizer, pretrained, quiet_loading
from rse_study.models.model_files import reading
from rse_study.models.rtd import Generator
from rse_study.models.suitability import check_family

RULE = "RTD needs a masked language model"
REMEDY = "Name a checkpoint saved with its masked-LM head (method.rtd.generator), or set lambda2: 0."


def load_generator(path_or_name: str | Path, revision: str = "main") -> Generator:
    """Load a masked LM by folder or hub name; raise InputError if it has no LM head."""
    name = str(path_or_name)
    config = load_config(name, revision)
    check_family(name, config)
    tokenizer = load_tokenizer(name, revision)
    if tokenizer.mask_token_id is None:
        raise InputError(
            "its tokenizer has no [MASK]", where=name, rule="the generator fills masked tokens", remedy=REMEDY
        )
    with reading(name, REMEDY, "no masked language model"), quiet_loading():
        model, report = pretrained(AutoModelForMaskedLM, name, config, revision)
    if report["missing_keys"]:
        raise InputError(
            f"it has no masked-LM head: {sorted(report['missing_keys'])[0]!r} is missing",
            where=name,
            rule=RULE,
            remedy=REMEDY,
        )
    return Generator(model, tokenizer, name)


def check_same_tokenizer(generator_tokenizer: Any, encoder_tokenizer: Any) -> None:
    """Raise InputError that names the first token at which two vocabularies differ."""
    g_name, e_name = generator_tokenizer.name_or_path, encoder_tokenizer.name_or_path
    g_tokens = {i: token for token, i in generator_tokenizer.get_vocab().items()}
    e_tokens = {i: token for token, i in encoder_tokenizer.get_vocab().items()}
    for i in range(max(len(g_tokens), len(e_tokens), 1 + max([*g_tokens, *e_tokens, 0]))):
        if g_tokens.get(i) != e_tokens.get(i):
            raise InputError(
                f"token {i} is {g_tokens.get(i, 'absent')!r} for the generator and"
                f" {e_tokens.get(i, 'absent')!r} for the encoder {e_name}",
                where=str(g_name),
                rule="the generator's tokenizer must be the encoder's, token by token",
                remedy="Use a generator trained with the encoder's tokenizer, or lambda2 = 0.",
            )
