"""Synonyms from the lists that counter-fitting was fed with.

Pairs of words from PPDB (Ganitkevitch et al. 2013), with no order among them.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from rse_study.data.text_files import find_file, read_lines
from rse_study.errors import InputError

FILE = "lexicon/counter_fitting/ppdb_synonyms.txt"


@dataclass(frozen=True, eq=False)
class SynonymList:
    """A word's synonyms in the order of the file; each pair counts in both directions."""

    synonyms: dict[str, list[str]]

    @classmethod
    def open(cls, data_dir: Path) -> "SynonymList":
        """Read the list.

        Raises MissingFile where it is absent, InputError for a line that is no pair.
        """
        path = find_file(FILE, data_dir)
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for number, line in enumerate(read_lines(path), start=1):
            if not line.strip():
                continue
            if len(line.split()) != 2:
                rule = "two words a line"
                raise InputError(
                    "is no pair of words", where=f"{path}:{number}", rule=rule, remedy="Fetch it again"
                )
            first, second = line.split()
            found[first][second] = found[second][first] = None
        return cls({word: [other for other in others if other != word] for word, others in found.items()})

    def nearest(self, word: str, num: int) -> list[str]:
        """The first `num`; none of a word that is not listed."""
        return self.synonyms.get(word, [])[:num]
