"""The asset `synonyms`: WordNet's synonyms in the ids of one tokenizer."""

from pathlib import Path
from typing import Any

import torch

from rse_study.assets.store import build, write_meta
from rse_study.data.synonyms import Synonyms
from rse_study.data.tokenised import vocabulary_fingerprint
from rse_study.data.wordnet import synonyms_of, wordnet_fingerprint

PIECE, WORD_MARKS = (
    "##",
    ("\u0120", "\u2581"),
)  # WordPiece's continuation; BPE's and SentencePiece's beginnings


def synonym_table(root: Path, tokenizer: Any, data_dir: Path) -> Path:
    """Folder of the table, to be opened with Synonyms.open. Raises MissingFile without WordNet."""
    key = {"vocabulary": vocabulary_fingerprint(tokenizer), "wordnet": wordnet_fingerprint(data_dir)}

    def write(draft: Path) -> None:
        table = make_synonyms(tokenizer, data_dir)
        draft.mkdir(parents=True)
        table.save(draft)
        write_meta(
            draft, {"num_tokens": int((table.offsets.diff() > 0).sum()), "num_pairs": len(table.choices)}
        )

    return build(root, "synonyms", key, write)


def make_synonyms(tokenizer: Any, data_dir: Path) -> Synonyms:
    """Every token that is a word of WordNet, with its synonyms that are one token, too."""
    names = {token: name for name, token in tokenizer.get_vocab().items()}
    size = max(names) + 1
    has_marks = any(name.startswith(WORD_MARKS) for name in names.values())
    starts = torch.zeros(size, dtype=torch.bool)
    choices: list[int] = []
    offsets = [0]
    for token in range(size):
        name = names.get(token, "")
        starts[token] = name.startswith(WORD_MARKS) if has_marks else not name.startswith(PIECE)
        word = name.lstrip("".join(WORD_MARKS)) if has_marks else name
        if starts[token] and word.isalpha() and token not in tokenizer.all_special_ids:
            alone = (_token_of(synonym, tokenizer) for synonym in synonyms_of(word, data_dir))
            choices += sorted({one for one in alone if one is not None and one != token})
        offsets.append(len(choices))
    return Synonyms(starts, torch.tensor(offsets), torch.tensor(choices, dtype=torch.long))


def _token_of(word: str, tokenizer: Any) -> int | None:
    """The one token of a word inside a sentence; None where it takes more, or is unknown."""
    ids = tokenizer(f"a {word}", add_special_tokens=False)["input_ids"][1:]
    return ids[0] if len(ids) == 1 and ids[0] != tokenizer.unk_token_id else None
