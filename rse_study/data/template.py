"""Conversion of sentences to token ids, with or without a prompt template."""

from typing import Any

from rse_study.errors import InputError

SLOT, MASK = "[X]", "[MASK]"
FIELD = "encoder.template"


def encode(sentences: list[str], tokenizer: Any, max_length: int, template: str = "") -> list[list[int]]:
    """Return each sentence's token ids with special tokens, cut to `max_length`.

    In a template such as `This sentence of "[X]" means [MASK].` only the sentence is cut, never the template.
    """
    if not template:
        _check_room(len(tokenizer("").input_ids), max_length, tokenizer)
        return tokenizer(
            sentences, truncation=True, max_length=max_length, return_attention_mask=False
        ).input_ids
    before, after = _parts(tokenizer, template)
    room = max_length - len(before) - len(after)
    _check_room(len(before) + len(after), max_length, tokenizer)
    bare = tokenizer(sentences, add_special_tokens=False, truncation=True, max_length=room).input_ids
    return [before + ids + after for ids in bare]


def special_ids(tokenizer: Any) -> list[int]:
    """Return ids that are never perturbed or masked; an unknown word is not special."""
    roles = ("cls", "sep", "pad", "bos", "eos", "mask")
    ids = {getattr(tokenizer, f"{role}_token_id") for role in roles}
    return sorted(int(i) for i in ids if i is not None)


def _parts(tokenizer: Any, template: str) -> tuple[list[int], list[int]]:
    """Return the ids before and after the sentence, special tokens included."""
    if template.count(SLOT) != 1 or template.count(MASK) != 1:
        rule = f"a template holds {SLOT} (the sentence) and {MASK} (whose vector is taken) once each"
        remedy = f'For example: This sentence of "{SLOT}" means {MASK}.'
        raise InputError(f"template {template!r}", where=FIELD, rule=rule, remedy=remedy)
    if tokenizer.mask_token is None:
        where, rule = str(tokenizer.name_or_path), "a template needs one"
        raise InputError("it has no mask token", where=where, rule=rule, remedy="Use another pooling")
    before, after = template.replace(MASK, tokenizer.mask_token).split(SLOT)
    opening, closing = specials(tokenizer)
    return opening + _bare(tokenizer, before), _bare(tokenizer, after) + closing


def specials(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a text."""
    content = _bare(tokenizer, "a")
    whole = list(tokenizer("a").input_ids)
    start = next(i for i in range(len(whole)) if whole[i : i + len(content)] == content)
    return whole[:start], whole[start + len(content) :]


def _bare(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False).input_ids) if text else []


def _check_room(num_fixed: int, max_length: int, tokenizer: Any) -> None:
    if max_length <= num_fixed:
        rule = f"it must exceed the {num_fixed} special and template tokens"
        where = str(tokenizer.name_or_path)
        raise InputError(f"max_length = {max_length}", where=where, rule=rule, remedy="Raise max_length")
