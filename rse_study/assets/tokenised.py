"""The asset `tokenised`: a corpus in the ids of one tokenizer."""

from pathlib import Path
from typing import Any

from rse_study.activity import ProgressCallback
from rse_study.assets.store import build
from rse_study.data.tokenised import tokenise, vocabulary_fingerprint
from rse_study.spec import fingerprint_of


def tokenised_corpus(
    root: Path,
    sentences: list[str],
    tokenizer: Any,
    max_length: int,
    template: str = "",
    on_progress: ProgressCallback = lambda done, total: None,
) -> Path:
    """Return the tokenised corpus' folder, to be opened with TokenisedCorpus.open.

    Parameters
    ----------
    root
        The folder of all assets.
    sentences
        The corpus.
    tokenizer
        The encoder's.
    max_length
        Tokens of a sentence, special ones included.
    template
        Of prompt pooling; empty without.
    on_progress
        Is called with the number of sentences done, and of how many.
    """
    key = {
        "sentences": fingerprint_of(sentences),
        "vocabulary": vocabulary_fingerprint(tokenizer),
        "tokenizer": rules_fingerprint(tokenizer),
        "max_length": max_length,
        "template": template,
    }

    def write(draft: Path) -> None:
        tokenise(sentences, tokenizer, max_length, draft, template, on_progress)

    return build(root, "tokenised", key, write)


def rules_fingerprint(tokenizer: Any) -> str:
    """Fingerprint of a tokenizer's rules, besides its vocabulary.

    Two tokenizers may share a vocabulary and split differently.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return type(tokenizer).__name__
    # Truncation and padding are how it was last called, not what it is.
    rules = type(backend).from_str(backend.to_str())
    rules.no_truncation()
    rules.no_padding()
    return fingerprint_of(rules.to_str())
