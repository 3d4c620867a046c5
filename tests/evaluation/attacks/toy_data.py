"""A data folder in the real layout, with a few made-up words: each resource by itself."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

from rse_study.data.lexicons import ARCHIVE as WORDNET
from rse_study.data.lexicons import FOLDER, KEYBOARD, LOOKALIKES, PPDB, STOP_WORDS
from rse_study.evaluation.attacks.attack_recipe import Resource

VOCABULARY = [f"{kind}{i}" for i in range(12) for kind in ("good", "bad", "odd")]
STOPWORDS = frozenset({"the", "a", "of"})


def lay(resources: Iterable[Resource], folder: Path) -> Path:
    """Write what these resources read, and nothing else; models read nothing."""
    for resource in resources:
        if resource in _WRITTEN:
            _WRITTEN[resource](folder)
    return folder


def _synonym_lists(folder: Path) -> None:
    draw = random.Random(9)
    pairs = "".join(f"{word} {draw.choice(VOCABULARY)}\n" for word in VOCABULARY for _ in range(4))
    _write(folder / PPDB, pairs)


def _look_alikes(folder: Path) -> None:
    _write(folder / LOOKALIKES, json.dumps({"o": ["ο", "о"], "a": ["а"], "d": "ԁ"}))


def _keyboard(folder: Path) -> None:
    _write(folder / KEYBOARD, json.dumps({"o": ["i", "p", "0"], "b": ["v", "n"], "d": ["s", "f", "d"]}))


def _stop_words(folder: Path) -> None:
    _zip(folder / STOP_WORDS, {"stopwords/english": "\n".join(sorted(STOPWORDS))})


def _wordnet(folder: Path) -> None:
    """Nouns only, one synset of three words for each; of the format wndb(5WN): offsets count the file's bytes."""
    draw = random.Random(11)
    lines, places = "", {word: list[str]() for word in VOCABULARY}
    for word in VOCABULARY:
        lemmas = [word, *draw.sample([other for other in VOCABULARY if other != word], 2)]
        offset = f"{len(lines):08d}"
        for lemma in lemmas:
            places[lemma].append(offset)
        lines += f"{offset} 03 n 03 {' '.join(f'{lemma} 0' for lemma in lemmas)} 000 | made up  \n"
    index = (f"{word} n {len(at)} 0 {len(at)} 0 {' '.join(at)}  \n" for word, at in sorted(places.items()))
    parts = {f"{kind}.{pos}": "" for kind in ("index", "data") for pos in ("noun", "verb", "adj", "adv")}
    parts |= {f"{pos}.exc": "" for pos in ("noun", "verb", "adj", "adv")}
    lexnames = "".join(f"{number:02d}\tnoun.made_up\t1\n" for number in range(4))
    parts |= {"lexnames": lexnames, "index.noun": "".join(index), "data.noun": lines}
    parts |= {"index.sense": "", "data.adj": "  1 WordNet 3.0 Copyright \n"}  # nltk asks for both
    _zip(folder / FOLDER / WORDNET, {"wordnet/": "", **{f"wordnet/{name}": parts[name] for name in parts}})


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def _zip(path: Path, members: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


_WRITTEN = {
    Resource.WORDNET: _wordnet,
    Resource.STOP_WORDS: _stop_words,
    Resource.SYNONYM_LISTS: _synonym_lists,
    Resource.LOOK_ALIKES: _look_alikes,
    Resource.KEYBOARD: _keyboard,
}
