"""The asset `tokenised`: a corpus as token ids of one tokenizer."""

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
    """Return the tokenised corpus' folder, to be opened with TokenisedCorpus.open."""
    key = {
        "sentences": fingerprint_of(sentences),
        "vocabulary": vocabulary_fingerprint(tokenizer),
        "tokenizer": rules_fingerprint(tokenizer),
        "max_length": max_length,
        "template": template,
        "special_tokens": "text",  # one that a sentence spells is not obeyed
    }

    def write(draft: Path) -> None:
        tokenise(sentences, tokenizer, max_length, draft, template, on_progress)

    return build(root, "tokenised", key, write)


def rules_fingerprint(tokenizer: Any) -> str:
    """Fingerprint a tokenizer's rules, which may differ for the same vocabulary."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return type(tokenizer).__name__
    # Truncation and padding record the last call; they do not identify the tokenizer.
    rules = type(backend).from_str(backend.to_str())
    rules.no_truncation()
    rules.no_padding()
    return fingerprint_of(rules.to_str())
