"""A data folder of made-up sentences, and the whole command on it at toy size."""

import random
from pathlib import Path

import pytest

from benchmarks.own_base import command
from tests.evaluation.attacks.toy_data import write_wordnet

SYLLABLES = ("ba", "do", "fe", "gi", "ku", "la", "mo", "ne")
WIKIPEDIA = ("wiki/wiki1m_head/wiki1m_for_simcse.head.txt", "wiki/wikitext2/sentences.txt")
IN_STS_B = ("A bird is singing.", "Two men are talking.")
"""of these the first is Wikipedia's and the second, written in another way, WordNet's"""
NUM_WIKIPEDIA, NUM_SYNSETS = 160, 120


@pytest.fixture(scope="session")
def toy_text(tmp_path_factory) -> Path:
    """160 sentences of Wikipedia, 120 definitions with an example each, and of both one that is in STS-B."""
    folder = tmp_path_factory.mktemp("data")
    wikipedia = sentences(NUM_WIKIPEDIA, seed=1)
    for path, part in zip(WIKIPEDIA, (wikipedia[:100], wikipedia[90:]), strict=True):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text("\n".join([*part, IN_STS_B[0]]) + "\n", encoding="utf-8")
    definitions, examples = sentences(NUM_SYNSETS, seed=2), sentences(NUM_SYNSETS, seed=3)
    examples[7] = IN_STS_B[1].lower().strip(".")
    glosses = (f'{one}; "{other}"' for one, other in zip(definitions, examples, strict=True))
    write_wordnet(folder, {f"word{number}": gloss for number, gloss in enumerate(glosses)})
    write_sts_b(folder)
    return folder


@pytest.fixture(scope="session")
def options(toy_text, tmp_path_factory) -> list[str]:
    """What makes the command small: seconds for all of it."""
    sizes = ("--layers", "2", "--width", "32", "--heads", "2", "--pieces", "150", "--batch", "16")
    steps = ("--steps", "30", "--lr", "1e-2", "--simcse-steps", "2", "--simcse-batch", "8")
    amounts = ("--sentences", "100", "0", "--seeds", "0", "1", "--simcse-seeds", "0")
    return ["--data", str(toy_text), *sizes, *steps, *amounts]


@pytest.fixture(scope="session")
def measured(options, tmp_path_factory) -> Path:
    """The folder of the whole command."""
    folder = tmp_path_factory.mktemp("own_base")
    command.main([*options, "--out", str(folder)])
    return folder


def write_sts_b(folder: Path) -> None:
    """Pairs of other sentences, and the two that the text has too."""
    draw, drawn = random.Random(4), sentences(60, seed=5)
    for number, split in enumerate(("train", "dev", "test")):
        firsts, seconds = drawn[20 * number : 20 * number + 10], drawn[20 * number + 10 : 20 * number + 20]
        firsts[0] = {"train": IN_STS_B[0], "dev": firsts[0], "test": IN_STS_B[1]}[split]
        path = folder / "sts" / "STSBenchmark" / "orig" / f"sts-{split}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = zip(firsts, seconds, strict=True)
        lines = (
            f"made\tup\t0\t{i}\t{draw.uniform(0, 5):.2f}\t{one}\t{other}"
            for i, (one, other) in enumerate(rows)
        )
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sentences(number: int, seed: int) -> list[str]:
    """So many distinct sentences; those of two seeds have no word in common."""
    draw, words = random.Random(seed), [f"{one}{other}{seed}" for one in SYLLABLES for other in SYLLABLES]
    made: dict[str, None] = {}
    while len(made) < number:
        made[" ".join(draw.choices(words, k=draw.randint(4, 9)))] = None
    return list(made)
