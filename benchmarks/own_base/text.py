"""The licence-free text at hand, in an order of which every amount is a beginning.

Wikipedia sentences of MiniLM's studies (CC BY-SA), and WordNet's definitions and quoted examples (WordNet's licence).
No sentence of STS-B is among them, whatever its split. Half of OnWN in STS12 and STS14 are: they are WordNet's glosses
(755 and 778 of 1500 sentences each), so that a base of this text has no unseen words there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from benchmarks.own_base.plan import TextAmount, TextSummary
from rse_study.data.corpus import Corpus, read_sentences
from rse_study.data.overlap import bare
from rse_study.data.readers import read_sts, sts_splits
from rse_study.data.wordnet import glosses
from rse_study.errors import InputError
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.yaml12 import read_yaml

CORPUS_OF = "bases/minilm.yaml"
EXCLUDED = "STS-B"
ORDER_SEED = 0
LEAST = 100
"""sentences: fewer make no masked LM, and no batch of what is held out"""


@dataclass(frozen=True)
class FreeText:
    """Distinct sentences in a random order that is always the same."""

    sentences: list[str]
    is_wikipedia: list[bool]
    num_duplicates: int
    num_excluded: int
    """distinct sentences that occur in STS-B"""

    @property
    def summary(self) -> TextSummary:
        """What the report says of all of it."""
        return TextSummary(
            num_duplicates=self.num_duplicates, num_excluded=self.num_excluded, whole=self.amount(0)
        )

    def first(self, number: int) -> list[str]:
        """The first so many sentences; 0: all. Raises InputError where there are fewer."""
        if number > len(self.sentences) or 0 < number < LEAST or number < 0:
            what, rule = f"{number:,} sentences", f"the text has {len(self.sentences):,}"
            remedy = f"Ask for {LEAST} or more, or for 0: all of them"
            raise InputError(what, where="--sentences", rule=rule, remedy=remedy)
        return self.sentences[: number or None]

    def amount(self, number: int) -> TextAmount:
        """Count, words and fingerprint of the first so many; 0: of all."""
        sentences = self.first(number)
        return TextAmount(
            num_sentences=len(sentences),
            num_words=sum(len(sentence.split()) for sentence in sentences),
            num_wikipedia=sum(self.is_wikipedia[: len(sentences)]),
            text=fingerprint_of(sentences),
        )


def read_free_text(data_dir: Path) -> FreeText:
    """Read both sources. Raises InputError where one of them, or STS-B, is missing."""
    excluded = set(_excluded(data_dir))
    wikipedia = read_sentences(wikipedia_corpus(), data_dir)
    return assemble(wikipedia, glosses(data_dir), excluded)


def wikipedia_corpus() -> Corpus:
    """The corpus that MiniLM's studies train on."""
    shipped = Path(str(files("search_spaces"))) / CORPUS_OF
    return Corpus.model_validate(read_yaml(shipped)["base"]["corpus"])


def assemble(wikipedia: Iterable[str], wordnet: Iterable[str], excluded: set[str]) -> FreeText:
    """Return distinct sentences, none of them excluded, in their random order.

    Parameters
    ----------
    wikipedia, wordnet
        Sentences; one of both counts as Wikipedia's.
    excluded
        Letters and digits of sentences that are left out, as `letters_of` gives them.
    """
    is_wikipedia = dict[str, bool]()
    num_read = 0
    for sentences, is_first in ((wikipedia, True), (wordnet, False)):
        for sentence in filter(None, map(str.strip, sentences)):
            num_read += 1
            is_wikipedia.setdefault(sentence, is_first)
    kept = [sentence for sentence in is_wikipedia if letters_of(sentence) not in excluded]
    if len(kept) < LEAST:
        rule, remedy = f"a base needs at least {LEAST} sentences", "Use a larger text"
        raise InputError(
            f"{len(kept)} sentences are left of the text", where="--data", rule=rule, remedy=remedy
        )
    order = Streams(ORDER_SEED).numpy("order").permutation(len(kept))
    shuffled = [kept[number] for number in order]
    return FreeText(
        shuffled,
        [is_wikipedia[sentence] for sentence in shuffled],
        num_duplicates=num_read - len(is_wikipedia),
        num_excluded=len(is_wikipedia) - len(kept),
    )


def letters_of(sentence: str) -> str:
    """Letters and digits of a sentence, in lower case: by them two are the same."""
    return bare((sentence,))[0]


def _excluded(data_dir: Path) -> Iterator[str]:
    for split in sts_splits(EXCLUDED):
        pairs = read_sts(EXCLUDED, split, data_dir)
        yield from map(letters_of, (*pairs.first, *pairs.second))
