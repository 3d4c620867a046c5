"""CHANGES: the registry of text changes that should keep the meaning."""

from rse_study.evaluation.changes.change import TextChange
from rse_study.evaluation.changes.contractions import contract, expand
from rse_study.evaluation.changes.letters import delete, homoglyph, insert, keyboard, repeat, swap
from rse_study.evaluation.changes.surface import lower_case, punctuation, upper_case
from rse_study.evaluation.changes.synonyms import synonym
from rse_study.evaluation.changes.words import in_words
from rse_study.registry import Registry

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
