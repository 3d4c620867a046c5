"""The asset `tokenised`: a corpus in the ids of one tokenizer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rse_study.assets.store import build
from rse_study.data.tokenised import tokenise, vocabulary_fingerprint
from rse_study.spec import fingerprint_of


def tokenised_corpus(
    root: Path,
    sentences: list[str],
    tokenizer: Any,
    max_length: int,
    template: str = "",
    progress: Callable[[int, int], None] = lambda num_done, num_all: None,
) -> Path:
    """Folder of the tokenised corpus, to be opened with TokenisedCorpus.open."""
    key = {
        "sentences": fingerprint_of(sentences),
        "vocabulary": vocabulary_fingerprint(tokenizer),
        "tokenizer": rules_fingerprint(tokenizer),
        "max_length": max_length,
        "template": template,
    }

    def write(draft: Path) -> None:
        tokenise(sentences, tokenizer, max_length, draft, template, progress)

    return build(root, "tokenised", key, write)


def rules_fingerprint(tokenizer: Any) -> str:
    """Rules as well as words: two tokenizers may share a vocabulary and split differently."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return type(tokenizer).__name__
    # Truncation and padding are how it was last called, not what it is.
    rules = type(backend).from_str(backend.to_str())
    rules.no_truncation()
    rules.no_padding()
    return fingerprint_of(rules.to_str())
