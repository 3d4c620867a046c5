"""Conversion of sentences to token ids, with or without a prompt template."""

from collections.abc import Collection
from typing import Any

from rse_study.errors import InputError

PIECE = "##"  # WordPiece marks continuations
MARKS = ("\u0120", "\u2581")  # byte-level BPE and SentencePiece mark beginnings


def marks_beginnings(tokens: Collection[str]) -> bool:
    """Whether more tokens bear a mark of beginnings than of continuations."""
    return sum(token.startswith(MARKS) for token in tokens) > sum(token.startswith(PIECE) for token in tokens)


SLOT, MASK = "[X]", "[MASK]"
FIELD = "encoder.template"


def encode(sentences: list[str], tokenizer: Any, max_length: int, template: str = "") -> list[list[int]]:
    """Return each sentence's token ids with special tokens, cut to `max_length`.

    In a template such as `This sentence of "[X]" means [MASK].` only the sentence is cut, never the template.
    """
    if not template:
        _check_room(len(tokenizer("").input_ids), max_length, tokenizer)
        return tokens_of(tokenizer, sentences, truncation=True, max_length=max_length)["input_ids"]
    before, after = _parts(tokenizer, template)
    room = max_length - len(before) - len(after)
    _check_room(len(before) + len(after), max_length, tokenizer)
    bare = tokens_of(tokenizer, sentences, add_special_tokens=False, truncation=True, max_length=room)
    return [before + ids + after for ids in bare["input_ids"]]


def tokens_of(tokenizer: Any, *sides: Any, **settings: Any) -> Any:
    """Tokenise texts, in which the name of a special token, such as [MASK], is text.

    If the vocabulary has the name as a word, or the text is cut into windows, it is an unknown word. Two kinds of names
    are tokens: that of the unknown word, which attacks put into texts, and those that the tokenizer's authors added
    without a role.
    """
    settings |= {"return_special_tokens_mask": True}
    found, unknown = tokenizer(*sides, split_special_tokens=False, **settings), tokenizer.unk_token_id
    special = {*special_ids(tokenizer)} - {unknown}
    is_split = {*tokenizer.all_special_tokens} <= {*tokenizer.special_tokens_map.values()}

    def spelt(row: int) -> list[int]:
        ids, is_frame = found["input_ids"][row], found["special_tokens_mask"][row]
        return [place for place, one in enumerate(ids) if one in special and not is_frame[place]]

    for row in filter(spelt, range(len(found["input_ids"]))):
        if is_split and "overflow_to_sample_mapping" not in found:
            again = tokenizer(*([side[row]] for side in sides), split_special_tokens=True, **settings)
            for key, (value,) in again.items():
                found[key][row] = value
        for place in spelt(row):
            if unknown is None:
                what = f"a text holds {tokenizer.convert_ids_to_tokens(found['input_ids'][row][place])!r}"
                rule = "its tokenizer reads it as a special token, and has none for unknown words"
                raise InputError(what, where=str(tokenizer.name_or_path), rule=rule, remedy="Remove it")
            found["input_ids"][row][place] = unknown
    return found


def num_ids(tokenizer: Any) -> int:
    """Return 1 + the largest id, the size of a table by id; ids may have holes."""
    return 1 + max(tokenizer.get_vocab().values())


def special_ids(tokenizer: Any) -> list[int]:
    """Return ids that are never perturbed or masked; an unknown word is not special."""
    roles = ("cls", "sep", "pad", "bos", "eos", "mask")
    ids = {getattr(tokenizer, f"{role}_token_id") for role in roles}
    return sorted(int(i) for i in ids if i is not None)


def _parts(tokenizer: Any, template: str) -> tuple[list[int], list[int]]:
    """Return the ids before and after the sentence, special tokens included."""
    mask = tokenizer.mask_token or MASK
    told = template.replace(MASK, mask)
    if told.count(SLOT) != 1 or told.count(mask) != 1:
        rule = f"a template holds {SLOT} (the sentence) and {MASK} (whose vector is taken) once each"
        remedy = f'For example: This sentence of "{SLOT}" means {MASK}.'
        raise InputError(f"template {template!r}", where=FIELD, rule=rule, remedy=remedy)
    # Pooling takes the first [MASK]: that is the template's, since no text gives one, not even by unknown words.
    if tokenizer.mask_token_id in (None, tokenizer.unk_token_id):
        where, rule = str(tokenizer.name_or_path), "a template needs one"
        raise InputError("it has no mask token", where=where, rule=rule, remedy="Use another pooling")
    before, after = told.split(SLOT)
    opening, closing = specials(tokenizer)
    return opening + _bare(tokenizer, before), _bare(tokenizer, after) + closing


def specials(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a text."""
    content = _bare(tokenizer, "a")
    whole = list(tokenizer("a").input_ids)
    start = next(i for i in range(len(whole)) if whole[i : i + len(content)] == content)
    return whole[:start], whole[start + len(content) :]


def _bare(tokenizer: Any, text: str) -> list[int]:
    return (
        list(tokenizer(text, add_special_tokens=False, split_special_tokens=False).input_ids) if text else []
    )


def _check_room(num_fixed: int, max_length: int, tokenizer: Any) -> None:
    if max_length <= num_fixed:
        rule = f"it must exceed the {num_fixed} special and template tokens"
        where = str(tokenizer.name_or_path)
        raise InputError(f"max_length = {max_length}", where=where, rule=rule, remedy="Raise max_length")
