"""A word replaced by a synonym."""

import numpy as np

from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.changes.words import in_case_of


def synonym(word: str, generator: np.random.Generator, resources: ChangeResources) -> str:
    """A word is replaced by a synonym of WordNet's, for any sense of it.

    The synonym is uninflected, in the word's case; stop words stay. No sense is told from another: a share of these
    synonyms does change what is said.

    Parameters
    ----------
    word, generator, resources
        As every `WordEdit` takes them.
    """
    bare = word.lower()
    options = () if bare in resources.stopwords else resources.synonyms(bare)
    return in_case_of(word, str(generator.choice(options))) if options else word
