"""Changes of texts that should keep the meaning: CHANGES is their registry."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase

import numpy as np

from rse_study.data.lexicons import english_stopwords, lookalikes, neighbouring_keys, synonyms_of
from rse_study.registry import Registry


@dataclass(frozen=True)
class ChangeResources:
    """The folder of tables that changes use, each read on first use, and the share."""

    data_dir: Path
    share: float = 0.1
    """Share of a text's words that are edited; at least one is."""

    def __post_init__(self) -> None:
        assert 0 < self.share <= 1, self.share


TextChange = Callable[[str, np.random.Generator, ChangeResources], str]
"""Returns the changed text, or the same one if there is nothing to change."""
WordEdit = Callable[[str, np.random.Generator, ChangeResources], str]
"""Returns the edited word, or the same one if it cannot be edited."""


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


def swap(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Swap two neighbouring letters that differ."""
    places = [i for i in _letters(word)[:-1] if word[i + 1].isalpha() and word[i] != word[i + 1]]
    return _edited(word, places, generator, lambda i: word[:i] + word[i + 1] + word[i] + word[i + 2 :])


def delete(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Leave out a letter, unless it is the only one."""
    places = _letters(word) if len(_letters(word)) > 1 else []
    return _edited(word, places, generator, lambda i: word[:i] + word[i + 1 :])


def insert(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Insert a letter: of the alphabet in an ASCII word, else one of the word's own."""
    options = list(ascii_lowercase) if word.isascii() else [word[i] for i in _letters(word)]
    if not options:
        return word
    letter = str(generator.choice(options))
    i = int(generator.integers(len(word) + 1))
    return word[:i] + (letter.upper() if len(word) > 1 and word.isupper() else letter) + word[i:]


def repeat(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Repeat a letter."""
    return _edited(word, _letters(word), generator, lambda i: word[: i + 1] + word[i:])


def keyboard(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Replace a letter by a neighbour on the keyboard."""
    table = neighbouring_keys(resources.data_dir)

    def edit(i: int) -> str:
        new = str(generator.choice(table[word[i].lower()]))
        return word[:i] + (new.upper() if word[i].isupper() else new) + word[i + 1 :]

    return _edited(word, [i for i in range(len(word)) if word[i].lower() in table], generator, edit)


def homoglyph(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Replace a letter by a character that looks like it."""
    table = lookalikes(resources.data_dir)
    places = [i for i in range(len(word)) if word[i] in table]
    return _edited(
        word, places, generator, lambda i: word[:i] + str(generator.choice(table[word[i]])) + word[i + 1 :]
    )


def _edited(word: str, places: list[int], generator: np.random.Generator, edit: Callable[[int], str]) -> str:
    """Edit a word at one of the places; return the same one if there is none."""
    return edit(int(generator.choice(places))) if places else word


def _letters(word: str) -> list[int]:
    return [i for i, character in enumerate(word) if character.isalpha()]


_FINAL_MARKS = re.compile(r"[\s.!?…。！？؟۔]+\Z")


def upper_case(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Put the text in capitals."""
    return text.upper()


def lower_case(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Put the text in lower case."""
    return text.lower()


def punctuation(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Drop the final punctuation, or add a full stop; keep a text of nothing else."""
    bare = _FINAL_MARKS.sub("", text)
    if not bare:
        return text
    return bare if bare != text.rstrip() else bare + "."


_NEGATED = [
    *("are", "could", "did", "does", "do", "had", "has", "have"),
    *("is", "might", "must", "need", "should", "was", "were", "would"),
]
_IRREGULAR = {"can": "ca", "will": "wo", "shall": "sha"}  # the stem before n't
_PERSONS = ["i", "you", "he", "she", "it", "we", "they"]
_SUBJECTS = {
    ("am", "'m"): ["i"],
    ("are", "'re"): ["you", "we", "they"],
    ("is", "'s"): ["he", "she", "it", "that", "there", "here", "what", "where", "who", "how"],
    ("will", "'ll"): _PERSONS,
    ("have", "'ve"): ["i", "you", "we", "they"],
}
_LONG = {
    **{f"{verb} not": f"{verb}n't" for verb in _NEGATED},
    **{f"{verb} not": f"{stem}n't" for verb, stem in _IRREGULAR.items()},
    "cannot": "can't",
    **{f"{who} {verb}": who + short for (verb, short), subjects in _SUBJECTS.items() for who in subjects},
}
_SHORT = {short: long for long, short in _LONG.items()}  # "can't" becomes "cannot", which comes last


def expand(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Write out every contraction; deterministic."""
    return _CONTRACTED.sub(lambda found: _other(found.group(), _SHORT), text)


def contract(text: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Contract all words that can be, but no verb that ends its clause."""
    return _WRITTEN_OUT.sub(lambda found: _other(found.group(), _LONG), text)


def _contracted() -> re.Pattern[str]:
    """Match _SHORT with either apostrophe, and with the blank of tokenisers."""
    forms = [re.sub(r"(n't|'\w+)$", r" ?\1", short).replace("'", "['’]") for short in sorted(_SHORT)]
    has = r"(?<!['’]s)|(?! (?:been|got)\b)"
    return re.compile(rf"\b(?:{'|'.join(forms)})\b(?:{has})", re.IGNORECASE)


def _written_out() -> re.Pattern[str]:
    """Match _LONG; a pronoun and its verb only before a word, and not before "not"."""
    negations = "|".join(long for long in _LONG if long.endswith("not"))
    others = "|".join(long for long in _LONG if not long.endswith("not") and long != "i am")
    return re.compile(rf"\b(?:(?:{negations})\b|i am(?=\s+\w)|(?:{others})(?=\s+(?!not\b)\w))", re.IGNORECASE)


def _other(found: str, table: dict[str, str]) -> str:
    plain = found.lower().replace("’", "'")
    new = table.get(plain.replace(" ", "") if table is _SHORT else plain)
    # None: re ignores the case of a dotless i or a long s, which lower() leaves as they are.
    return found if new is None else in_case_of(found, new)


_CONTRACTED, _WRITTEN_OUT = _contracted(), _written_out()


def synonym(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Replace a word by a WordNet synonym of any sense, which may change the meaning."""
    bare = word.lower()
    is_stopword = bare in english_stopwords(resources.data_dir)
    options = () if is_stopword else synonyms_of(bare, resources.data_dir)
    return in_case_of(word, str(generator.choice(options))) if options else word


CHANGES: Registry[TextChange] = Registry(
    "change of text",
    {
        "typo_swap": in_words(swap),
        "typo_delete": in_words(delete),
        "typo_insert": in_words(insert),
        "typo_repeat": in_words(repeat),
        "keyboard": in_words(keyboard),
        "homoglyph": in_words(homoglyph),
        "expand": expand,
        "contract": contract,
        "synonyms": in_words(synonym),
        "upper_case": upper_case,
        "lower_case": lower_case,
        "punctuation": punctuation,
    },
)
