"""Synonym replacement."""

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.changes.words import in_case_of


def synonym(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Replace a word, unless a stop word, by a WordNet synonym of any of its senses.

    Senses are not disambiguated, so some synonyms do change the meaning.
    """
    bare = word.lower()
    options = () if bare in resources.stopwords else resources.synonyms(bare)
    return in_case_of(word, str(generator.choice(options))) if options else word
