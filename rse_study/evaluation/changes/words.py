"""Changes of some of a text's words, which keep everything between them."""

import re

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources, TextChange, WordEdit

# Letters of any script, with inner apostrophes. No digits: another number would change the meaning.
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def in_words(edit: WordEdit) -> TextChange:
    """Return a change that edits a share of a text's words, at least one."""

    def change(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
        words = list(_WORD.finditer(text))
        num_wanted = max(1, round(resources.share * len(words)))
        edited: dict[int, str] = {}
        for place in generator.permutation(len(words)).tolist():
            if len(edited) == num_wanted:
                break
            new = edit(words[place].group(), generator, resources)
            if new != words[place].group():
                edited[place] = new
        return _replaced(text, [(*words[place].span(), edited[place]) for place in sorted(edited)])

    return change


def in_case_of(old: str, new: str) -> str:
    """Return `new` in capitals, capitalised or in lower case, as `old` is."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _replaced(text: str, spans: list[tuple[int, int, str]]) -> str:
    parts, cursor = list[str](), 0
    for start, end, new in spans:
        parts += [text[cursor:start], new]
        cursor = end
    return "".join([*parts, text[cursor:]])
