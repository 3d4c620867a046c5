"""Synonym replacement."""

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.changes.words import in_case_of


def synonym(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """Replace a word by a WordNet synonym of any sense, which may change the meaning."""
    bare = word.lower()
    options = () if bare in resources.stopwords else resources.synonyms(bare)
    return in_case_of(word, str(generator.choice(options))) if options else word
