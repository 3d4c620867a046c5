"""Synonyms from counter-fitting's PPDB pairs (Ganitkevitch et al. 2013), unranked."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from rse_study.data.text_files import find_file, read_lines
from rse_study.errors import InputError

FILE = "lexicon/counter_fitting/ppdb_synonyms.txt"


@dataclass(frozen=True, eq=False)
class SynonymList:
    """Each word's synonyms in file order; every pair counts in both directions."""

    synonyms: dict[str, list[str]]

    @classmethod
    def open(cls, data_dir: Path) -> "SynonymList":
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
        return self.synonyms.get(word, [])[:num]
