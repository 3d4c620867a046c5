"""Assets of one tokenizer: a corpus as token ids, and synonyms."""

from pathlib import Path
from typing import Any

import torch

from rse_study.activity import ProgressCallback
from rse_study.assets.store import build, write_meta
from rse_study.data.batches import Synonyms
from rse_study.data.lexicons import synonyms_of, wordnet_fingerprint
from rse_study.data.tokenised import MARKS, PIECE, marks_beginnings, tokenise, vocabulary_fingerprint
from rse_study.errors import InputError
from rse_study.spec import fingerprint_of


def tokenised_corpus(
    root: Path,
    sentences: list[str],
    tokenizer: Any,
    max_length: int,
    template: str = "",
    on_progress: ProgressCallback = lambda done, total: None,
    num_texts: int = 1,
) -> Path:
    """Return the tokenised corpus' folder, to be opened with TokenisedCorpus.open."""
    key = {
        "sentences": fingerprint_of(sentences),
        "vocabulary": vocabulary_fingerprint(tokenizer),
        "tokenizer": rules_fingerprint(tokenizer),
        "max_length": max_length,
        "template": template,
        "special_tokens": "text",  # one that a sentence spells is not obeyed
        **({"num_texts": num_texts} if num_texts > 1 else {}),
    }

    def write(draft: Path) -> None:
        tokenise(sentences, tokenizer, max_length, draft, template, on_progress, num_texts)

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


RULES = 1  # of `make_synonyms`: bump when they change, so that old tables are not reused


def synonym_table(root: Path, tokenizer: Any, data_dir: Path) -> Path:
    """Return the folder of the table, to be opened with Synonyms.open."""
    key = {
        "vocabulary": vocabulary_fingerprint(tokenizer),
        "tokenizer": rules_fingerprint(tokenizer),
        "wordnet": wordnet_fingerprint(data_dir),
        "rules": RULES,
    }

    def write(draft: Path) -> None:
        table = make_synonyms(tokenizer, data_dir)
        if not len(table.choices):
            rule, remedy = "twins need words that are one token, in English", "Use another encoder, or method"
            raise InputError("no token has a synonym", where=tokenizer.name_or_path, rule=rule, remedy=remedy)
        draft.mkdir(parents=True)
        table.save(draft)
        num_tokens = int((table.offsets.diff() > 0).sum())
        write_meta(draft, {"num_tokens": num_tokens, "num_pairs": len(table.choices)})

    return build(root, "synonyms", key, write)


def make_synonyms(tokenizer: Any, data_dir: Path) -> Synonyms:
    """Map each token that is a word in WordNet to its single-token synonyms."""
    names = {token: name for name, token in tokenizer.get_vocab().items()}
    size, special = max(names) + 1, set(tokenizer.all_special_ids)
    is_marked = marks_beginnings(names.values())
    starts, words = torch.zeros(size, dtype=torch.bool), torch.zeros(size, dtype=torch.bool)
    choices: list[int] = []
    offsets = [0]
    for token in range(size):
        name = names.get(token, "")
        word = name.lstrip("".join(MARKS)) if is_marked else name
        words[token] = any(letter.isalnum() for letter in word)
        # Punctuation ends a word as a new word does, marked or not.
        starts[token] = (
            name.startswith(MARKS) or not words[token] if is_marked else not name.startswith(PIECE)
        )
        if starts[token] and word.isalpha() and token not in special:
            choices += _tokens_of(synonyms_of(word, data_dir), token, tokenizer)
        offsets.append(len(choices))
    return Synonyms(starts, words, torch.tensor(offsets), torch.tensor(choices, dtype=torch.long))


def _tokens_of(synonyms: tuple[str, ...], token: int, tokenizer: Any) -> list[int]:
    """Return the ids of synonyms that are a single known token inside a sentence."""
    found = set()
    for synonym in synonyms:
        ids = tokenizer(f"a {synonym}", add_special_tokens=False)["input_ids"][1:]
        if len(ids) == 1 and ids[0] not in (tokenizer.unk_token_id, token):
            found.add(ids[0])
    return sorted(found)
